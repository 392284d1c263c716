//! `custom_response`: the client's response to an error.

use super::serve;

fn conf(further: &str) -> String {
    format!(
        "<Location /bad>\nSetHandler perl-script\nPerlHandler My::bad\n</Location>\n\
         <Location /sorry>\nSetHandler perl-script\nPerlHandler My::sorry\n</Location>\n{further}"
    )
}

#[test]
fn custom_response_text_replaces_the_error_page() {
    let server =
        serve("sub bad { $_[0]->custom_response(FORBIDDEN, 'Not you'); FORBIDDEN } sub sorry { OK }", &conf(""));
    assert_eq!(server.get("/bad").is(403).text(), "Not you");
}

#[test]
fn a_url_sends_the_client_away() {
    let server = serve(
        "sub bad { $_[0]->custom_response(NOT_FOUND, 'http://example.org/x'); NOT_FOUND } sub sorry { OK }",
        &conf(""),
    );
    assert_eq!(server.get("/bad").is(302).header("location").as_deref(), Some("http://example.org/x"));
}

#[test]
fn a_custom_response_that_is_a_path_is_requested_with_the_errors_status() {
    let server = serve(
        "sub bad { my $r = shift; $r->custom_response(NOT_FOUND, '/sorry?why'); $r->custom_response(SERVER_ERROR, '/sorry'); die \"oops\\n\" if $r->args eq 'die'; NOT_FOUND }
         sub sorry { my $r = shift; $r->send_http_header('text/plain'); $r->print(join '|', $r->method, $r->prev->uri, map { $_ // '-' } @ENV{qw(REDIRECT_STATUS REDIRECT_URL QUERY_STRING REDIRECT_ERROR_NOTES)}); OK }",
        &conf(""),
    );
    assert_eq!(server.get("/bad").is(404).text(), "GET|/bad|404|/bad|why|-");
    assert_eq!(server.post("/bad", "a=b").is(404).text(), "GET|/bad|404|/bad|why|-");
    assert_eq!(server.get("/bad?die").is(500).text(), "GET|/bad|500|/bad||oops");
}

#[test]
fn a_file_of_the_server_is_the_page() {
    let server =
        serve("sub bad { $_[0]->custom_response(NOT_FOUND, '/sorry.html'); NOT_FOUND } sub sorry { OK }", &conf(""));
    server.site.write("htdocs/sorry.html", "sorry");
    let response = server.get("/bad").is(404);
    assert_eq!(response.text(), "sorry");
    assert_eq!(response.header("content-type").as_deref(), Some("text/html"));
}

#[test]
fn a_page_that_fails_in_turn_is_a_plain_page_of_the_first_error() {
    let server =
        serve("sub bad { $_[0]->custom_response(FORBIDDEN, '/sorry'); FORBIDDEN } sub sorry { NOT_FOUND }", &conf(""));
    let page = server.get("/bad").is(403).text();
    assert!(page.contains("You may not see this page"), "{page}");
}

#[test]
fn a_denied_static_file_gets_its_page_too() {
    let server = serve(
        "sub bad { OK } sub sorry { OK } sub no { $_[0]->custom_response(FORBIDDEN, 'keep out'); FORBIDDEN }",
        &conf("<Location /closed>\nPerlAccessHandler My::no\n</Location>"),
    );
    assert_eq!(server.get("/closed/x").is(403).text(), "keep out");
}
