//! PSGI applications to which mod_perl handlers lead.

use super::site;
use crate::support::{Server, until};

const APP: &str = "sub { my $env = shift;
    push @{ $env->{'psgix.cleanup.handlers'} }, sub { open my $f, '>>', '@DIR@/cleaned'; print $f \"$env->{QUERY_STRING}\\n\" };
    [$env->{QUERY_STRING} =~ /^(\\d{3})/ ? $1 : 203, ['Content-Type' => 'text/x-app', 'X-App' => 1], [join ',', map { $env->{$_} // '-' } qw(SCRIPT_NAME PATH_INFO QUERY_STRING REQUEST_METHOD)]] }";

fn serve(code: &str, conf: &str) -> Server {
    site(code).file("app.psgi", APP).serve(&super::with_base(&format!(
        "<Location /app>\nPsgiApp app.psgi\n</Location>\n\
         <Location /main>\nSetHandler perl-script\nPerlHandler My::main\n</Location>\n{conf}"
    )))
}

#[test]
fn an_application_becomes_a_part_of_the_answer() {
    let server = serve(
        "sub main { my $r = shift; $r->send_http_header('text/plain');
             for my $q (1, 2) { my $s = $r->lookup_uri(\"/app/more?q$q\")->run; $r->print(\"($s)\") } OK }",
        "",
    );
    let response = server.get("/main").is(200);
    assert_eq!(response.text(), "/app,/more,q1,GET(0)/app,/more,q2,GET(0)");
    assert_eq!(response.header("x-app"), None);
    until("both cleanup handlers have run", || server.site.read("cleaned") == "q1\nq2\n");
}

#[test]
fn an_application_answers_for_a_handler() {
    let server = serve("sub main { $_[0]->internal_redirect('/app/there?x'); OK }", "");
    let response = server.get("/main").is(203);
    assert_eq!(response.text(), "/app,/there,x,GET");
    assert_eq!(response.header("x-app").as_deref(), Some("1"));
}

#[test]
fn an_application_makes_the_page_for_an_error() {
    let server = serve(
        "sub main { NOT_FOUND }",
        "ErrorDocument 404 /app/lost?200\n<Location /gone>\nErrorDocument 404 /app/lost?410\n</Location>",
    );
    for path in ["/main", "/nowhere"] {
        assert_eq!(server.get(path).is(404).text(), "/app,/lost,200,GET", "{path}");
    }
    server.get("/gone").is(410);
}

#[test]
fn perl_code_may_choose_the_application() {
    let server = serve(
        "sub main { OK } sub choose { $_[0]->handler('psgi'); DECLINED }",
        "<Location /app/chosen>\nSetHandler perl-script\nPerlHandler My::main\nPerlFixupHandler My::choose\n</Location>\n\
         <Location /none>\nPerlFixupHandler My::choose\n</Location>",
    );
    assert_eq!(server.get("/app/chosen/x?y").is(203).text(), "/app/chosen,/x,y,GET");
    server.get("/none").is(500);
    server.logged("SetHandler psgi without a PsgiApp");
}

#[test]
fn an_application_of_the_whole_site_can_be_led_to() {
    let server = site("sub main { my $r = shift; $r->send_http_header('text/plain'); $r->lookup_uri('/x/y?z')->run; OK }")
        .file("app.psgi", APP)
        .serve(&super::with_base(
            "<Location />\nPsgiApp app.psgi\n</Location>\n<Location /main>\nSetHandler perl-script\nPerlHandler My::main\n</Location>",
        ));
    assert_eq!(server.text("/main"), ",/x/y,z,GET");
}
