//! `UNIQUE_ID`: mod/mod_unique_id.html. tests/beside_httpd/mod_unique_id.txt has more cases.

use crate::support::{Server, Site, until};

/// A program, a header, and both logs have one identity for a request: it ends with the request's name in logs.
#[test]
fn an_identity_ends_with_the_requests_name_in_logs() {
    let server = Site::new()
        .script("cgi/id", "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n%s' \"$UNIQUE_ID\"\n")
        .serve("ScriptAlias /cgi @DIR@/cgi\nHeader set X-Id %{UNIQUE_ID}e\nCustomLog access.log \"%L %{UNIQUE_ID}e\"");
    let ids: Vec<String> = (0..3).map(|_| id(&server)).collect();
    assert!(ids[0] != ids[1] && ids[1] != ids[2], "{ids:?}");
    until("the requests are logged", || server.site.read("access.log").lines().count() == ids.len());
    for (line, id) in server.site.read("access.log").lines().zip(&ids) {
        let (name, logged) = line.split_once(' ').expect("two items");
        assert!(logged == id && id.ends_with(name) && id.len() == 27, "{line} {id}");
    }
}

fn id(server: &Server) -> String {
    let answer = server.get("/cgi/id").is(200);
    assert_eq!(answer.header("x-id"), Some(answer.text()));
    answer.text()
}

/// mod_unique_id names each request, but a response cache must not take each request for another one.
#[test]
fn an_identity_does_not_keep_responses_out_of_the_cache() {
    let program = "#!/bin/sh\nprintf 'Content-Type: text/plain\\nCache-Control: max-age=60\\n\\n%s' \"$UNIQUE_ID\"\n";
    let site = Site::new().script("cgi/id", program);
    let server = site.serve("ScriptAlias /cgi @DIR@/cgi\nCacheSize 1M\nCacheEnable memory /");
    assert_eq!(server.text("/cgi/id"), server.text("/cgi/id"));
}

/// `SetEnv` and `UnsetEnv` may change it, as in httpd.
#[test]
fn an_identity_can_be_replaced() {
    let server = Site::new().file("htdocs/a/x", "x").file("htdocs/b/x", "x").serve(
        "Header set X-Id %{UNIQUE_ID}e\n<Location /a>\nSetEnv UNIQUE_ID own\n</Location>\n<Location /b>\nUnsetEnv UNIQUE_ID\n</Location>",
    );
    assert_eq!(server.get("/a/x").header("x-id").as_deref(), Some("own"));
    assert_eq!(server.get("/b/x").header("x-id").as_deref(), Some("(null)"));
}
