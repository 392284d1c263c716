//! Modules that sites of mod_perl 2 load beside the core: Apache2::compat, SubProcess, Status, SizeLimit, Reload.

use super::{serve, site};
use crate::support::{Server, Site, until};

#[test]
fn a_handler_of_mod_perl_1_runs_under_compat() {
    let code = "use Apache2::compat ();\nuse Apache::Constants qw(OK :common);\n\
        sub handler { my $r = shift; $r->send_http_header('text/plain'); my %args = $r->Apache::args;\n\
        $r->header_out('X-Camel' => 'one'); $r->print(join '|', $args{a}, $r->header_in('Host') ? 'host' : 'none', Apache->request->uri, \
        $r->is_main, AUTH_REQUIRED); OK }";
    let server = serve(code, "PerlOptions +GlobalRequest");
    let response = server.get("/my?a=b%20c&d=e");
    assert_eq!(response.text(), "b c|host|/my|1|401");
    assert_eq!(response.header("X-Camel"), Some("one".to_owned()));
}

#[test]
fn methods_restored_by_compat_are_mod_perl_2s_again() {
    let code = "use Apache2::compat ();\nsub handler { my $r = shift; my @seen;\n\
        Apache2::compat::override_mp2_api('Apache2::RequestRec::notes'); $r->notes(a => 'b'); push @seen, $r->notes('a');\n\
        Apache2::compat::restore_mp2_api('Apache2::RequestRec::notes'); push @seen, $r->notes->get('a');\n\
        push @seen, eval { Apache2::compat::override_mp2_api('My::none'); 1 } ? 'taken' : $@; $r->print(join '|', @seen); 0 }";
    assert_eq!(serve(code, "").text("/my"), "b|b|Apache2::compat: My::none is not overridable\n");
}

#[test]
fn code_that_calls_an_unloaded_package_calls_what_is_loaded_in_its_place() {
    let site = site(
        "use ModPerl::Util ();\nuse Camel ();\nsub handler { my $r = shift; my @seen = Camel::humps();\n\
         ModPerl::Util::unload_package('Camel'); push @seen, defined &Camel::humps ? 'there' : 'gone', Camel->can('isa') ? 'class' : 'none',\n\
         scalar @Camel::ISA, $INC{'Camel.pm'} // 'unknown'; require Camel2; push @seen, Camel::humps(); $r->print(join '|', @seen); 0 }",
    );
    site.write("lib/Camel.pm", "package Camel; our @ISA = 'My'; sub humps { 1 } 1;");
    site.write("lib/Camel2.pm", "package Camel; sub humps { 2 } 1;");
    assert_eq!(site.serve(&super::conf("")).text("/my"), "1|gone|class|0|unknown|2");
}

#[test]
fn a_program_gets_the_environment_that_the_request_has_and_its_streams() {
    let code = "use Apache2::SubProcess ();\nsub handler { my $r = shift; $r->subprocess_env->set(CAMEL => 'two humps');\n\
        my ($in, $out, $err) = $r->spawn_proc_prog('/bin/sh', ['-c', 'read line; echo \"$line $CAMEL\"; echo oops >&2']);\n\
        print $in \"hello\\n\"; close $in; $r->print(scalar(<$out>), scalar(<$err>)); 0 }";
    let server = serve(code, "");
    for _ in 0..2 {
        assert_eq!(server.text("/my"), "hello two humps\noops\n");
    }
}

#[test]
fn a_program_that_is_not_there_is_an_exception() {
    let code = "use Apache2::SubProcess ();\n\
        sub handler { my $r = shift; my $out = eval { $r->spawn_proc_prog('/none/such') }; $r->print($out ? 'started' : $@); 0 }";
    let text = serve(code, "").text("/my");
    assert!(text.starts_with("spawn_proc_prog: /none/such: No such file or directory at "), "{text}");
}

#[test]
fn the_status_page_has_pages_of_others() {
    let start =
        "use Apache2::Status ();\nApache2::Status->menu_item(mine => 'My Page', sub { [ 'of ' . ref $_[0] ] });\n1;\n";
    let conf = "PerlPostConfigRequire \"@DIR@/start.pl\"\n<Location /status>\nSetHandler modperl\nPerlResponseHandler Apache2::Status\n</Location>";
    let server = Site::new().file("start.pl", start).serve(conf);
    assert!(server.text("/status").contains("My Page"));
    assert!(server.text("/status?mine").contains("of Apache2::RequestRec"));
}

