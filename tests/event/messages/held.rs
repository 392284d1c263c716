//! Held responses: a program ends, and the front sends published messages (`Cameleer-Hold`).

use nix::sys::signal::Signal;

use crate::support::{Connection, Request, Server, Site, alive, signal, until};

/// A blocking program of PSGI, below /app.
const PSGI: &str = r#"use v5.36;
use Cameleer::Broadcast;
my @text = ('Content-Type' => 'text/plain');
my $app = sub ($env) {
    my (undef, $do, $channel, $count) = split m{/}, $env->{PATH_INFO};
    if ($do eq 'events') {
        my $last = $env->{HTTP_LAST_EVENT_ID} // 'none';
        return [ 200, [ 'Content-Type' => 'text/event-stream', Cameleer::Broadcast->hold($channel) ], ["id: 7\ndata: after $last\n\n"] ];
    }
    return [ 200, [ @text, Cameleer::Broadcast->hold($channel) ], [] ] if $do eq 'plain';
    return [ 200, [ 'Content-Type' => 'text/event-stream', Cameleer::Broadcast->hold($channel, 'raw') ], [] ] if $do eq 'raw';
    return [ 202, [ @text, Cameleer::Broadcast->hold([ $channel, 'other, one' ], 'response') ], ['nothing yet'] ] if $do eq 'poll';
    return [ 404, [ @text, Cameleer::Broadcast->hold($channel) ], ['no'] ] if $do eq 'missing';
    return [ 200, [ @text, 'Cameleer-Hold' => $channel, 'Cameleer-Channel' => $count ], ['x'] ] if $do eq 'fields';
    if ($do eq 'late') {
        open my $note, '>', '@DIR@/late' or die $!;
        1 until -e '@DIR@/go';
        return [ 200, [ 'Content-Type' => 'text/event-stream', Cameleer::Broadcast->hold($channel) ], ["data: late\n\n"] ];
    }
    if ($do eq 'say') {
        $env->{'psgi.input'}->read(my $message, 100_000);
        Cameleer::Broadcast->publish($channel, $message);
    }
    if ($do eq 'large') { Cameleer::Broadcast->publish($channel, 'x' x 60_000) for 1 .. $count }
    return [ 200, \@text, [ Cameleer::Broadcast->presence($channel) ] ] if $do eq 'presence';
    return [ 200, \@text, [$$] ];
};
"#;

const MOJO: &str = r#"use Mojolicious::Lite -signatures;
use Cameleer::Broadcast;
get '/events/:channel' => sub ($c) {
    my %fields = Cameleer::Broadcast->hold($c->param('channel'));
    $c->res->headers->header($_ => $fields{$_}) for keys %fields;
    $c->res->headers->content_type('text/event-stream');
    $c->render(data => "data: mojo\n\n");
};
get '/bad' => sub ($c) { $c->res->headers->header('Cameleer-Hold' => 'stream'); $c->render(text => 'x') };
app->start;
"#;

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/operating/held-responses.md"));

/// Programs of PSGI and PAGI for event pools. Those of PAGI answer as `http` and as `sse`, by the client's Accept.
const EVENT_PSGI: &str = r#"use v5.36;
use AnyEvent;
use Cameleer::Broadcast;
sub ($env) {
    return sub ($respond) {
        my ($channel) = $env->{PATH_INFO} =~ m{([^/]+)\z};
        $respond->([200, ['Content-Type' => 'text/event-stream', Cameleer::Broadcast->hold($channel)], ["data: psgi\n\n"]]);
    };
};
"#;
const EVENT_PAGI: &str = r#"use v5.36;
use Future::AsyncAwait;
use Cameleer::Broadcast;
async sub app ($scope, $receive, $send) {
    die 'no lifespan' if $scope->{type} eq 'lifespan';
    my ($channel) = $scope->{path} =~ m{([^/]+)\z};
    my %fields  = Cameleer::Broadcast->hold($channel);
    my @headers = map { [ lc $_, $fields{$_} ] } keys %fields;
    if ($scope->{type} eq 'sse') {
        await $send->({ type => 'sse.start', headers => \@headers });
        await $send->({ type => 'sse.send', data => 'sse' });
        return;
    }
    await $send->({ type => 'http.response.start', status => 200, headers => [@headers, ['content-type', 'text/event-stream']] });
    await $send->({ type => 'http.response.body', body => "data: pagi\n\n" });
}
\&app;
"#;

