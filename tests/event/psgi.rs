//! Programs of PSGI on AnyEvent, IO::Async or no loop. `psgi_errors` and `psgi_socket` have the rest.

use super::noted;
use crate::support::{Connection, Request, Server, Site, alive, until};

/// Repeats something with AnyEvent until it is true.
pub const ANYEVENT: &str = "use AnyEvent; sub every ($code) { my $t; $t = AE::timer(0.01, 0.01, sub { undef $t if $code->() }) }\n\
                            sub loop_name { 'AnyEvent' }\n";
/// As [`ANYEVENT`], with IO::Async.
pub const IO_ASYNC: &str = "use IO::Async::Loop;\n\
    sub every ($code) { IO::Async::Loop->new->watch_time(after => 0.01, code => sub { $code->() or every($code) }) }\n\
    sub loop_name { 'IO::Async' }\n";

/// A program of PSGI. What it waits for are files, so that tests decide when it goes on.
pub const APP: &str = r#"use v5.36;
@LOOP@
my %kept;
sub note ($text) { open my $log, '>>', '@DIR@/noted' or die $!; print $log "$text\n"; close $log }
sub file ($name, $then) { every(sub { return 0 unless -e "@DIR@/$name"; $then->(); 1 }) }

my %pages = (
    '/' => sub ($env) { [200, ['Content-Type', 'text/plain'], ['hello']] },
    '/pid' => sub ($env) { [200, [], [$$]] },
    '/loop' => sub ($env) { [200, [], [loop_name()]] },
    '/timer' => sub ($env) { sub ($respond) { my $n = 0; every(sub { return 0 if ++$n < 3; $respond->([200, [], ['timed']]); 1 }) } },
    '/wait' => sub ($env) {
        sub ($respond) {
            my $name = $env->{QUERY_STRING};
            note("waits $name");
            file($name, sub { my $writer = $respond->([200, []]); note("written $name ") if !$writer->write("$$ waited"); $writer->close });
        }
    },
    '/chunks' => sub ($env) {
        sub ($respond) {
            my ($writer, $n) = ($respond->([200, ['Content-Type', 'text/event-stream']]), 1);
            $writer->write("data: $n\n\n");
            every(sub {
                return 0 unless -e "@DIR@/go$n";
                return $writer->close, 1 if ++$n > 3;
                $writer->write("data: $n\n\n");
                return 0;
            });
        }
    },
    '/flood' => sub ($env) {
        sub ($respond) {
            my $left = 300;
            $respond->([200, []])->poll_cb(sub ($writer) {
                note("piece $left");
                $left-- ? $writer->write('x' x 100_000) : $writer->close;
            });
        }
    },
    '/endless' => sub ($env) {
        sub ($respond) {
            my $writer = $respond->([200, []]);
            every(sub { return 0 if $writer->write('x'); note('left'); 1 });
        }
    },
    '/file' => sub ($env) { open my $file, '<:raw', '@DIR@/big' or die $!; [200, [], $file] },
    '/body' => sub ($env) {
        my ($length, $body) = (0);
        while (my $read = $env->{'psgi.input'}->read($body, 10_000)) { $length += $read }
        $env->{'psgi.input'}->seek(0, 0);
        $env->{'psgi.input'}->read(my $first, 3);
        [200, [], ["$env->{CONTENT_LENGTH} $length $first"]];
    },
    '/cleanup' => sub ($env) {
        push @{ $env->{'psgix.cleanup.handlers'} }, sub ($env) { note("cleanup $env->{PATH_INFO}") };
        [200, [], ['x']];
    },
    '/status' => sub ($env) { [$env->{QUERY_STRING}, ['Content-Length', 3], ['abc']] },
@PAGES@
);
sub ($env) { ($pages{ $env->{PATH_INFO} } // sub { [404, [], ['nothing']] })->($env) }
"#;

/// A site with the program, for this loop and with these pages besides.
pub fn site(event_loop: &str, pages: &str) -> Site {
    Site::new().file("app.psgi", &APP.replace("@LOOP@", event_loop).replace("@PAGES@", pages))
}

/// Serves the program in one worker, with these directives.
#[track_caller]
pub fn serve_with(event_loop: &str, pages: &str, directives: &str) -> Server {
    site(event_loop, pages).serve(&format!(
        "PsgiMode event\nStartServers 1\n{directives}<Location />\nPsgiApp @DIR@/app.psgi\n</Location>\n"
    ))
}

#[track_caller]
fn waiting(server: &Server, name: &str) -> Connection {
    let mut waiting = server.connect();
    waiting.raw(format!("GET /wait?{name} HTTP/1.1\r\nHost: x\r\n\r\n"));
    until("the request waits", || noted(server, &format!("waits {name}")));
    waiting
}

#[test]
fn a_program_answers_in_the_loop_that_it_has_loaded() {
    for (event_loop, name) in [(ANYEVENT, "AnyEvent"), (IO_ASYNC, "IO::Async")] {
        let server = site(event_loop, "").run_with_one_worker(["app.psgi", "--event"]);
        for (target, text) in [("/", "hello"), ("/loop", name), ("/timer", "timed"), ("/cleanup", "x")] {
            assert_eq!(server.text(target), text, "{target} {name}");
        }
        until("the cleanup handler runs", || noted(&server, "cleanup /cleanup"));
        let mut connection = server.connect();
        connection.raw("GET /chunks HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_eq!(connection.head().header("content-type").as_deref(), Some("text/event-stream"));
        for n in 1..=3 {
            assert_eq!(String::from_utf8_lossy(&connection.chunk()), format!("data: {n}\n\n"), "{name}");
            server.site.write(&format!("go{n}"), "");
        }
        assert_eq!(connection.chunk(), b"");
        assert_eq!(connection.ask(Request::get("/")).text(), "hello");
        server.get("/none").is(404);
    }
}

#[test]
fn a_program_without_a_loop_runs_as_well() {
    let app = "sub { my $env = shift; [200, [], [$env->{'psgi.nonblocking'} ? 'event' : 'blocking']] }";
    let site = Site::new().file("app.psgi", app);
    assert_eq!(site.run_with_one_worker(["app.psgi", "--event"]).text("/"), "event");
    let object = "package App; sub to_app { my $self = shift; sub { [200, [], [ref $self]] } } bless {}";
    assert_eq!(Site::new().file("app.psgi", object).run_with_one_worker(["app.psgi", "--event"]).text("/"), "App");
}

#[test]
fn a_request_that_waits_does_not_stop_the_others_of_its_worker() {
    for event_loop in [ANYEVENT, IO_ASYNC] {
        let server = serve_with(event_loop, "", "");
        let (mut first, mut second) = (waiting(&server, "one"), waiting(&server, "two"));
        let pid = server.text("/pid");
        for (name, connection) in [("two", &mut second), ("one", &mut first)] {
            server.site.write(name, "");
            assert_eq!(connection.response().text(), format!("{pid} waited"));
        }
    }
}

#[test]
fn a_program_sees_that_its_client_has_left() {
    for event_loop in [ANYEVENT, IO_ASYNC] {
        let server = serve_with(event_loop, "", "EventConnections 1\n");
        let mut connection = server.connect();
        connection.raw("GET /endless HTTP/1.1\r\nHost: x\r\n\r\n");
        connection.head();
        assert_eq!(connection.chunk(), b"x");
        drop(connection);
        until("write is false", || noted(&server, "left"));
        drop(waiting(&server, "gate"));
        assert_eq!(server.text("/"), "hello", "there is a place when the stream of that client is closed");
        server.site.write("gate", "");
        until("a responder whose client has left returns a writer", || noted(&server, "written gate "));
        assert_eq!(server.text("/"), "hello");
    }
}

#[test]
fn a_program_that_polls_writes_as_fast_as_its_client_reads() {
    for event_loop in [ANYEVENT, IO_ASYNC] {
        let server = serve_with(event_loop, "", "");
        let mut connection = server.connect();
        connection.raw("GET /flood HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        until("the program has begun", || noted(&server, "piece 300"));
        for _ in 0..20 {
            assert_eq!(server.text("/"), "hello");
        }
        assert!(!noted(&server, "piece 0"), "30 MB are written for a client that does not read");
        assert!(connection.rest().len() > 30_000_000);
    }
}

#[test]
fn bodies_of_requests_and_files_of_any_length_arrive() {
    let server = serve_with(ANYEVENT, "", "");
    for length in [1, 65_536, 65_537, 3_000_000] {
        let response = server.post("/body", &"abc".repeat(length)[..length.max(3)]);
        assert_eq!(response.text(), format!("{0} {0} abc", length.max(3)));
    }
    let mut connection = server.connect();
    connection
        .raw("POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n2\r\nef\r\n0\r\n\r\n");
    assert_eq!(connection.response().text(), "6 6 abc");
    server.site.write_bytes("big", &vec![b'x'; 5_000_000]);
    assert_eq!(connection.ask(Request::get("/file")).is(200).body.len(), 5_000_000);
    assert_eq!(connection.ask(Request::get("/")).text(), "hello");
}

#[test]
fn responses_without_a_body_have_none() {
    let server = serve_with(ANYEVENT, "", "");
    let mut connection = server.connect();
    let head = connection.ask(Request::new("HEAD", "/")).is(200);
    assert_eq!((head.header("content-length").as_deref(), head.text().as_str()), (Some("5"), ""));
    for status in [204, 304] {
        assert_eq!(connection.ask(Request::get(&format!("/status?{status}"))).is(status).text(), "");
    }
    connection.ask(Request::new("HEAD", "/flood")).is(200);
    assert_eq!(connection.ask(Request::get("/")).text(), "hello");
}

/// Prints the environment. Objects have no value that two processes share.
const ENVIRONMENT: &str = r#"sub { my $env = shift; [200, [], [map { my $value = $env->{$_}; "$_=" . (ref $value || $value) . "\n" } sort keys %$env]] }"#;

#[test]
fn the_environment_is_that_of_a_blocking_worker() {
    let server = Site::new().file("one.psgi", ENVIRONMENT).file("two.psgi", ENVIRONMENT).serve(
        "SetEnv COLOUR \"dark %25 blue\"\nSetEnvIf User-Agent (.*) AGENT=$1\n\
         <WorkerPool live>\nPsgiMode event\nStartServers 1\n</WorkerPool>\n\
         <Location /one>\nPsgiApp @DIR@/one.psgi\n</Location>\n\
         <Location /two>\nPerlPool live\nPsgiApp @DIR@/two.psgi\n</Location>\n",
    );
    // What an event pool does not have, or the front ends before it, and what differs for each request.
    let differs = [
        "psgi.nonblocking=",
        "psgix.harakiri=",
        "psgix.informational=",
        "cameleer.",
        "REMOTE_PORT=",
        "HTTP_CONNECTION=",
    ];
    // Values that are new for each request.
    let new_values = ["psgi.input=", "UNIQUE_ID="];
    let environment = |mount: &str, request: fn(&str) -> Request| -> Vec<String> {
        let text = server.send(request(mount)).is(200).text().replace(mount, "/mount");
        let lines = text.lines().map(|line| *new_values.iter().find(|name| line.starts_with(**name)).unwrap_or(&line));
        lines.filter(|line| !differs.iter().any(|name| line.starts_with(name))).map(str::to_owned).collect()
    };
    let requests: [fn(&str) -> Request; 6] = [
        |mount| Request::get(&format!("{mount}/a%20b%252fc?q=%20&x")),
        |mount| Request::get(mount),
        |mount| Request::get(&format!("{mount}//x///y")),
        |mount| Request::get(&format!("/else/..{mount}/./x/../y%3f?z")),
        |mount| Request::post(&format!("{mount}/p"), "a=b"),
        |mount| {
            let fields = ["X-Many", "Cookie", "X_User", "Proxy", "X-Many", "Cookie", "X-Last", "X!a", "User-Agent"];
            let request = Request::get(&format!("{mount}/é")).header("Authorization", "Basic YTpi");
            (0..).zip(fields).fold(request, |request, (n, name)| request.header(name, &format!("value={n}")))
        },
    ];
    for request in requests {
        assert_eq!(environment("/two", request), environment("/one", request));
    }
}

#[test]
fn a_request_that_runs_at_a_reload_gets_its_response() {
    for event_loop in [ANYEVENT, IO_ASYNC] {
        let server = serve_with(event_loop, "", "");
        let before = server.text("/pid");
        let mut waiting = waiting(&server, "gate");
        server.reload().succeeded();
        assert_ne!(server.text("/pid"), before);
        server.site.write("gate", "");
        assert_eq!(waiting.response().text(), format!("{before} waited"));
        let old = before.parse().expect("a number");
        until("the old worker has ended", || !alive(old));
    }
}

/// Doubled slashes are those of the client's target, and after an internal redirect that is about another place.
#[test]
fn a_path_with_doubled_slashes_leads_to_no_place_that_the_client_may_not_enter() {
    for mode in ["blocking", "event"] {
        let site = Site::new().file("app.psgi", "use v5.36;\nsub ($env) { [200, [], [$env->{PATH_INFO}]] };\n");
        let server = site.serve(&format!(
            "PsgiMode {mode}\n<Location /live>\nPsgiApp @DIR@/app.psgi\n</Location>\nErrorDocument 403 /live/denied\n\
             <LocationMatch \"^/live/+secret\">\nRequire all denied\n</LocationMatch>\n"
        ));
        assert_eq!(server.get("/live//open").text(), "//open");
        for path in ["/live/secret", "/live//secret"] {
            let denied = server.get(path);
            assert_eq!((denied.status, denied.text().as_str()), (403, "/denied"), "{mode}: {path}");
        }
    }
}
