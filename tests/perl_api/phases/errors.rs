//! The error of a handler, as seen by the handler of the error page: MP_STORE_ERROR in mod_perl.c, `%@` in
//! Apache::Registry.

use super::serve;
use crate::support::{REGISTRY, Site};

#[test]
fn the_page_for_an_error_finds_its_text_by_the_uri_that_failed() {
    let server = serve(
        "sub dies { die \"of that\\n\" }
         sub page { my $r = shift; $r->send_http_header('text/plain'); $r->print($r->prev->uri, ': ', $@{$r->prev->uri}, scalar keys %@); OK }
         sub count { my $r = shift; $r->send_http_header('text/plain'); $r->print(scalar keys %@); OK }",
        "ErrorDocument 500 /page\n<Location /dies>\nSetHandler perl-script\nPerlHandler My::dies\n</Location>\n\
         <Location /page>\nSetHandler perl-script\nPerlHandler My::page\n</Location>\n\
         <Location /count>\nSetHandler perl-script\nPerlHandler My::count\n</Location>",
    );
    let page = server.get("/dies?x").is(500);
    assert_eq!(page.text(), "/dies: of that\n1");
    assert_eq!(server.text("/count"), "0", "it goes with the request");
}

#[test]
fn an_error_page_finds_the_error_of_a_registry_script() {
    for handler in ["Apache::Registry", "Apache::PerlRun"] {
        let server = Site::new()
            .script("scripts/test.pl", "die \"of this\\n\"")
            .script(
                "scripts/page.pl",
                "my $r = Apache->request; print \"Content-Type: text/plain\\n\\n\", $@{$r->prev->uri};",
            )
            .serve(&format!(
                "{REGISTRY}<Location /perl>\nPerlHandler {handler}\nErrorDocument 500 /perl/page.pl\n</Location>"
            ));
        assert_eq!(server.get("/perl/test.pl").is(500).text(), "of this\n", "{handler}");
    }
}
