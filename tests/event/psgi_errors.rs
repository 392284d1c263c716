//! Programs of PSGI that fail, and what one request could leave to others.

use super::psgi::{ANYEVENT, IO_ASYNC, serve_with};
use crate::support::{Request, until};

/// Pages of programs that fail.
const PAGES: &str = r#"
    '/dies' => sub ($env) { die "broken at once\n" },
    '/dies2' => sub ($env) { sub ($respond) { die "broken in its callback\n" } },
    '/dies3' => sub ($env) { sub ($respond) { $respond->([200, []])->write('begun'); die "broken after the head\n" } },
    '/dies4' => sub ($env) { sub ($respond) { my $n = 0; every(sub { return 1 if $n++; my $keep = $respond; die "broken in a timer\n" }) } },
    '/dies5' => sub ($env) { [200, ['Content-Length', 100], bless {}, 'Broken'] },
    '/lost' => sub ($env) { sub ($respond) { return } },
    '/lost2' => sub ($env) { sub ($respond) { $respond->([200, []])->write('begun'); return } },
    '/twice' => sub ($env) { sub ($respond) { $respond->([200, [], ['once']]); $respond->([200, [], ['twice']]) } },
    '/text' => sub ($env) { 'text' },
    '/split' => sub ($env) { [200, ['X-A', "1\r\nX-B: 2"], ['x']] },
    '/wide' => sub ($env) { [200, [], ["\x{20ac}"]] },
    '/inform' => sub ($env) { [101, [], []] },
    '/short' => sub ($env) { [200, ['Content-Length', 10], ['abc']] },
    '/long' => sub ($env) { [200, ['Content-Length', 3], ["abcHTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nforeign"]] },
    '/long2' => sub ($env) { sub ($respond) { my $writer = $respond->([200, ['Content-Length', 3]]); $writer->write('ab'); $writer->write('cforeign'); $writer->close } },
    '/divided' => sub ($env) { [200, ['Transfer-Encoding', 'chunked'], ["3\r\nabc\r\n", "0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nforeign"]] },
    '/keep' => sub ($env) {
        $kept{env} ||= $env;
        $kept{input} = $env->{'psgi.input'};
        $ENV{LEFT} = 'foreign';
        $/ = undef;
        sub ($respond) { @kept{qw(respond writer)} = ($respond, $respond->([200, []])); $kept{writer}->write('first'); $kept{writer}->close }
    },
    '/use' => sub ($env) {
        my @did;
        for my $code (sub { $kept{writer}->write('foreign') }, sub { $kept{respond}->([200, [], ['foreign']]) }, sub { $kept{writer}->close },
            sub { $kept{writer}->poll_cb(sub { $_[0]->write('foreign') }) }) {
            push @did, eval { $code->(); 1 } ? 'nothing' : $@ =~ s/\n//r;
        }
        my $left = join '', map { $_ // '' } $ENV{LEFT}, readline($kept{input}), $kept{env}{QUERY_STRING} eq $env->{QUERY_STRING} ? 'query' : ();
        [200, [], [join ',', $left, length $/, @did]];
    },
    '/print' => sub ($env) { print "printed at once\n"; sub ($respond) { every(sub { print "printed later\n"; system 'echo printed by a program'; $respond->([200, [], ['own']]); 1 }) } },
"#;

/// A body that cannot be read to its end.
const BROKEN: &str = "package Broken { sub getline ($self) { die \"broken body\\n\" if $self->{n}++; 'begun' } sub close ($self) { open my $file, '>', '@DIR@/closed' } }\n";

#[test]
fn a_program_that_fails_costs_its_own_request_only() {
    for event_loop in [ANYEVENT, IO_ASYNC] {
        let server = serve_with(&format!("{event_loop}{BROKEN}"), PAGES, "");
        let pid = server.text("/pid");
        let reasons = [
            ("/dies", "broken at once"),
            ("/dies2", "broken in its callback"),
            ("/lost", "lost its responder without a call"),
            ("/text", "the string \"text\", not a response"),
            ("/split", "the response's header \"X-A\" is not allowed in HTTP"),
            ("/wide", "wide character in the response"),
            ("/inform", "status 101, which is informational"),
            ("/dies4", "broken in a timer"),
        ];
        for (target, reason) in reasons {
            let response = server.get(target).is(500);
            assert!(!response.text().contains("broken") && response.header("x-b").is_none(), "{response:?}");
            server.logged(reason);
        }
        for (target, reason) in [("/dies3", "broken after the head"), ("/lost2", "lost its writer without close")] {
            let mut connection = server.connect();
            connection.raw(format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n"));
            let bytes = connection.rest();
            let text = String::from_utf8_lossy(&bytes);
            assert!(text.contains("begun") && !text.ends_with("0\r\n\r\n"), "{target}: {text}");
            server.logged(reason);
        }
        assert_eq!(server.text("/twice"), "once");
        server.logged("the responder was called twice");
        assert_eq!(server.text("/pid"), pid);
    }
}

#[test]
fn a_body_of_another_length_reaches_no_other_request() {
    let server = serve_with(&format!("{ANYEVENT}{BROKEN}"), PAGES, "");
    for target in ["/long", "/long2", "/divided"] {
        let mut connection = server.connect();
        for _ in 0..3 {
            assert_eq!(connection.ask(Request::get(target)).is(200).text(), "abc", "{target}");
            assert_eq!(connection.ask(Request::get("/")).text(), "hello", "{target}");
        }
    }
    for target in ["/short", "/dies5"] {
        let mut connection = server.connect();
        connection.raw(format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n"));
        connection.head();
        let rest = connection.rest();
        assert!(rest == b"abc" || rest == b"begun", "{:?}", String::from_utf8_lossy(&rest));
        assert_eq!(server.text("/"), "hello");
    }
    server.logged("7 bytes before its Content-Length");
    until("the body is closed", || server.site.has("closed"));
}

#[test]
fn what_a_request_leaves_reaches_no_other() {
    for event_loop in [ANYEVENT, IO_ASYNC] {
        let server = serve_with(event_loop, PAGES, "");
        let mut connection = server.connect();
        let expected =
            "body of the first,1,PSGI: write after close,PSGI: the responder was called twice,nothing,nothing";
        for n in 0..3 {
            let keeps = Request::post(&format!("/keep?{n}"), "body of the first");
            assert_eq!(connection.ask(keeps).is(200).text(), "first");
            let used = connection.ask(Request::post(&format!("/use?other{n}"), "second")).is(200).text();
            assert_eq!(used, expected, "{event_loop}");
            assert_eq!(connection.ask(Request::get("/")).text(), "hello");
        }
    }
}

#[test]
fn printed_output_goes_to_the_error_log() {
    for event_loop in [ANYEVENT, IO_ASYNC] {
        let server = serve_with(event_loop, PAGES, "");
        assert_eq!(server.text("/print"), "own");
        for line in ["printed at once", "printed later", "printed by a program"] {
            server.logged(line);
        }
        assert_eq!(server.text("/"), "hello");
    }
}