/// A blocking program with one worker below /app, and a program of Mojolicious in an event pool below /live.
#[track_caller]
fn serve_with(site: Site, directives: &str) -> Server {
    let site = site.file("app.psgi", PSGI).file("live.pl", MOJO);
    site.serve(&format!(
        "StartServers 1\nMaxClients 1\nGracefulShutdownTimeout 5\n<WorkerPool live>\nPsgiMode event\nStartServers 1\n</WorkerPool>\n\
         <Location /app>\nPsgiApp @DIR@/app.psgi\n</Location>\n<Location /live>\nPerlPool live\nPsgiApp @DIR@/live.pl\n</Location>\n\
         <Location /metrics>\nSetHandler server-metrics\n</Location>\n{directives}"
    ))
}

#[track_caller]
fn serve() -> Server {
    serve_with(Site::new(), "")
}

/// A connection with a held stream, whose first chunk was read.
#[track_caller]
fn hold(server: &Server, target: &str) -> (Connection, String) {
    let mut connection = server.connect();
    connection.raw(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    let head = connection.head().is(200);
    assert_eq!((head.header("Cameleer-Hold"), head.header("Cameleer-Channel")), (None, None));
    assert_eq!(head.header("Connection").as_deref(), Some("close"), "it ends with the response");
    let first = chunk(&mut connection);
    (connection, first)
}

#[track_caller]
fn chunk(connection: &mut Connection) -> String {
    String::from_utf8_lossy(&connection.chunk()).into_owned()
}

#[track_caller]
fn until_present(server: &Server, channel: &str, count: u32) {
    let target = format!("/app/presence/{channel}");
    until("the channel has its clients", || server.text(&target) == count.to_string());
}

fn held(server: &Server) -> (u64, u64) {
    let status = server.status();
    let count = |name: &str| status["front"]["broadcast"][name].as_u64().unwrap_or_default();
    (count("held_streams"), count("held_responses"))
}

#[test]
fn the_only_worker_is_free_while_clients_of_any_program_get_events() {
    let server = serve();
    let (mut first, text) = hold(&server, "/app/events/news");
    assert_eq!(text, "id: 7\ndata: after none\n\n");
    let (mut second, text) = hold(&server, "/live/events/news");
    assert_eq!(text, "data: mojo\n\n");
    let (mut other, _) = hold(&server, "/app/events/other");
    assert_eq!((server.text("/app/presence/news"), held(&server)), ("2".to_owned(), (3, 0)));
    let metrics = server.text("/metrics");
    assert!(metrics.contains("cameleer_held{kind=\"stream\"} 3\n"), "{metrics}");
    server.post("/app/say/news", "one\ntwo");
    for stream in [&mut first, &mut second] {
        assert_eq!(chunk(stream), "data: one\ndata: two\n\n");
    }
    server.post("/app/say/other", "three");
    assert_eq!(chunk(&mut other), "data: three\n\n", "it got nothing else");
    let mut again = server.connect();
    again.raw("GET /app/events/news HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 7\r\n\r\n");
    again.head().is(200);
    assert_eq!(chunk(&mut again), "id: 7\ndata: after 7\n\n");
}

#[test]
fn clients_of_psgi_and_pagi_in_event_pools_get_events() {
    let pool = |name: &str| {
        format!(
            "<WorkerPool {name}>\nPsgiMode event\nStartServers 1\n</WorkerPool>\n\
             <Location /{name}>\nPerlPool {name}\nPsgiApp @DIR@/{name}.pl\n</Location>\n"
        )
    };
    let site = Site::new().file("psgi.pl", EVENT_PSGI).file("pagi.pl", EVENT_PAGI);
    let server = serve_with(site, &format!("{}{}", pool("psgi"), pool("pagi")));
    let (mut psgi, first) = hold(&server, "/psgi/news");
    assert_eq!(first, "data: psgi\n\n");
    let (mut pagi, first) = hold(&server, "/pagi/news");
    assert_eq!(first, "data: pagi\n\n");
    let mut sse = server.connect();
    sse.raw("GET /pagi/news HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n");
    sse.head().is(200);
    assert_eq!(chunk(&mut sse), "data: sse\n\n");
    until_present(&server, "news", 3);
    server.post("/app/say/news", "one");
    for client in [&mut psgi, &mut pagi, &mut sse] {
        assert_eq!(chunk(client), "data: one\n\n");
    }
}

#[test]
fn streams_of_other_types_and_raw_ones_get_messages_as_they_are() {
    let server = serve();
    let mut streams = ["plain", "raw"].map(|kind| {
        let mut connection = server.connect();
        connection.raw(format!("GET /app/{kind}/news HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        connection.head().is(200);
        connection
    });
    until_present(&server, "news", 2);
    server.post("/app/say/news", "event: a\ndata: 1\n\n");
    for stream in &mut streams {
        assert_eq!(chunk(stream), "event: a\ndata: 1\n\n");
    }
}

#[test]
fn a_configured_length_does_not_end_a_held_response() {
    let rules = "<LocationMatch /app/(events|plain)>\nHeader set Content-Length 1\nHeader set Transfer-Encoding gzip\n</LocationMatch>\n";
    let server = serve_with(Site::new(), rules);
    let mut quiet = server.connect();
    quiet.raw("GET /app/plain/news HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let head = quiet.head().is(200);
    let framing = (head.header("Content-Length"), head.header("Transfer-Encoding"));
    assert_eq!(framing, (None, Some("chunked".to_owned())));
    let (mut events, first) = hold(&server, "/app/events/news");
    assert_eq!(first, "id: 7\ndata: after none\n\n");
    server.post("/app/say/news", "one");
    assert_eq!((chunk(&mut quiet), chunk(&mut events)), ("one".to_owned(), "data: one\n\n".to_owned()));
}

#[test]
fn a_client_of_http_1_0_gets_messages_until_the_connection_ends() {
    let server = serve();
    let mut old = server.connect();
    old.raw("GET /app/plain/news HTTP/1.0\r\n\r\n");
    until_present(&server, "news", 1);
    server.post("/app/say/news", "one");
    let head = old.head().is(200);
    assert_eq!(head.header("Transfer-Encoding"), None);
    old.expect("one");
    server.post("/app/say/news", "two");
    old.expect("two");
}

#[test]
fn over_http_2_and_tls_streams_are_held_beside_other_requests() {
    let server = serve_with(
        Site::new().certificate("localhost", &["localhost"]),
        "Protocols h2 http/1.1\nSSLEngine On\nSSLCertificateFile localhost.crt\nSSLCertificateKeyFile localhost.key\n",
    );
    let base = server.site.filled("https://localhost:@PORT@");
    let curl = |arguments: &[&str]| {
        let certificate = server.site.filled("@DIR@/localhost.crt");
        let mut command = std::process::Command::new("curl");
        command.args(["-sSN", "--cacert", &certificate]).args(arguments);
        command
    };
    let fetch = |target: &str| {
        let done = curl(&[&format!("{base}{target}")]).output().expect("curl");
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let mut clients: Vec<_> = ["--http1.1", "--http2"]
        .into_iter()
        .map(|version| {
            let out = server.site.filled(&format!("@DIR@/out{version}"));
            let child = curl(&[version, "-o", &out, &format!("{base}/app/events/news")]).spawn().expect("curl");
            (child, out)
        })
        .collect();
    until("both are held", || fetch("/app/presence/news") == "2");
    let _ = curl(&["-d", "one", &format!("{base}/app/say/news")]).output().expect("curl");
    for (_, out) in &clients {
        let text = || std::fs::read_to_string(out).unwrap_or_default();
        until("the message has come", || text() == "id: 7\ndata: after none\n\ndata: one\n\n");
    }
    for (child, _) in &mut clients {
        child.kill().expect("curl runs");
        let _ = child.wait();
    }
    until("both have left", || fetch("/app/presence/news") == "0");
}

#[test]
fn a_long_poll_gets_the_first_message_or_the_programs_response() {
    let server = serve_with(Site::new(), "<Location /app/poll/short>\nHoldTimeout 10ms\n</Location>\n");
    let mut waiting = server.connect();
    waiting.raw("GET /app/poll/news HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until_present(&server, "news", 1);
    assert_eq!(held(&server), (0, 1));
    assert!(server.control(["status"]).succeeded().out.contains("held      0 streams, 1 long polls"));
    server.post("/app/say/news", "one");
    let response = waiting.response().is(200);
    assert_eq!((response.text(), response.header("Content-Length").as_deref()), ("one".to_owned(), Some("3")));
    assert_eq!(held(&server), (0, 0));
    let late = waiting.ask(Request::get("/app/poll/short"));
    assert_eq!(late.is(202).text(), "nothing yet", "on the same connection");
    waiting.raw("GET /app/poll/news HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until_present(&server, "news", 1);
    server.post("/app/say/other,%20one", "two");
    assert_eq!(waiting.response().is(200).text(), "two", "a name with a comma");
}

#[test]
fn held_streams_outlive_a_reload_and_the_workers() {
    let server = serve_with(Site::new(), "GracefulShutdownTimeout 0\n");
    let (mut stream, _) = hold(&server, "/live/events/news");
    let before: i32 = server.text("/app/pid").parse().expect("a pid");
    server.reload().succeeded();
    until("there is a new worker", || server.text("/app/pid") != before.to_string());
    until("the old one has ended", || !alive(before));
    server.post("/app/say/news", "after the reload");
    assert_eq!(chunk(&mut stream), "data: after the reload\n\n");
    signal(server.text("/app/pid").parse().expect("a pid"), Signal::SIGKILL);
    until("there is another worker", || server.post("/app/say/news", "again").status == 200);
    assert_eq!(chunk(&mut stream), "data: again\n\n");
}

#[test]
fn held_responses_of_an_old_configuration_end_whole_after_some_time() {
    let server = serve_with(Site::new(), "GracefulShutdownTimeout 100ms\n");
    let (mut stream, _) = hold(&server, "/app/events/news");
    let mut poll = server.connect();
    poll.raw("GET /app/poll/news HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until_present(&server, "news", 2);
    server.reload().succeeded();
    let (mut other, _) = hold(&server, "/app/events/news");
    assert_eq!(stream.chunk(), b"");
    assert_eq!(poll.response().is(202).text(), "nothing yet");
    server.post("/app/say/news", "one");
    assert_eq!(chunk(&mut other), "data: one\n\n", "the serving configuration goes on");
}

#[test]
fn a_client_that_leaves_is_forgotten_and_logged() {
    let server = serve_with(Site::new(), "CustomLog @DIR@/access \"%U %>s %X\"\n");
    let (stream, _) = hold(&server, "/app/events/news");
    let (half, _) = hold(&server, "/app/events/half");
    drop(stream);
    until_present(&server, "news", 0);
    let mut half = half;
    half.finish_sending();
    until_present(&server, "half", 0);
    until("both are logged", || {
        let log = server.site.read("access");
        ["/app/events/news 200 X", "/app/events/half 200 X"].iter().all(|line| log.contains(line))
    });
}

#[test]
fn a_client_that_reads_nothing_is_closed_and_delays_no_other() {
    let server = serve();
    let (mut slow, _) = hold(&server, "/app/events/news");
    let (mut other, _) = hold(&server, "/app/events/news");
    let slow_ones = || server.status()["front"]["broadcast"]["held_slow"].as_u64() == Some(1);
    let mut rounds = 0;
    while !slow_ones() {
        rounds += 1;
        assert!(rounds < 1000, "60 MB wait for a client that does not read");
        server.get("/app/large/news/1").is(200);
        assert_eq!(chunk(&mut other).len(), 60_000 + "data: \n\n".len());
    }
    until_present(&server, "news", 1);
    let came = slow.rest();
    assert!(!came.ends_with(b"0\r\n\r\n"), "the body does not look complete");
    server.post("/app/say/news", "still here");
    assert_eq!(chunk(&mut other), "data: still here\n\n");
}

#[test]
fn quiet_streams_of_events_get_comments() {
    let server = serve_with(Site::new(), "HoldKeepAlive 20ms\n");
    let (mut stream, _) = hold(&server, "/app/events/news");
    assert_eq!((chunk(&mut stream), chunk(&mut stream)), (":\n\n".to_owned(), ":\n\n".to_owned()));
}

#[test]
fn more_held_responses_than_allowed_get_500() {
    let server = serve_with(Site::new(), "HoldConnections 2\n");
    let (stream, _) = hold(&server, "/app/events/news");
    let (_second, _) = hold(&server, "/app/events/news");
    server.get("/app/events/news").is(500);
    server.logged("not held: 2 responses are (HoldConnections)");
    drop(stream);
    until_present(&server, "news", 1);
    hold(&server, "/app/events/news");
}

#[test]
fn wrong_fields_are_an_error_and_those_of_clients_are_none() {
    let server = serve();
    for (target, reason) in [
        ("/app/fields/Stream/a", "Cameleer-Hold: expected stream, raw or response, got \\\"Stream\\\""),
        ("/app/fields/stream/a,,b", "Cameleer-Channel: a name has 1 to 255 bytes, not 0"),
        ("/live/bad", "Cameleer-Hold without Cameleer-Channel"),
    ] {
        server.get(target).is(500);
        server.logged(&reason.replace('\\', ""));
    }
    assert_eq!(
        server.send(Request::get("/app/pid").header("Cameleer-Hold", "stream")).is(200).header("Cameleer-Hold"),
        None
    );
    assert_eq!(server.get("/app/missing/news").is(404).text(), "no", "an error is not held");
    assert_eq!(server.send(Request::new("HEAD", "/app/events/news")).is(200).body.len(), 0);
    assert_eq!(held(&server), (0, 0));
}

#[test]
fn a_program_that_holds_its_response_during_a_stop_is_answered() {
    let mut server = serve();
    let mut waiting = server.connect();
    waiting.raw("GET /app/late/news HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the program runs", || server.site.path("late").exists());
    let (mut stream, _) = hold(&server, "/live/events/news");
    server.signal(Signal::SIGTERM);
    assert_eq!(stream.chunk(), b"", "nothing is held any more");
    server.site.write("go", "");
    assert_eq!(waiting.response().is(200).text(), "data: late\n\n");
    server.wait();
}

#[test]
fn at_a_stop_held_responses_end_whole() {
    let mut server = serve();
    let (mut stream, _) = hold(&server, "/app/events/news");
    let mut poll = server.connect();
    poll.raw("GET /app/poll/news HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until_present(&server, "news", 2);
    server.signal(Signal::SIGTERM);
    assert_eq!(stream.chunk(), b"");
    assert_eq!(poll.response().is(202).text(), "nothing yet");
    server.wait();
}

#[test]
fn the_example_of_the_page_works() {
    let program = PAGE.split("```perl\n").nth(1).and_then(|text| text.split("```").next()).expect("an example");
    let conf = PAGE.split("```apache\n").nth(1).and_then(|text| text.split("```").next()).expect("an example");
    let site = Site::new().file("shop.psgi", program);
    let conf = conf.replace("/srv/site", &site.filled("@DIR@"));
    let server = site.serve(&conf);
    let (mut browser, first) = hold(&server, "/shop/orders");
    assert_eq!(first, "data: welcome\n\n");
    assert_eq!(server.post("/shop/buy", "").text(), "thank you\n");
    assert_eq!(chunk(&mut browser), "data: one more order\n\n");
}

#[test]
fn handlers_and_scripts_leave_their_responses() {
    let handler = "package Holds;\nuse Apache2::RequestRec (); use Apache2::RequestIO (); use APR::Table ();\nuse Cameleer::Broadcast;\n\
        sub handler {\n    my $r = shift;\n    my %fields = Cameleer::Broadcast->hold('news');\n    \
        $r->headers_out->set($_ => $fields{$_}) for keys %fields;\n    $r->content_type('text/event-stream');\n    \
        $r->print(\"data: handler\\n\\n\");\n    return 0;\n}\n1;\n";
    let script = "use Cameleer::Broadcast;\nmy %fields = Cameleer::Broadcast->hold('news');\n\
        print \"Content-Type: text/event-stream\\n\", (map { \"$_: $fields{$_}\\n\" } keys %fields), \"\\n\", \"data: script\\n\\n\";\n";
    let site = Site::new().file("lib/Holds.pm", handler).file("perl/script.pl", script);
    let server = serve_with(
        site,
        "PerlSwitches -I@DIR@/lib\nPerlModule Holds\n\
         <Location /holds>\nSetHandler modperl\nPerlResponseHandler Holds\n</Location>\n\
         Alias /perl/ @DIR@/perl/\n<Location /perl>\nSetHandler perl-script\nPerlResponseHandler ModPerl::Registry\n\
         PerlOptions +ParseHeaders\nOptions +ExecCGI\n</Location>\n",
    );
    let (mut first, text) = hold(&server, "/holds");
    assert_eq!(text, "data: handler\n\n");
    let (mut second, text) = hold(&server, "/perl/script.pl");
    assert_eq!(text, "data: script\n\n");
    server.post("/app/say/news", "both");
    assert_eq!((chunk(&mut first), chunk(&mut second)), ("data: both\n\n".to_owned(), "data: both\n\n".to_owned()));
}
