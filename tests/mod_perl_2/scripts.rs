//! Scripts without a PerlResponseHandler of their own.

use super::{conf, serve, site};
use crate::support::Site;

const SCRIPT: &str =
    "#!/usr/bin/perl\nprint \"Content-type: text/plain\\n\\n\", \"ran $ENV{MOD_PERL_API_VERSION}\\n\";";

#[test]
fn a_cgi_script_that_stays_runs_under_mod_perl_2() {
    for (mode, expected) in [("", "ran \n"), ("CgiMode persistent\n", "ran 2\n")] {
        let site = Site::new().script("cgi/hello.pl", SCRIPT);
        let server = site.serve(&format!("PerlGeneration 2\n{mode}ScriptAlias /cgi/ @DIR@/cgi/"));
        assert_eq!(server.text("/cgi/hello.pl"), expected, "{mode}");
    }
}

#[test]
fn cgi_pm_answers_in_a_script_that_stays() {
    let text = "#!/usr/bin/perl\nuse CGI; my $q = CGI->new; print $q->header('text/plain'), scalar $q->param('x');";
    let site = Site::new().script("cgi/form.pl", text);
    let server = site.serve("PerlGeneration 2\nCgiMode persistent\nScriptAlias /cgi/ @DIR@/cgi/");
    for x in ["1", "2"] {
        assert_eq!(server.text(&format!("/cgi/form.pl?x={x}")), x);
        assert_eq!(server.post("/cgi/form.pl", &format!("x={x}")).is(200).text(), x);
    }
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

#[test]
fn a_handler_adds_lines_to_the_place_of_its_request() {
    let code = "sub fixup { my $r = shift; my %of = map { split /=/ } split /&/, $r->args // '';\n\
        my @more = $of{options} ? (-1, '/its/place', $of{bits}) : $of{path} ? (-1, $of{path}) : ();\n\
        eval { $r->add_config([$of{options} ? \"Options $of{options}\" : 'PerlSetVar Camel two'], @more); 1 } or $r->pnotes(error => \"$@\");\n\
        $r->pnotes(at_once => $r->dir_config('Camel')); -1 }\n\
        sub handler { my $r = shift; $r->print(join '|', $r->dir_config('Camel') // '-', $r->pnotes('at_once') // '-',\n\
        $r->allow_options, $r->location, $r->pnotes('error') // '-'); 0 }";
    let inside = "PerlFixupHandler My::fixup\nPerlSetVar Camel one\nOptions None";
    let server = site(&format!("use Apache2::Access ();\n{code}")).serve(&conf(inside));
    assert_eq!(server.text("/my"), "two|two|4|/my|-");
    assert_eq!(server.text("/my?options=ExecCGI&bits=8"), "one|one|8|/my|-");
    assert_eq!(server.text("/my?path=/its/place"), "two|two|4|/its/place|-", "the place of mod_perl's own lines");
    let refused = server.text("/my?options=Indexes&bits=8");
    assert!(refused.starts_with("one|one|4|/my|") && refused.contains("$r->add_config:1: Options: "), "{refused}");
    assert_eq!(server.text("/my?options=None&bits=0"), "one|one|0|/my|-", "nothing stays of the request before");
}

#[test]
fn add_config_changes_a_requests_location_at_most_100_times() {
    let code = "sub handler { my $r = shift; my $count = 0;\n\
        while (eval { $r->add_config([\"PerlSetVar Camel $count\"]); 1 }) { $count++ } $r->print(\"$count $@\"); 0 }";
    let server = serve(code, "");
    for _ in 0..2 {
        assert!(
            server.text("/my").starts_with("100 the location of a request cannot be changed more than 100 times at ")
        );
    }
}

#[test]
fn location_merge_applies_the_settings_of_another_location() {
    let code = "sub trans { my $r = shift; my ($place) = $r->args =~ /(.+)/; $r->pnotes(there => $r->location_merge($place) ? 1 : 0); -1 }\n\
        sub handler { my $r = shift; $r->print(join '|', $r->dir_config('Camel') // '-', $r->pnotes('there')); 0 }";
    let places = "<Location /other>\nPerlSetVar Camel other\n</Location>\n";
    let server =
        site(code).serve(&format!("{}\n{places}", conf("PerlHeaderParserHandler My::trans\nPerlSetVar Camel one")));
    assert_eq!(server.text("/my?/other"), "other|1");
    assert_eq!(server.text("/my?/none"), "one|0");
    assert_eq!(server.text("/my?/other/"), "other|1");
}

#[test]
fn a_file_of_the_folder_is_looked_up_by_what_stat_says() {
    let code = "use Apache2::SubRequest ();\nuse APR::Finfo ();\nuse APR::Const -compile => 'FINFO_NORM';\n\
        sub handler { my $r = shift; my $finfo = APR::Finfo::stat($r->document_root . '/b.txt', APR::Const::FINFO_NORM(), $r->pool);\n\
        my $sub = $r->lookup_dirent($finfo); $r->print($sub->uri, '|', $sub->filename =~ s{.*/}{}r, '|', $sub->finfo->size, '|');\n\
        $sub->run; 0 }";
    let site = site(code).file("htdocs/b.txt", "the text").file("htdocs/a.here", "");
    let server = site.serve(
        "PerlSwitches -Ilib\nPerlModule My\n<Files *.here>\nSetHandler modperl\nPerlResponseHandler My\n</Files>",
    );
    assert_eq!(server.text("/a.here"), "/b.txt|b.txt|8|the text");
}
