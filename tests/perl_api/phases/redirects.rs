//! `internal_redirect`: another request provides the response.

use super::serve;

fn conf(further: &str) -> String {
    format!(
        "<Location /from>\nSetHandler perl-script\nPerlHandler My::from\n</Location>\n\
         <Location /to>\nSetHandler perl-script\nPerlHandler My::to\n</Location>\n{further}"
    )
}

#[test]
fn a_handler_answers_for_another() {
    let server = serve(
        "sub from { my $r = shift; $r->notes(left => 'note'); $r->pnotes(data => [7]); $r->subprocess_env(MINE => 'm'); $r->err_header_out('Set-Cookie' => 'a=b');
             $r->internal_redirect('/to?new=1'); OK }
         sub to { my $r = shift; $r->send_http_header('text/plain'); $r->print(join '|', $r->uri, scalar $r->args, $r->prev->uri, $r->prev->notes('left'), $r->prev->pnotes('data')->[0],
             $r->is_main ? 'main' : 'sub', $r->is_initial_req ? 'initial' : 'redirected', $r->prev->next->uri, $r->prev->last->uri,
             map { $r->subprocess_env($_) } qw(REDIRECT_URL REDIRECT_QUERY_STRING REDIRECT_STATUS REDIRECT_MINE)); OK }",
        &conf(""),
    );
    let response = server.get("/from?old=1").is(200);
    assert_eq!(response.text(), "/to|new=1|/from|note|7|main|redirected|/to|/to|/from|old=1|200|m");
    assert_eq!(response.header("set-cookie").as_deref(), Some("a=b"));
}

#[test]
fn a_file_answers_for_a_handler() {
    let server = serve("sub from { $_[0]->internal_redirect('/page.txt'); OK } sub to { OK }", &conf(""));
    server.site.write("htdocs/page.txt", "the page");
    let response = server.get("/from").is(200);
    assert_eq!(response.text(), "the page");
    assert_eq!(response.header("content-type").as_deref(), Some("text/plain"));
}

#[test]
fn a_redirect_may_precede_the_response() {
    let server = serve(
        "sub from { OK } sub to { hello(@_) } sub early { my $r = shift; $r->internal_redirect('/to'); DONE }",
        &conf("<Location /from>\nPerlFixupHandler My::early\n</Location>"),
    );
    assert_eq!(server.text("/from"), "hello");
}

#[test]
fn a_circle_of_internal_redirects_ends_with_500() {
    let server = serve(
        "sub from { $_[0]->internal_redirect('/to'); OK } sub to { $_[0]->internal_redirect('/from'); OK }",
        &conf(""),
    );
    server.get("/from").is(500);
    server.logged("more than 10 nested internal redirects");
}

#[test]
fn a_redirect_to_a_missing_page_is_a_404() {
    let server = serve("sub from { $_[0]->internal_redirect('/nowhere'); OK } sub to { OK }", &conf(""));
    server.get("/from").is(404);
}
