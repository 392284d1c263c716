//! Responses of programs that lead elsewhere, and programs of error documents.

use super::values;
use crate::cgi::conf;
use crate::support::{Request, Site};

#[test]
fn a_location_without_a_status_is_a_redirect_with_the_servers_page() {
    let print = |header: &str| format!("#!/bin/sh\nprintf '{header}\\n\\nown page'\n");
    for mode in ["program", "fork"] {
        let server = Site::new()
            .script("scripts/away", &print("Location: http://example.org/x?a=b&c=<d>\\nContent-Type: text/x-own"))
            .script("scripts/relative", &print("Location: page.html"))
            .script("scripts/above", &print("Location: ../page.html?x=1"))
            .script("scripts/query", &print("Location: ?a=b"))
            .script("scripts/fields", &print("Set-Cookie: a=b\\nX-Own: own\\nLocation: http://example.org/x"))
            .script("scripts/said", &print("Status: 302 Found\\nLocation: page.html\\nContent-Type: text/x-own"))
            .script(
                "scripts/moved",
                &print("Status: 301 Moved\\nLocation: http://example.org/x\\nContent-Type: text/x-own"),
            )
            .serve(&conf(&format!("CgiMode {mode}")));
        for (name, location, link) in [
            ("away", "http://example.org/x?a=b&c=<d>", "href=\"http://example.org/x?a=b&amp;c=&lt;d&gt;\""),
            ("relative", "page.html", "href=\"page.html\""),
            ("above", "../page.html?x=1", "href=\"../page.html?x=1\""),
            ("query", "?a=b", "href=\"?a=b\""),
            ("fields", "http://example.org/x", "href=\"http://example.org/x\""),
        ] {
            let response = server.get(&format!("/cgi/{name}")).is(302);
            assert_eq!(response.header("location").as_deref(), Some(location), "{mode} {name}");
            assert!(response.header("content-type").is_some_and(|kind| kind.starts_with("text/html")), "{mode} {name}");
            let text = response.text();
            assert!(text.contains(link) && !text.contains("own page"), "{mode} {name}: {text}");
        }
        let fields = server.get("/cgi/fields");
        let names = ["set-cookie", "x-own"].map(|name| fields.header(name));
        assert_eq!(names, [Some("a=b".to_owned()), Some("own".to_owned())], "{mode}");
        for (name, status) in [("said", 302), ("moved", 301)] {
            let response = server.get(&format!("/cgi/{name}")).is(status);
            assert_eq!(
                (response.header("content-type").as_deref(), response.text().as_str()),
                (Some("text/x-own"), "own page")
            );
        }
        let head = server.send(Request::new("HEAD", "/cgi/away")).is(302);
        assert!(head.body.is_empty() && head.header("location").is_some());
    }
}

#[test]
fn the_fields_beside_a_local_redirect_are_in_the_response_of_its_target() {
    let print = |fields: &str| format!("#!/bin/sh\nprintf '{fields}\\n\\n'\n");
    for mode in ["program", "fork", "persistent"] {
        let to = "Set-Cookie: a=1\\nSet-Cookie: b=2\\nX-One: first\\nContent-Type: text/x-own\\nETag: \"own\"\\nContent-Length: 3\\nLocation: ";
        let server = Site::new()
            .script("scripts/file", &print(&format!("{to}/page.txt")))
            .script("scripts/program", &print(&format!("{to}/cgi/there")))
            .script("scripts/chain", &print("Set-Cookie: d=4\\nX-One: chain\\nLocation: /cgi/program"))
            .script("scripts/none", &print(&format!("{to}/none")))
            .script("scripts/there", &print("Content-Type: text/plain\\nSet-Cookie: c=3\\nX-One: second"))
            .file("htdocs/page.txt", "page")
            .serve(&format!("{}CacheEnable memory /\n", conf(&format!("CgiMode {mode}"))));
        for (name, status, cookies, one, kind) in [
            ("file", 200, &["a=1", "b=2"][..], "first", "text/plain"),
            ("program", 200, &["a=1", "b=2", "c=3"], "first, second", "text/plain"),
            ("chain", 200, &["d=4", "a=1", "b=2", "c=3"], "chain, first, second", "text/plain"),
            ("none", 404, &["a=1", "b=2"], "first", "text/html; charset=utf-8"),
        ] {
            let response = server.get(&format!("/cgi/{name}")).is(status);
            assert_eq!(values(&response, "set-cookie"), cookies, "{mode} {name}");
            assert_eq!(values(&response, "x-one"), [one], "{mode} {name}");
            assert_eq!(response.header("content-type").as_deref(), Some(kind), "{mode} {name}");
            assert_ne!(response.header("etag").as_deref(), Some("\"own\""), "{mode} {name}");
        }
        // The next request for the same page has nothing of them.
        let page = server.get("/page.txt").is(200);
        assert_eq!((page.header("set-cookie"), page.header("x-one"), page.text().as_str()), (None, None, "page"));
    }
}

#[test]
fn the_program_of_an_error_document_has_the_errors_status_unless_it_sets_another() {
    let print = |fields: &str| format!("#!/bin/sh\nprintf '{fields}\\n\\nown'\n");
    for mode in ["program", "fork", "persistent"] {
        let places: String = ["plain", "ok", "other", "away", "local", "silent"]
            .iter()
            .map(|name| format!("<Location /{name}>\nErrorDocument 404 /cgi/{name}\n</Location>\n"))
            .collect();
        let server = Site::new()
            .script("scripts/plain", &print("Content-Type: text/plain"))
            .script("scripts/ok", &print("Status: 200 OK\\nContent-Type: text/plain"))
            .script("scripts/other", &print("Status: 410\\nContent-Type: text/plain"))
            .script("scripts/away", &print("Location: http://example.org/x"))
            .script("scripts/local", &print("Location: /page.txt"))
            .script("scripts/silent", "#!/bin/sh\nexit 3\n")
            .file("htdocs/page.txt", "page")
            .serve(&format!("{}{places}", conf(&format!("CgiMode {mode}"))));
        for (name, status, location) in [
            ("plain", 404, None),
            ("ok", 200, None),
            ("other", 410, None),
            ("away", 404, Some("http://example.org/x")),
            ("local", 404, Some("/page.txt")),
        ] {
            let response = server.get(&format!("/{name}/x")).is(status);
            assert_eq!(response.text(), "own", "{mode} {name}");
            assert_eq!(response.header("location").as_deref(), location, "{mode} {name}");
        }
        let silent = server.get("/silent/x").is(404).text();
        assert!(silent.contains("<h1>Not Found</h1>"), "{mode}: {silent}");
        // Asked for by itself, the program has no error's status.
        server.get("/cgi/plain").is(200);
    }
}
