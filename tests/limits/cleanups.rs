//! `RequestTimeout` after the response: cleanups and destructors that run after a request have the full
//! `RequestTimeout` again.

use crate::support::{Server, Site, alive, until};

const ENDLESS: &str = "sub { 1 while 1 }";
const STUBBORN: &str = "sub { while (1) { eval { 1 while 1 } } }";

/// One location for each way in which mod_perl 1 programs and PSGI applications register CODE. `?now` registers
/// nothing.
fn first_generation(code: &str, limits: &str) -> Server {
    let handler = "package Slow; use Apache (); sub handler { my $r = shift; $r->send_http_header('text/plain'); my $how = $r->args // '';\n\
        $r->register_cleanup(CODE) if $how eq 'register'; $r->push_handlers(PerlCleanupHandler => CODE) if $how eq 'push';\n\
        $r->pnotes(loop => Loop->new) if $how eq 'pnotes'; $ENV{LOOP} = Loop->new if $how eq 'env';\n\
        $r->print($$); 0 }\n\
        package Loop; sub new { bless [], shift } sub DESTROY { (CODE)->() } 1;";
    let app = "sub { my $env = shift; push @{$env->{'psgix.cleanup.handlers'}}, CODE if $env->{QUERY_STRING}; [200, [], [$$]] }";
    let conf = format!(
        "MaxClients 1\nStartServers 1\n{limits}\nPerlLib lib\nPerlModule Slow\n\
         <Location /quick>\nSetHandler perl-script\nPerlHandler Slow\nRequestTimeout 10000s\n</Location>\n\
         <Location /handler>\nSetHandler perl-script\nPerlHandler Slow\n</Location>\n\
         <Location /phase>\nSetHandler perl-script\nPerlHandler Slow\nPerlCleanupHandler \"{code}\"\n</Location>\n\
         <Location /app>\nPsgiApp app.psgi\n</Location>"
    );
    let site = Site::new().file("lib/Slow.pm", &handler.replace("CODE", code));
    site.file("app.psgi", &app.replace("CODE", code)).serve(&conf)
}

fn second_generation(code: &str, limits: &str) -> Server {
    let handler = "package Slow; use Apache2::RequestRec (); use Apache2::RequestIO (); use Apache2::RequestUtil (); use Apache2::Connection ();\n\
        use APR::Pool (); sub handler { my $r = shift; my $how = $r->args // ''; my $code = CODE;\n\
        $r->pool->cleanup_register($code) if $how eq 'pool'; $r->connection->pool->cleanup_register($code) if $how eq 'connection';\n\
        $r->push_handlers(PerlCleanupHandler => $code) if $how eq 'push'; $r->push_handlers(PerlLogHandler => $code) if $how eq 'log';\n\
        $r->print($$); 0 } 1;";
    let conf = format!(
        "MaxClients 1\nStartServers 1\n{limits}\nPerlSwitches -Ilib\nPerlModule Slow\n\
         <Location /quick>\nSetHandler modperl\nPerlResponseHandler Slow\nRequestTimeout 10000s\n</Location>\n\
         <Location /handler>\nSetHandler modperl\nPerlResponseHandler Slow\n</Location>\n\
         <Location /phase>\nSetHandler modperl\nPerlResponseHandler Slow\nPerlCleanupHandler \"{code}\"\n</Location>"
    );
    Site::new().file("lib/Slow.pm", &handler.replace("CODE", code)).serve(&conf)
}

/// Checks that the client gets its response, the endless code dies, and the same worker serves the next request.
#[track_caller]
fn dies(server: &Server, target: &str) {
    let worker = server.text(target);
    assert_eq!(server.text("/quick"), worker, "{target}: {}", server.log());
    let path = target.split('?').next().unwrap_or(target);
    server.logged(&format!("RequestTimeout has passed for the cleanups of GET {path}"));
    server.logged("the request's cleanup took longer than RequestTimeout");
}

const SOFT: &str = "RequestTimeout 1s\nRequestTimeoutGrace 10000s";

#[test]
fn cleanups_without_end_die_with_their_stack_in_the_log() {
    let server = first_generation(ENDLESS, SOFT);
    for target in ["/handler?register", "/handler?push", "/handler?pnotes", "/phase", "/app?cleanup"] {
        dies(&server, target);
    }
    server.logged("  Slow::__ANON__ at ");
}

#[test]
fn cleanups_of_mod_perl_2_die_with_their_stack_in_the_log() {
    let server = second_generation(ENDLESS, SOFT);
    for target in ["/handler?pool", "/handler?connection", "/handler?push", "/handler?log", "/phase"] {
        dies(&server, target);
    }
    server.logged("  Slow::__ANON__ at ");
}

/// Checks that a stuck worker is killed although no further request arrives.
#[track_caller]
fn costs_its_worker(server: &Server, target: &str, why: &str) {
    let worker = server.text(target);
    let pid = worker.parse().expect("a pid");
    until("the worker is killed", || !alive(pid));
    server.logged(why);
    server.logged(&format!("killed signal=9 ({why})"));
    until("another one is there", || server.workers().iter().any(|(other, _)| *other != pid));
    assert_ne!(server.text("/quick"), worker);
}

const HARD: &str = "RequestTimeout 1s\nRequestTimeoutGrace 1s";

#[test]
fn a_cleanup_that_catches_its_death_costs_its_worker() {
    let too_long = "has cleaned up after one request for too long";
    for target in ["/handler?register", "/handler?push", "/phase", "/app?cleanup"] {
        let server = first_generation(STUBBORN, HARD);
        costs_its_worker(&server, target, too_long);
        server.logged("still running after its die, at ");
        server.logged("lost the cleanups of GET /");
    }
    for target in ["/handler?pool", "/handler?push"] {
        costs_its_worker(&second_generation(STUBBORN, HARD), target, too_long);
    }
}

#[test]
fn a_destructor_that_runs_behind_the_end_of_a_request_is_ended_too() {
    let server = first_generation(ENDLESS, SOFT);
    let worker = server.text("/handler?env");
    server.logged("RequestTimeout has passed for destructors that run after GET /handler");
    server.logged("  Loop::DESTROY at ");
    assert_eq!(server.text("/quick"), worker);
    let server = first_generation(STUBBORN, HARD);
    costs_its_worker(&server, "/handler?env", "has run destructors for too long after a request");
}

/// Request and cleanup together exceed the limit; each alone does not.
#[test]
fn cleanups_have_the_whole_time_for_themselves() {
    let wait = "select undef, undef, undef, 2.2";
    let app = format!(
        "sub {{ push @{{$_[0]{{'psgix.cleanup.handlers'}}}}, sub {{ {wait}; warn \"cleaned\\n\" }} if $_[0]{{QUERY_STRING}};\n\
         {wait} if $_[0]{{QUERY_STRING}}; [200, [], [$$]] }}"
    );
    let server = super::serve(&app, "MaxClients 1\nStartServers 1\nRequestTimeout 4s\nRequestTimeoutGrace 60s");
    let worker = server.text("/?slow");
    server.logged("cleaned");
    assert_eq!(server.text("/"), worker);
    assert!(!server.log().contains("RequestTimeout"), "{}", server.log());
}
