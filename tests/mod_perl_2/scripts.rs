//! Scripts that no PerlResponseHandler of their own answers.

use super::serve;
use crate::support::Site;

const SCRIPT: &str =
    "#!/usr/bin/perl\nprint \"Content-type: text/plain\\n\\n\", \"ran $ENV{MOD_PERL_API_VERSION}\\n\";";

#[test]
fn a_cgi_script_runs_under_mod_perl_2() {
    let site = Site::new().script("cgi/hello.pl", SCRIPT);
    let server = site.serve("PerlGeneration 2\nScriptAlias /cgi/ @DIR@/cgi/");
    assert_eq!(server.text("/cgi/hello.pl"), "ran 2\n");
}

#[test]
fn a_folder_that_a_handler_declines_never_shows_the_source_of_its_index() {
    let site = Site::new().script("htdocs/d/index.pl", SCRIPT);
    let server = site.serve(
        "<Location /d>\nDirectoryIndex index.pl\nAddHandler perl-script .pl\nPerlResponseHandler ModPerl::Registry\n\
         PerlOptions +ParseHeaders\nOptions +ExecCGI\n</Location>",
    );
    assert_eq!(server.text("/d/index.pl"), "ran 2\n");
    assert_eq!(server.text("/d/"), "ran 2\n");
}

#[test]
fn a_subrequest_may_answer_in_the_place_of_its_request() {
    let code = "use Apache2::SubRequest ();\nsub handler { my $r = shift;\n\
        return $r->print('other ', $r->args) && 0 if $r->uri eq '/my/other';\n\
        $r->internal_fast_redirect($r->lookup_uri('/my/other?a=1')); 0 }";
    assert_eq!(serve(code, "").text("/my"), "other a=1");
}
