//! An unmodified program of PAGI: requests, streams of events, its lifespan. `pagi_websocket` has the rest.

use nix::sys::signal::Signal;
use serde_json::Value;

use super::noted;
use crate::support::{Request, Server, Site, until};

/// A program of raw PAGI. What it waits for are files, so that tests decide when it goes on.
pub const APP: &str = r#"use v5.36;
use Future::AsyncAwait;
use Future::IO;
use JSON::PP ();

sub note ($text) { open my $log, '>>', '@DIR@/noted' or die $!; print $log "$text\n"; close $log }

async sub file ($name) { await Future::IO->sleep(0.01) until -e "@DIR@/$name" }

async sub answer ($send, $body, @headers) {
    await $send->({ type => 'http.response.start', status => 200, headers => [ [ 'content-type', 'text/plain' ], @headers ] });
    await $send->({ type => 'http.response.body', body => $body });
}

async sub body ($receive) {
    my $body = '';
    while (1) {
        my $event = await $receive->();
        last if $event->{type} !~ /request/;
        $body .= $event->{body};
        last unless $event->{more};
    }
    return $body;
}

async sub lifespan ($scope, $receive, $send) {
    while (1) {
        my $event = await $receive->();
        note($event->{type});
        $scope->{state}{shared} = { number => 0 };
        await $send->({ type => "$event->{type}.complete" });
        return if $event->{type} eq 'lifespan.shutdown';
    }
}

async sub http ($scope, $receive, $send) {
    my $path = $scope->{path} =~ s{\A\Q$scope->{root_path}\E}{}r;
    my $conn = $scope->{'pagi.connection'};
    return await answer($send, 'hello') if $path eq '/';
    return await answer($send, $$) if $path eq '/pid';
    return await answer($send, ++$scope->{state}{shared}{number}) if $path eq '/count';
    return await answer($send, length await body($receive)) if $path eq '/body';
    return if $path eq '/none';
    die "on purpose\n" if $path eq '/dies';
    if ($path eq '/scope') {
        my %facts = map { $_ => $scope->{$_} } qw(type method http_version scheme path raw_path root_path query_string client server headers);
        return await answer($send, JSON::PP->new->ascii->encode(\%facts));
    }
    if ($path =~ m{\A/wait/(.+)}) {
        my $name = $1;
        $conn->on_disconnect(sub ($why) { note("left $name $why") });
        $conn->on_complete(sub { note("complete $name") });
        note("waits $name");
        await Future->wait_any(file($name), $conn->disconnect_future);
        return await answer($send, "$$ waited");
    }
    if ($path eq '/trailers') {
        await $send->({ type => 'http.response.start', status => 200, trailers => 1 });
        await $send->({ type => 'http.response.body', body => 'text' });
        return await $send->({ type => 'http.response.trailers', headers => [ [ 'x-sum', 7 ] ] });
    }
    if ($path eq '/file') {
        await $send->({ type => 'http.response.start', status => 206 });
        return await $send->({ type => 'http.response.body', file => '@DIR@/big', offset => 1_000_000, length => 1_000_000 });
    }
    if ($path eq '/flood') {
        my $transport = $scope->{'pagi.transport'};
        $transport->on_high_water(sub { note('high') });
        $transport->on_drain(sub { note('drained') });
        my $piece = 'x' x 100_000;
        await $send->({ type => 'http.response.start', status => 200 });
        for my $number (1 .. 100) {
            await $send->({ type => 'http.response.body', body => $piece, more => $number < 100 ? 1 : 0 });
        }
        return;
    }
    await $send->({ type => 'http.response.start', status => 404 });
    await $send->({ type => 'http.response.body', body => 'nothing' });
}

async sub sse ($scope, $receive, $send) {
    if ($scope->{path} eq '/declined') {
        await $send->({ type => 'sse.http.response.start', status => 401 });
        return await $send->({ type => 'sse.http.response.body', body => 'no' });
    }
    my $body = await body($receive);
    await $send->({ type => 'sse.start' });
    for my $number (1 .. 3) {
        await $send->({ type => 'sse.send', event => 'tick', id => $number, data => "$body $number" });
        await file("go$number");
    }
    return if $scope->{path} eq '/events';
    my $event = await $receive->();
    note("$event->{type} $event->{reason}");
}

my $app = async sub ($scope, $receive, $send) {
    my $sub = __PACKAGE__->can($scope->{type}) or die "Unsupported scope type: $scope->{type}";
    await $sub->($scope, $receive, $send);
};
$app;
"#;

#[track_caller]
fn serve() -> Server {
    Site::new().file("app.pl", APP).serve(
        "PsgiMode event\nStartServers 1\nGracefulShutdownTimeout 5\n<Location />\nPsgiApp @DIR@/app.pl\n</Location>\n",
    )
}

