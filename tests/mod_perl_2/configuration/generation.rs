//! The choice between mod_perl's APIs for a site.

use super::{serve, site};
use crate::support::{Request, Site};

#[test]
fn a_handler_of_mod_perl_2_gets_its_own_request_object() {
    let server = serve(
        "sub handler { my $r = shift; $r->content_type('text/plain'); $r->headers_out->set('X-Camel' => 'two');\n\
         $r->print(join '|', ref $r, $r->uri, $r->args, ref $r->connection, ref $r->server); Apache2::Const::OK }",
        "",
    );
    let response = server.get("/my/path?a=1");
    assert_eq!(response.header("X-Camel"), Some("two".to_owned()));
    assert_eq!(response.text(), "Apache2::RequestRec|/my/path|a=1|Apache2::Connection|Apache2::ServerRec");
    assert_eq!(response.header("Content-Type"), Some("text/plain".to_owned()));
}

#[test]
fn modules_find_their_api_in_the_environment() {
    let code = "our $seen = join '|', @ENV{qw(MOD_PERL MOD_PERL_API_VERSION)}, $mod_perl2::VERSION, defined $mod_perl::VERSION ? 1 : 0;\n\
        sub handler { $_[0]->print($seen, \"\\n\", join '|', @ENV{qw(MOD_PERL MOD_PERL_API_VERSION)}); 0 }";
    let server = serve(code, "");
    assert_eq!(server.text("/my"), "mod_perl/2.0.12|2|2.000012|1\nmod_perl/2.0.12|2");
}

#[test]
fn use_mod_perl2_shows_its_version_to_use_mod_perl() {
    let code = "use mod_perl2 2.0; use mod_perl ();\nsub handler { $_[0]->print(join '|', $mod_perl::VERSION, $mod_perl2::VERSION_TRIPLET); 0 }";
    assert_eq!(serve(code, "").text("/my"), "2.000012|2.0.12");
}

#[test]
fn a_header_that_an_earlier_phase_has_changed_is_in_the_environment() {
    let code = "use APR::Table ();\nsub parser { my $headers = shift->headers_in; $headers->set('Auth-User' => 'ana'); $headers->unset('Cookie'); 0 }\n\
        sub handler { $_[0]->print(join '|', map { $_ // 'none' } @ENV{qw(HTTP_AUTH_USER HTTP_COOKIE HTTP_X_CAMEL)}); 0 }";
    let server = serve(code, "SetHandler perl-script\nPerlHeaderParserHandler My::parser");
    let request = Request::get("/my").header("Cookie", "a=b").header("Auth-User", "eva").header("X-Camel", "humps");
    assert_eq!(server.send(request).is(200).text(), "ana|none|humps");
}

#[test]
fn a_phase_that_answers_200_shows_the_page_that_custom_response_names() {
    let code = "use Apache2::Response ();\nsub handler { $_[0]->print('page for ', $_[0]->prev ? $_[0]->prev->uri : 'nobody'); 0 }\n\
        sub access { my $r = shift; return 0 if $r->uri ne '/my/shut'; $r->custom_response(200, '/my/page'); 200 }";
    let server = serve(code, "PerlAccessHandler My::access");
    assert_eq!(server.text("/my/shut"), "page for /my/shut");
}

#[test]
fn perl_script_sets_up_the_environment_and_modperl_does_not() {
    let code = "sub handler { $_[0]->print($ENV{REQUEST_URI} // 'none'); 0 }";
    assert_eq!(serve(code, "").text("/my"), "none");
    assert_eq!(serve(code, "PerlOptions +SetupEnv").text("/my"), "/my");
    assert_eq!(serve(code, "SetHandler perl-script").text("/my"), "/my");
    assert_eq!(serve(code, "SetHandler perl-script\nPerlOptions -SetupEnv").text("/my"), "none");
}

