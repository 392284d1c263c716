//! `ErrorDocument` for errors that the front detects.

use crate::support::{Request, Site, serve_env_handler as serve, until};

#[test]
fn an_error_document_is_a_text_a_place_or_the_plain_page() {
    let server = serve(
        "ErrorDocument 404 \"<p>Not \\\"here\\\"</p>\"\nErrorDocument 403 http://example.org/sorry\nRedirect 403 /closed\n\
         <Location /plain>\nErrorDocument 404 default\n</Location>\n<Location /old>\nErrorDocument 404 \"1.3's way\n</Location>",
    );
    let response = server.get("/none").is(404);
    assert_eq!(response.text(), "<p>Not \"here\"</p>");
    assert_eq!(response.header("content-type").as_deref(), Some("text/html; charset=utf-8"));
    assert_eq!(server.get("/closed").is(302).header("location").as_deref(), Some("http://example.org/sorry"));
    assert!(server.get("/plain/none").is(404).text().contains("There is no page"));
    assert_eq!(server.get("/old").is(404).text(), "1.3's way");
}

#[test]
fn a_file_can_be_the_page_and_the_status_stays() {
    let server = serve("ErrorDocument 404 /page.html");
    let response = server.send(Request::get("/none").header("If-None-Match", "*").header("Range", "bytes=0-1")).is(404);
    assert_eq!(response.text(), "<p>page</p>\n");
    let head = server.send(Request::new("HEAD", "/none")).is(404);
    assert_eq!(head.header("content-length").as_deref(), Some("12"));
}

#[test]
fn an_error_document_program_gets_the_variables_of_the_error() {
    let server = serve("ErrorDocument 404 /perl/sorry?\nSetEnvIf Request_URI ^/none origin=$0");
    let text = server.send(Request::post("/none/here?a=b", "x=y")).is(404).text();
    for line in [
        "REDIRECT_STATUS=404",
        "REDIRECT_URL=/none/here",
        "REDIRECT_QUERY_STRING=a=b",
        "REDIRECT_REQUEST_METHOD=POST",
        "REDIRECT_origin=/none",
        "REQUEST_METHOD=GET",
        "SCRIPT_NAME=/perl",
    ] {
        assert!(text.lines().any(|known| known.starts_with(line)), "{line}: {text}");
    }
    assert!(!text.contains("CONTENT_LENGTH"), "{text}");
}

#[test]
fn an_error_document_that_fails_leaves_the_plain_page() {
    let server = serve("ErrorDocument 404 /perl?500\nErrorDocument 410 /also-none\nRedirect gone /gone");
    // As in httpd, the client gets the status of the first error.
    assert!(server.get("/none").is(404).text().contains("There is no page at this address"));
    assert!(server.get("/gone").is(410).text().contains("gone for good"));
}

#[test]
fn a_script_may_choose_another_status() {
    let server = Site::new()
        .script(
            "scripts/found.pl",
            "#!/usr/bin/perl\nprint \"Status: 203 Found after all\\nContent-Type: text/plain\\n\\nfound\";",
        )
        .serve("ScriptAlias /cgi-bin/ \"@DIR@/scripts/\"\nErrorDocument 404 /cgi-bin/found.pl");
    assert_eq!(server.get("/none").is(203).text(), "found");
}

#[test]
fn a_full_queue_can_have_a_page_of_its_own() {
    let server = Site::new()
        .file("htdocs/busy.html", "please wait\n")
        .file("app.psgi", "sub { select undef, undef, undef, 0.01 until -e '@DIR@/go'; [200, [], ['done']] }")
        .serve(
            "MaxClients 1\nStartServers 1\nErrorDocument 503 /busy.html\n\
             <Location /app>\nPsgiApp app.psgi\nQueueTimeout 20ms\n</Location>",
        );
    let mut first = server.connect();
    first.raw("GET /app HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the worker is busy", || server.workers().iter().any(|(_, state)| state == "Busy"));
    let refused = server.get("/app").is(503);
    assert_eq!(refused.text(), "please wait\n");
    assert!(refused.header("retry-after").is_some());
    server.site.write("go", "");
    assert_eq!(first.response().text(), "done");
}