#[test]
fn run_finds_out_that_a_program_is_one_of_pagi() {
    let server = Site::new().file("app.pl", APP).run_with_one_worker(["app.pl"]);
    assert_eq!(server.text("/"), "hello");
    assert_eq!(server.send(Request::new("HEAD", "/")).is(200).header("Content-Length").as_deref(), Some("5"));
    assert_eq!(server.post("/body", &"x".repeat(3_000_000)).text(), "3000000");
    server.get("/nothing").is(404);
    let mut connection = server.connect();
    for _ in 0..20 {
        assert_eq!(connection.ask(Request::get("/")).text(), "hello");
    }
}

#[test]
fn a_request_of_pagi_that_waits_does_not_stop_the_others_of_its_worker() {
    let server = serve();
    let mut waiting = server.connect();
    waiting.raw("GET /wait/gate HTTP/1.1\r\nHost: x\r\n\r\n");
    until("the request waits", || noted(&server, "waits gate"));
    let pid = server.text("/pid");
    server.site.write("gate", "");
    assert_eq!(waiting.response().text(), format!("{pid} waited"));
    until("the application knows", || noted(&server, "complete gate"));
    let mut leaving = server.connect();
    leaving.raw("GET /wait/other HTTP/1.1\r\nHost: x\r\n\r\n");
    until("the request waits", || noted(&server, "waits other"));
    drop(leaving);
    until("the application knows", || noted(&server, "left other client_closed"));
}

#[test]
fn the_scope_describes_the_client_and_not_the_front() {
    let server = Site::new()
        .file("app.pl", APP)
        .serve("PsgiMode event\nStartServers 1\n<Location /mount>\nPsgiApp @DIR@/app.pl\n</Location>\n");
    let request = Request::get("/mount/scope?q=%20")
        .header("Cookie", "a=1")
        .header("Cameleer-Client", "6.6.6.6 6")
        .header("X-Own", "one");
    let scope: Value = serde_json::from_str(&server.send(request).text()).expect("JSON");
    for (name, value) in [
        ("type", "http"),
        ("method", "GET"),
        ("http_version", "1.1"),
        ("scheme", "http"),
        ("path", "/mount/scope"),
        ("raw_path", "/mount/scope"),
        ("root_path", "/mount"),
        ("query_string", "q=%20"),
    ] {
        assert_eq!(scope[name], value, "{scope}");
    }
    assert_eq!(scope["client"][0], "127.0.0.1");
    assert!(scope["client"][1].is_u64() && scope["server"][1].is_u64(), "{scope}");
    let headers = scope["headers"].to_string();
    assert!(headers.contains(r#"["x-own","one"]"#) && headers.contains(r#"["cookie","a=1"]"#), "{headers}");
    assert!(!headers.contains("cameleer"), "{headers}");
}

#[test]
fn an_application_of_pagi_that_fails_is_a_500_with_its_reason_in_the_log() {
    let server = serve();
    for (target, why) in [("/dies", "PAGI: on purpose"), ("/none", "PAGI: the application returned without starting")] {
        server.get(target).is(500);
        server.logged(why);
    }
    assert_eq!(server.text("/"), "hello");
}

#[test]
fn bodies_are_files_or_come_as_fast_as_the_client_takes_them() {
    let server = serve();
    server.site.write("big", &("a".repeat(1_000_000) + &"b".repeat(1_000_000) + "c"));
    assert_eq!(server.get("/file").is(206).text(), "b".repeat(1_000_000));
    let mut slow = server.connect();
    slow.raw("GET /flood HTTP/1.1\r\nHost: x\r\n\r\n");
    until("the application waits for the client", || noted(&server, "high"));
    assert_eq!(slow.response().text().len(), 10_000_000);
    until("the application knows", || noted(&server, "drained"));
    assert_eq!(server.text("/trailers"), "text");
}

#[test]
fn events_of_pagi_are_sent_one_by_one() {
    let server = serve();
    let mut connection = server.connect();
    let fields = "Host: x\r\nAccept: text/event-stream\r\nContent-Length: 2\r\n\r\n";
    connection.raw(format!("POST /events HTTP/1.1\r\n{fields}hi"));
    assert_eq!(connection.head().header("content-type").as_deref(), Some("text/event-stream"));
    for n in 1..=3 {
        assert_eq!(String::from_utf8_lossy(&connection.chunk()), format!("event: tick\nid: {n}\ndata: hi {n}\n\n"));
        server.site.write(&format!("go{n}"), "");
    }
    assert_eq!(connection.chunk(), b"");
    connection.is_closed();
    server.send(Request::get("/declined").header("Accept", "text/event-stream")).is(401);
    let mut leaving = server.connect();
    leaving.raw("GET /left HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n");
    leaving.head();
    drop(leaving);
    until("the application knows", || noted(&server, "sse.disconnect client_closed"));
}

#[test]
fn the_application_starts_and_stops_in_each_worker() {
    let mut server = serve();
    assert_eq!(server.text("/count") + &server.text("/count"), "12", "the values of the state are shared");
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
    let noted = server.site.read("noted");
    assert_eq!(noted, "lifespan.startup\nlifespan.shutdown\n");
}