#[test]
fn lines_under_ifdefine_modperl2_are_read_for_a_mod_perl_2_site() {
    let conf = "PerlModule Apache2::RequestRec\n<IfDefine !MODPERL2>\nNoSuchThing on\n</IfDefine>\n\
        <IfDefine MODPERL2>\n<Location /x>\nSetHandler modperl\nPerlResponseHandler 'sub { $_[0]->content_type(q(text/plain)); 0 }'\n\
        </Location>\n</IfDefine>";
    let server = Site::new().serve(conf);
    assert_eq!(server.get("/x").header("Content-Type"), Some("text/plain".to_owned()));
}

#[test]
fn a_contradiction_names_the_line() {
    let site = site("sub handler { 0 }");
    site.configure("PerlGeneration 1\n<Location /my>\nSetHandler modperl\n</Location>");
    site.cameleer(["check", "-f", "site.conf"])
        .failed(78, "SetHandler: modperl belongs to mod_perl 2, and this server has mod_perl 1's API");
}

#[test]
fn the_global_request_is_there_where_it_was_asked_for() {
    let code = "sub handler { my $r = eval { Apache2::RequestUtil->request }; $_[0]->print($r ? $r->uri : $@); 0 }";
    assert!(serve(code, "").text("/my").starts_with("Global $r object is not available. Set:"));
    assert_eq!(serve(code, "PerlOptions +GlobalRequest").text("/my"), "/my");
}

#[test]
fn a_part_for_another_httpd_or_a_directive_that_is_not_here_is_passed_over() {
    let conf = "<IfVersion < 2.4>\nNonsense\n</IfVersion>\n<IfVersion >= 2.4>\nPerlSetVar Version new\n</IfVersion>\n\
        <IfDirective DefaultStateDir>\nNonsense\n</IfDirective>\n<IfDirective !PerlSetVar>\nNonsense\n</IfDirective>\n\
        <IfDirective perlsetvar>\nPerlSetVar Directive known\n</IfDirective>\n";
    let code =
        "sub handler { my $r = shift; $r->print(join '|', map { $r->dir_config($_) } qw(Version Directive)); 0 }";
    assert_eq!(site(code).serve(&format!("{conf}{}", super::conf(""))).text("/my"), "new|known");
}

#[test]
fn modules_of_mod_perl_1_are_not_found() {
    let code = "our @seen = grep { /^Apache\\b/ } sort keys %INC;\n\
        sub tried { my $module = shift; eval \"require $module; 1\" ? \"$module\" : $@ =~ s/ at .*//sr }\n\
        sub handler { $_[0]->print(join \"\\n\", \"@seen\", map { tried($_) } split /,/, $_[0]->args); 0 }";
    let server = site(code).file("lib/Apache/Upload.pm", "package Apache::Upload; 1").serve(&super::conf(""));
    let refused = |module: &str, file: &str, instead: &str| {
        format!(
            "Can't locate {file} in @INC: {module} belongs to mod_perl 1's API, and this server uses mod_perl 2's; {instead}"
        )
    };
    let expected = [
        String::new(),
        refused(
            "Apache",
            "Apache.pm",
            "use Apache2::RequestRec, Apache2::RequestUtil, Apache2::ServerUtil and ModPerl::Util",
        ),
        refused("Apache::Constants", "Apache/Constants.pm", "use Apache2::Const"),
        refused("Apache::Leak", "Apache/Leak.pm", "mod_perl 2 has no replacement"),
        "Apache::Upload".to_owned(),
        "ModPerl::Registry".to_owned(),
        "Apache2::Status".to_owned(),
        refused("Apache::Registry", "Apache/Registry.pm", "use ModPerl::Registry"),
    ];
    let modules =
        "Apache,Apache::Constants,Apache::Leak,Apache::Upload,ModPerl::Registry,Apache2::Status,Apache::Registry";
    assert_eq!(server.text(&format!("/my?{modules}")), expected.join("\n"));
}

#[test]
fn a_module_of_mod_perl_1_that_the_configuration_names_is_an_error_with_its_line() {
    let site = site("sub handler { 0 }");
    site.configure(&format!("{}\nPerlModule Apache::Registry", super::conf("")));
    let output =
        site.cameleer(["check", "-f", "site.conf"]).failed(78, "Apache::Registry belongs to mod_perl 1's API").err;
    assert!(output.contains("site.conf:11"), "{output}");
}
