//! The life of a worker with a program of PAGI: exceptions of callbacks, streams of which only the head has begun,
//! memory before the start.

use nix::sys::signal::Signal;

use super::noted;
use crate::support::{Request, Server, Site, until};

/// Its lifespan waits in the event loop, where a callback of another part of the program dies. The first worker grows
/// before it has started.
const APP: &str = r#"use v5.36;
use Future::AsyncAwait;
use Future::IO;
use IO::Async::Loop;

sub note ($text) { open my $log, '>>', '@DIR@/noted' or die $!; print $log "$text\n"; close $log }
my @grown;

async sub lifespan ($scope, $receive, $send) {
    while (1) {
        my $event = await $receive->();
        IO::Async::Loop->new->watch_time(after => 0, code => sub { note('callback'); die "in a callback\n" });
        await Future::IO->sleep(0.05);
        if ($event->{type} eq 'lifespan.startup' && -e '@DIR@/grows') {
            unlink '@DIR@/grows';
            push @grown, 'x' x 20_000_000;
            note("grown $$");
        }
        note("$event->{type} $$");
        await $send->({ type => "$event->{type}.complete" });
        return if $event->{type} eq 'lifespan.shutdown';
    }
}

async sub http ($scope, $receive, $send) {
    await $send->({ type => 'http.response.start', status => 200 });
    await $send->({ type => 'http.response.body', body => $$ });
}

async sub sse ($scope, $receive, $send) {
    await $send->({ type => 'sse.start' });
    die "on purpose\n";
}

my $app = async sub ($scope, $receive, $send) { await __PACKAGE__->can($scope->{type})->($scope, $receive, $send) };
$app;
"#;

fn site(directives: &str) -> Site {
    let site = Site::new().file("app.pl", APP);
    site.configure(&format!(
        "PsgiMode event\nStartServers 1\nGracefulShutdownTimeout 30\n{directives}<Location />\nPsgiApp @DIR@/app.pl\n</Location>\n"
    ));
    site
}

fn start(site: Site) -> Server {
    let command = site.serve_command();
    Server::start(site, command)
}

#[test]
fn a_lifespan_goes_on_after_an_exception_of_a_callback() {
    let mut server = start(site(""));
    let pid = server.text("/");
    server.logged("in a callback");
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
    let noted = server.site.read("noted");
    assert_eq!(noted, format!("callback\nlifespan.startup {pid}\ncallback\nlifespan.shutdown {pid}\n"));
}

/// The worker closes its side of such a stream, which another request must not meet.
#[test]
fn a_500_instead_of_a_stream_of_events_ends_its_connection_to_the_worker() {
    let server = start(site(""));
    let pid = server.text("/");
    let mut connection = server.connect();
    for _ in 0..20 {
        server.send(Request::get("/").header("Accept", "text/event-stream")).is(500);
        assert_eq!(connection.ask(Request::get("/")).text(), pid);
    }
    server.logged("on purpose");
}

/// It asks to leave before the front knows it.
#[test]
fn a_worker_that_is_too_large_when_it_has_started_leaves() {
    let server = start(site("LogLevel notice\nMaxMemoryPerChild 10M\n").file("grows", ""));
    let noted_first = || {
        let text = server.site.read("noted");
        text.lines().find_map(|line| line.strip_prefix("grown ").map(str::to_owned))
    };
    let first = noted_first().expect("the first worker has grown");
    server.logged("(MaxMemoryPerChild)");
    until("the worker leaves", || noted(&server, &format!("lifespan.shutdown {first}")));
    until("another worker answers", || server.text("/") != first);
}