/// A server with one worker, whose handler prints its pid.
fn serve_limited(limit: &str) -> Server {
    let code = format!("use Apache2::SizeLimit ();\n{limit}\nsub handler {{ $_[0]->print($$); 0 }}");
    site(&code).serve(
        "MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlModule My\n<Location /my>\nSetHandler modperl\nPerlResponseHandler My\n\
         PerlCleanupHandler Apache2::SizeLimit\n</Location>",
    )
}

#[test]
fn a_worker_that_is_too_big_leaves_after_its_request() {
    let server = serve_limited("Apache2::SizeLimit->set_max_process_size(1000);");
    let first = server.text("/my");
    until("another worker answers", || server.text("/my") != first);
    assert!(server.logged("exits after this request").contains("Apache::SizeLimit"), "{}", server.log());
    let server = serve_limited("Apache2::SizeLimit->set_max_process_size(100_000_000);");
    assert_eq!(server.text("/my"), server.text("/my"));
}

#[test]
fn a_module_that_changed_is_loaded_again() {
    let module = "package My::Word;\nsub word { 'old' }\n1;\n";
    let site =
        site("use My::Word ();\nsub handler { $_[0]->print(My::Word::word()); 0 }").file("lib/My/Word.pm", module);
    let server = site.serve(
        "MaxClients 1\nStartServers 1\nPerlSwitches -I@DIR@/lib\nPerlModule My Apache2::Reload\nPerlInitHandler Apache2::Reload\n\
         PerlSetVar ReloadAll Off\nPerlSetVar ReloadModules \"My::*\"\n<Location /my>\nSetHandler modperl\nPerlResponseHandler My\n</Location>",
    );
    assert_eq!(server.text("/my"), "old");
    server.site.write("lib/My/Word.pm", &module.replace("old", "new"));
    assert_eq!(server.text("/my"), "new");
    server.site.write("lib/My/Word.pm", "package My::Word;\nuse strict;\n$undeclared = 1;\nsub word { 'newer' }\n1;");
    assert_eq!(server.text("/my"), "new");
    assert!(server.log().contains("cannot reload My/Word.pm, the loaded version stays"), "{}", server.log());
}

#[test]
fn modules_in_c_of_httpd_die_with_alternatives() {
    for (module, instead) in [
        ("Embperl", "Use HTML::Mason, Apache::ASP or Template"),
        ("Apache::AuthenHook", "in PerlAuthenHandler"),
        ("Apache::SSLLookup", "SSLOptions +StdEnvVars"),
    ] {
        let site = Site::new();
        site.configure(&format!("PerlGeneration 2\nPerlModule {module}"));
        let output = site.cameleer(["check", "-f", "site.conf"]).failed(78, instead).err;
        assert!(output.contains(&format!("{module} is a module in C linked against httpd")), "{output}");
    }
}

#[test]
fn porting_says_what_code_of_mod_perl_1_needs() {
    let code = "sub handler { my $r = shift; my $what = $r->args; if ($what eq 'module') { require Apache::Constants }\n\
        elsif ($what eq 'class') { My->nothing } else { $r->$what } 0 }";
    let server = site(code).serve(&format!("PerlModule Apache2::porting\n{}", super::conf("")));
    for (what, expected) in [
        (
            "construct_url",
            "Apache2::RequestRec has no method construct_url yet. The method construct_url needs its module:",
        ),
        ("send_http_header", "send_http_header is a method of mod_perl 1, use content_type instead"),
        ("soft_timeout", "soft_timeout is a method of mod_perl 1: the server watches the time of a request"),
        ("no_such_thing", "Can't locate object method \"no_such_thing\" via package \"Apache2::RequestRec\" at "),
        ("class", "Can't locate object method \"nothing\" via package \"My\" at "),
        (
            "module",
            "Can't locate Apache/Constants.pm in @INC: Apache::Constants belongs to mod_perl 1's API, and this server uses mod_perl 2's; \
             use Apache2::Const at ",
        ),
    ] {
        assert_eq!(server.get(&format!("/my?{what}")).status, 500, "{what}");
        server.logged(expected);
    }
}
