//! The start of an event pool: requests of PerlWarmup, an application that never starts, and what a pool refuses.

use super::psgi::{ANYEVENT, IO_ASYNC};
use super::{APP, noted, serve_with};
use crate::support::{Server, Site, until};

/// Programs that note their requests.
const NOTE: &str =
    "sub note ($text) { open my $log, '>>', '@DIR@/noted' or die $!; print $log \"$text\\n\"; close $log }\n";
const PSGI: &str = "sub ($env) { note(join ' ', $$, $env->{REQUEST_URI}, $env->{CAMELEER_WARMUP} // 'client');\n\
     return [$env->{PATH_INFO} eq '/bad' ? 500 : 200, [], ['ok']] };\n";
const PAGI: &str = "use Future::AsyncAwait;\nasync sub app ($scope, $receive, $send) {\ndie 'no' if $scope->{type} ne 'http';\n\
     note(join ' ', $$, $scope->{path}, $scope->{extensions}{'cameleer.warm_up'} ? 1 : 'client');\n\
     await $send->({ type => 'http.response.start', status => $scope->{path} eq '/bad' ? 500 : 200, headers => [] });\n\
     await $send->({ type => 'http.response.body', body => 'ok' });\n}\n\\&app;\n";
const MOJO: &str = "use Mojolicious::Lite -signatures;\nany '/*name' => { name => '' } => sub ($c) {\n\
     note(join ' ', $$, $c->req->url->path, $c->req->env->{CAMELEER_WARMUP} // 'client');\n\
     $c->render(text => 'ok', status => $c->param('name') eq 'bad' ? 500 : 200) };\napp->start;\n";

#[test]
fn the_requests_of_a_warm_up_come_before_those_of_clients() {
    let programs = [
        format!("{ANYEVENT}{NOTE}{PSGI}"),
        format!("{IO_ASYNC}{NOTE}{PSGI}"),
        format!("{NOTE}{PAGI}"),
        format!("{NOTE}{MOJO}"),
    ];
    for program in programs {
        let site = Site::new().file("app.pl", &format!("use v5.36;\n{program}"));
        let server = site.serve(
            "PsgiMode event\nStartServers 1\nPerlWarmup /warm /bad /missing.txt\n\
             <Location />\nPsgiApp @DIR@/app.pl\n</Location>\n<Location /missing.txt>\nSetHandler none\n</Location>\n",
        );
        server.get("/first").is(200);
        let noted = server.site.read("noted");
        let requests: Vec<(&str, &str)> = noted.lines().filter_map(|line| line.split_once(' ')).collect();
        let [(pid, "/warm 1"), (second, "/bad 1"), (third, "/first client")] = requests[..] else {
            panic!("{noted}");
        };
        assert!(pid == second && pid == third, "{noted}");
        server.logged("site.conf:4: warm-up: GET /bad: status 500");
        server.logged("warm-up: GET /missing.txt: the URL is not answered by Perl");
    }
}

#[test]
fn a_warm_up_without_a_response_does_not_keep_the_worker_from_clients() {
    let server = serve_with("StartTimeout 10s\nPerlWarmup /wait/never\n");
    server.get("/").is(200);
    assert!(noted(&server, "waits never"));
    server.logged("warm-up: GET /wait/never: no response within 5 s; raise StartTimeout");
}

#[test]
fn an_application_of_pagi_that_never_starts_is_logged() {
    let program = "use v5.36;\nuse Future::AsyncAwait;\nuse Future;\n\
         async sub app ($scope, $receive, $send) { await Future->new }\n\\&app;\n";
    let site = Site::new().file("app.pl", program);
    site.configure(
        "PsgiMode event\nStartServers 1\nStartTimeout 10s\n<Location />\nPsgiApp @DIR@/app.pl\n</Location>\n",
    );
    let command = site.serve_command();
    let server = Server::spawn(site, command);
    server.logged("has not sent lifespan.startup.complete within 5 s");
}

#[test]
fn a_refork_of_an_event_pool_is_refused_and_check_warns_of_the_directive() {
    let server = serve_with("");
    server.get("/").is(200);
    server.control(["refork"]).failed(1, "cannot become a mold; reload instead");
    let site = Site::new().file("app.pl", APP);
    site.configure("PsgiMode event\nRefork auto\n<Location />\nPsgiApp @DIR@/app.pl\n</Location>\n");
    let finished = site.cameleer(["check", "-f", &site.filled("@DIR@/site.conf")]);
    assert!(finished.err.contains("Refork: has no effect in a pool with an event loop"), "{}", finished.err);
}

#[test]
fn an_exit_ends_its_request_and_not_the_worker() {
    let server = serve_with("");
    let pid = server.text("/pid");
    server.get("/exit").is(500);
    assert_eq!(server.text("/pid"), pid);
    server.logged("exit(3) ends only the request in a pool with an event loop");
    let program = "sub ($env) { exit if $env->{PATH_INFO} eq '/exit'; [200, [], [$$]] };\n";
    let site = Site::new().file("app.pl", &format!("use v5.36;\n{ANYEVENT}{program}"));
    let server = site.serve("PsgiMode event\nStartServers 1\n<Location />\nPsgiApp @DIR@/app.pl\n</Location>\n");
    let pid = server.text("/pid");
    server.get("/exit").is(500);
    assert_eq!(server.text("/pid"), pid);
}

#[test]
fn a_writer_whose_client_reads_nothing_has_a_limit() {
    let program = "sub ($env) { return [200, [], [$$]] if $env->{PATH_INFO} ne '/much';\n\
         sub ($respond) { my $writer = $respond->([200, []]); my $n = 0;\n\
         $n++ while $n < 200 && $writer->write('x' x 1_000_000); note($n) } };\n";
    for event_loop in [ANYEVENT, IO_ASYNC] {
        let site = Site::new().file("app.pl", &format!("use v5.36;\n{event_loop}{NOTE}{program}"));
        let server = site.serve("PsgiMode event\nStartServers 1\n<Location />\nPsgiApp @DIR@/app.pl\n</Location>\n");
        let mut slow = server.connect();
        slow.raw("GET /much HTTP/1.1\r\nHost: x\r\n\r\n");
        until("the program has given up", || server.site.has("noted"));
        let pieces: u32 = server.site.read("noted").trim().parse().expect("a number");
        assert!((64..200).contains(&pieces), "{pieces}");
        server.logged("the client is too slow");
        server.get("/").is(200);
    }
}
