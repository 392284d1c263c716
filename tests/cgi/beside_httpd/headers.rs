//! Headers that programs print.

use super::values;
use crate::cgi::conf;
use crate::support::{Server, Site};

#[test]
fn a_program_that_prints_no_content_type_gets_that_of_its_name_or_none() {
    let print = |fields: &str| format!("#!/usr/bin/perl\nprint \"{fields}\\n\\nbody\";");
    for mode in ["program", "fork"] {
        let site = Site::new()
            .script("scripts/none", &print("Status: 200 OK"))
            .script("scripts/named.txt", &print("X-One: first"))
            .script("scripts/found", &print("Status: 302 Found\\nLocation: http://example.org/"));
        let lines = conf(&format!("CgiMode {mode}"));
        let typed = |server: &Server, name: &str, status: u16| {
            server.get(&format!("/cgi/{name}")).is(status).header("content-type")
        };
        let server = site.serve(&lines);
        for (name, status, kind) in [("none", 200, None), ("named.txt", 200, Some("text/plain")), ("found", 302, None)]
        {
            assert_eq!(typed(&server, name, status).as_deref(), kind, "{mode} {name}");
        }
        let server = Site::new()
            .script("scripts/none", &print("Status: 200 OK"))
            .serve(&format!("DefaultType text/x-default\n{lines}"));
        assert_eq!(typed(&server, "none", 200).as_deref(), Some("text/x-default"), "{mode}");
    }
}

#[test]
fn repeated_headers_of_a_program_are_joined_except_for_cookies() {
    let print = "print \"X-One: a\\nSet-Cookie: a=1\\nX-One: b\\nSet-Cookie: b=2\\nContent-Type: text/plain\\nX-Two: c\\n\\n\";";
    for generation in [1, 2] {
        for mode in ["program", "fork"] {
            let server = Site::new()
                .script("scripts/test", &format!("#!/usr/bin/perl\n{print}"))
                .serve(&format!("PerlGeneration {generation}\n{}", conf(&format!("CgiMode {mode}"))));
            let response = server.get("/cgi/test").is(200);
            let found = ["x-one", "set-cookie", "x-two"].map(|name| values(&response, name));
            assert_eq!(found, [vec!["a, b"], vec!["a=1", "b=2"], vec!["c"]], "{mode} {generation}");
        }
    }
}
