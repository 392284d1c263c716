//! Handlers by name: handler.html, mod/core.html#sethandler

use crate::support::serve_echo_script as serve;

/// A name without a handler is an error of the request: it is logged, and the file's source is never sent.
#[test]
fn an_unknown_handler_is_an_error_of_its_requests_only() {
    let server = serve(
        "<Location /odd>\nSetHandler odd-handler\n</Location>\nAddHandler type-map .own\n\
         <Location /two>\nSetHandler isapi-isa\n</Location>",
    );
    server.get("/odd/x").is(500);
    assert!(!server.get("/page.own").is(500).text().contains("source"));
    server.get("/two").is(500);
    let line = server.logged("handler \"odd-handler\" not found for");
    assert!(line.contains("/odd/x") && line.contains("Action"), "{line}");
    assert_eq!(server.text("/plain.txt"), "plain\n");
}

/// A name without a handler, where Perl phases run before the response.
#[test]
fn an_unknown_handler_is_an_error_behind_perl_phases_too() {
    let server = serve("<Perl>\nsub My::log { 0 }\n</Perl>\nPerlLogHandler My::log\nAddHandler odd-handler .own");
    assert!(!server.get("/page.own").is(500).text().contains("source"));
    server.logged("handler \"odd-handler\" not found for");
}

/// A Perl phase before the response may set another handler.
#[test]
fn perl_may_replace_an_unknown_handler() {
    let server = serve(
        "<Perl>\nsub My::fixup { shift->handler('perl-script'); 0 }\n\
         sub My::answer { my $r = shift; $r->send_http_header('text/plain'); $r->print('chosen'); 0 }\n</Perl>\n\
         <Location /odd>\nSetHandler odd-handler\nPerlFixupHandler My::fixup\nPerlHandler My::answer\n</Location>",
    );
    assert_eq!(server.text("/odd/x"), "chosen");
}
