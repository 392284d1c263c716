//! A site that has PSGI applications and mod_perl handlers in one interpreter.

use crate::support::{Server, Site};

const APP: &str = "use CGI (); my $at_load = $ENV{MOD_PERL}; \
    sub { [200, [], [join ' ', $at_load // '-', $ENV{MOD_PERL} // '-', $CGI::MOD_PERL, exists $ENV{REQUEST_METHOD} ? 'cgi' : 'plain']] }";
const HANDLER: &str = "package Old; use CGI (); sub handler { print CGI->new->header('text/x-old'), 'old ', scalar CGI::param('a'); 0 } 1;";

#[track_caller]
fn serve(first: &str, second: &str) -> Server {
    Site::new().file("app.psgi", APP).file("lib/Old.pm", HANDLER).serve(&format!("PerlLib lib\n{first}\n{second}\n"))
}

#[test]
fn modules_see_mod_perl_whoever_loads_them_first() {
    let app = "<Location /app>\nSetHandler psgi\nPsgiApp app.psgi\n</Location>";
    let handler = "<Location /old>\nSetHandler perl-script\nPerlHandler +Old\n</Location>";
    for (first, second) in [(app, handler), (handler, app)] {
        let server = serve(first, second);
        assert_eq!(server.text("/app"), "mod_perl/1.31 mod_perl/1.31 1 plain", "{first}");
        let old = server.get("/old?a=b").is(200);
        assert!(old.header("content-type").is_some_and(|kind| kind.starts_with("text/x-old;")), "{first}: {old:?}");
        assert_eq!(old.text(), "old b", "{first}");
    }
}
