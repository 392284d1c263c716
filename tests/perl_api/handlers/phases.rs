//! Choice of the handler, and the effect of its return value.

use super::{conf, printing, serve, serve_with, site};
use crate::support::Site;

#[test]
fn a_declined_request_is_a_static_file() {
    let server = serve("sub handler { DECLINED }");
    server.site.write("htdocs/my/page.txt", "a file\n");
    let response = server.get("/my/page.txt").is(200);
    assert_eq!(response.text(), "a file\n");
    assert_eq!(response.header("content-type").as_deref(), Some("text/plain"));
    assert!(response.header("last-modified").is_some(), "the front sends it as it sends files");
    server.get("/my/none.txt").is(404);
}

#[test]
fn stacked_handlers_run_until_one_returns_another_status() {
    let server = site("sub one { $_[0]->send_http_header('text/plain'); $_[0]->print('1'); OK } sub two { $_[0]->print('2'); DECLINED } sub three { $_[0]->print('3'); DONE } sub four { $_[0]->print('4'); OK } sub handler { OK }")
        .serve(&conf("PerlHandler My::one My::two My::three My::four"));
    assert_eq!(server.text("/my"), "123");
}

#[test]
fn push_handlers_adds_a_cleanup_for_this_request_only() {
    let server = serve(&printing(
        "do { $r->push_handlers(PerlCleanupHandler => sub { open my $f, '>>', '@DIR@/cleaned'; print $f 'x'; OK }) if $r->args; 'ok' }",
    ));
    assert_eq!(server.text("/my?push") + &server.text("/my"), "okok");
    server.text("/my");
    crate::support::until("the cleanup handler has run", || server.site.has("cleaned"));
    assert_eq!(server.site.read("cleaned"), "x");
}

#[test]
fn a_handler_may_be_a_method() {
    let server = site("sub handler ($$) { my ($class, $r) = @_; $r->send_http_header('text/plain'); $r->print(\"$class\"); OK } sub meth { my ($class, $r) = @_; $r->send_http_header('text/plain'); $r->print(\"by $class\"); OK }")
        .serve(&(conf("") + "\n<Location /arrow>\nSetHandler perl-script\nPerlHandler My->meth\n</Location>"));
    assert_eq!(server.text("/my"), "My");
    assert_eq!(server.text("/arrow"), "by My");
}

#[test]
fn a_handler_may_be_an_anonymous_sub_over_several_lines() {
    let server = Site::new().serve(
        "<Location /sub>\nSetHandler perl-script\nPerlHandler \"sub { my $r = shift; \\\n $r->send_http_header('text/plain'); \\\n $r->print('anonymous'); 0 }\"\n</Location>",
    );
    assert_eq!(server.text("/sub"), "anonymous");
}

#[test]
fn the_inner_location_and_the_later_one_win() {
    let server = serve_with(&printing("$r->dir_config('Where')"), "PerlSetVar Where outer");
    assert_eq!(server.text("/my/x"), "outer");
    let server = site(&printing("$r->dir_config('Where')"))
        .serve(&(conf("PerlSetVar Where outer") + "\n<Location /my/in>\nPerlSetVar Where inner\n</Location>"));
    assert_eq!(server.text("/my/in/x"), "inner");
}

#[test]
fn a_module_of_no_preload_is_loaded_when_it_is_asked_for() {
    let server = Site::new()
        .file(
            "lib/Late.pm",
            "package Late; sub handler { $_[0]->send_http_header('text/plain'); $_[0]->print('late'); 0 } 1;",
        )
        .serve("PerlLib lib\n<Location /late>\nSetHandler perl-script\nPerlHandler Late\n</Location>");
    assert_eq!(server.text("/late"), "late");
}

#[test]
fn a_handler_that_is_nowhere_is_a_500_that_names_it() {
    let server =
        Site::new().serve("<Location /none>\nSetHandler perl-script\nPerlHandler No::Such::Handler\n</Location>");
    server.get("/none").is(500);
    server.logged("No::Such::Handler");
}

#[test]
fn a_cleanup_handler_of_the_configuration_runs_after_the_answer() {
    let server =
        site(&format!("sub clean {{ open my $f, '>', '@DIR@/cleaned'; print $f $_[0]->uri; OK }} {}", printing("'x'")))
            .serve(&conf("PerlCleanupHandler My::clean"));
    assert_eq!(server.text("/my"), "x");
    crate::support::until("the handler has run", || server.site.read("cleaned") == "/my");
}

#[test]
fn run_dash_m_serves_a_handler_module_at_the_root() {
    let server = Site::new()
        .file("lib/Greet.pm", "package Greet; use Apache::Constants 'OK'; sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print('hello ' . $r->uri); OK } 1;")
        .run(["-I", "lib", "-M", "Greet"]);
    assert_eq!(server.text("/x"), "hello /x");
}
