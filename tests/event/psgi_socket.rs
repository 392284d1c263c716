//! `psgix.io`: programs of PSGI that take the client's connection.

use nix::sys::signal::Signal;

use super::noted;
use super::psgi::{ANYEVENT, IO_ASYNC, serve_with};
use crate::support::{Connection, Request, Server, WebSocket, WebSocketFrame, alive, signal, until};

/// A WebSocket with AnyEvent::Handle, which writes the handshake itself.
pub const WEBSOCKET: &str = r#"
    '/echo' => sub ($env) {
        require AnyEvent::Handle;
        require Protocol::WebSocket::Handshake::Server;
        require Protocol::WebSocket::Frame;
        my $handshake = Protocol::WebSocket::Handshake::Server->new_from_psgi($env);
        my $handle = AnyEvent::Handle->new(fh => $env->{'psgix.io'});
        $handshake->parse('') or return [400, [], ["no handshake\n"]];
        my $frame = Protocol::WebSocket::Frame->new;
        sub ($respond) {
            $handle->push_write($handshake->to_string);
            my $over = sub { note('over'); undef $handle };
            $handle->on_error(sub { $over->() });
            $handle->on_eof(sub { $over->() });
            $handle->on_read(sub ($handle) {
                $frame->append(delete $handle->{rbuf});
                while (defined(my $text = $frame->next_bytes)) {
                    if ($frame->opcode == 8) {
                        $handle->push_write(Protocol::WebSocket::Frame->new(type => 'close', buffer => substr $text, 0, 2)->to_bytes);
                        return $handle->on_drain(sub { $over->() });
                    }
                    $handle->push_write(Protocol::WebSocket::Frame->new("echo: $text")->to_bytes);
                }
            });
        };
    },
"#;

/// Other uses of the socket, of a protocol that sends each line back.
const LINES: &str = r#"
    '/lines' => sub ($env) {
        my $socket = $env->{'psgix.io'} or return [426, ['Upgrade', 'lines'], ['Upgrade needed']];
        return sub ($respond) {
            $socket->syswrite("HTTP/1.1 101 Switching\r\nUpgrade: lines\r\nConnection: Upgrade\r\n\r\n");
            every(sub {
                my $read = $socket->sysread(my $line, 1000);
                return 0 if !defined $read;
                return note('over'), 1 if !$read;
                $socket->syswrite("back: $line");
                # As Plack::App::WebSocket does after the end of a connection.
                return 0 if $line !~ /end/;
                $respond->([200, [], ['finished']]);
                return 1;
            });
        };
    },
    '/mute' => sub ($env) {
        $kept{mute} = $env->{'psgix.io'};
        push @{ $env->{'psgix.cleanup.handlers'} }, sub { note('mute is over') };
        sub ($respond) { $kept{mute_respond} = $respond; $kept{mute}->syswrite("HTTP/1.1 101 Switching\r\nUpgrade: lines\r\nConnection: Upgrade\r\n\r\n") };
    },
    '/refuse' => sub ($env) { sub ($respond) { every(sub { $respond->([403, [], ['refused']]); 1 }) } },
    '/dies' => sub ($env) { my $socket = $env->{'psgix.io'}; die "broken\n" },
    '/drop' => sub ($env) { my $socket = $env->{'psgix.io'}; sub ($respond) { every(sub { undef $socket; 1 }) } },
    '/keep' => sub ($env) { $kept{socket} = $env->{'psgix.io'}; [200, [], [$$]] },
    '/use' => sub ($env) { [200, [], [defined syswrite($kept{socket}, "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nforeign") ? 'written' : 'shut down']] },
"#;

#[track_caller]
fn upgraded(server: &Server, target: &str) -> Connection {
    let mut connection = server.connect();
    connection.raw(format!("GET {target} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n"));
    connection
}

#[track_caller]
fn open(server: &Server) -> Connection {
    let mut connection = upgraded(server, "/lines");
    assert_eq!(connection.head().status, 101);
    connection
}

#[test]
fn a_program_of_anyevent_speaks_websocket_itself() {
    let server = serve_with(ANYEVENT, WEBSOCKET, "");
    let mut socket = WebSocket::open(&server, "/echo");
    let long = "x".repeat(60_000);
    for text in ["one", "two", &long] {
        socket.send(text);
        assert_eq!(socket.text(), format!("echo: {text}"));
    }
    assert_eq!(server.text("/"), "hello", "other requests are answered meanwhile");
    let mut other = WebSocket::open(&server, "/echo");
    other.send("other");
    assert_eq!(other.text(), "echo: other");
    socket.close(1000);
    assert_eq!(socket.next(), WebSocketFrame::Close(1000));
    socket.is_closed();
    until("the program knows", || noted(&server, "over"));
    other.send("still");
    assert_eq!(other.text(), "echo: still");
}

#[test]
fn a_program_takes_the_connection() {
    for event_loop in [ANYEVENT, IO_ASYNC] {
        let server = serve_with(event_loop, LINES, "");
        server.get("/lines").is(426);
        let mut connection = open(&server);
        connection.raw("one\n");
        connection.expect("back: one\n");
        assert_eq!(server.text("/"), "hello");
        drop(connection);
        until("the program knows", || noted(&server, "over"));
        let mut connection = open(&server);
        connection.raw("end\n");
        assert_eq!(String::from_utf8_lossy(&connection.rest()), "back: end\n", "the response comes too late");
    }
}

#[test]
fn a_program_may_answer_an_upgrade_with_a_response() {
    for event_loop in [ANYEVENT, IO_ASYNC] {
        let server = serve_with(event_loop, LINES, "");
        let refused = upgraded(&server, "/refuse").response().is(403);
        assert_eq!(refused.text(), "refused");
        upgraded(&server, "/dies").response().is(500);
        server.logged("broken");
        upgraded(&server, "/drop").response().is(502);
        assert_eq!(upgraded(&server, "/").response().is(200).text(), "hello");
    }
}

#[test]
fn a_socket_that_was_kept_writes_to_no_other_client() {
    for event_loop in [ANYEVENT, IO_ASYNC] {
        let server = serve_with(event_loop, LINES, "");
        let mut connection = server.connect();
        for _ in 0..3 {
            let upgrade = Request::get("/keep").header("Connection", "Upgrade").header("Upgrade", "lines");
            connection.ask(upgrade).is(200);
            assert_eq!(connection.ask(Request::get("/use")).text(), "shut down");
            assert_eq!(connection.ask(Request::get("/")).text(), "hello");
        }
    }
}

#[test]
fn an_open_connection_stays_with_its_worker_until_the_time_is_over() {
    for event_loop in [ANYEVENT, IO_ASYNC] {
        let server = serve_with(event_loop, LINES, "GracefulShutdownTimeout 2\n");
        let before = server.text("/pid");
        let mut connection = open(&server);
        server.reload().succeeded();
        assert_ne!(server.text("/pid"), before);
        connection.raw("still\n");
        connection.expect("back: still\n");
        connection.is_closed();
        let old = before.parse().expect("a number");
        until("the old worker has ended", || !alive(old));
    }
}

#[test]
fn a_worker_ends_when_its_last_connection_is_closed() {
    let server = serve_with(ANYEVENT, LINES, "GracefulShutdownTimeout 10min\n");
    let before = server.text("/pid");
    let mut connection = open(&server);
    server.reload().succeeded();
    connection.raw("still\n");
    connection.expect("back: still\n");
    drop(connection);
    let old = before.parse().expect("a number");
    until("the old worker has ended", || !alive(old));
}

/// Nothing reads from the socket that an application has taken, so the end of its peer shows otherwise.
#[test]
fn a_socket_that_nobody_reads_ends_with_the_front() {
    for event_loop in [ANYEVENT, IO_ASYNC] {
        let server = serve_with(event_loop, LINES, "");
        let mut connection = upgraded(&server, "/mute");
        assert_eq!(connection.head().status, 101);
        assert!(!noted(&server, "mute is over"));
        signal(server.front(), Signal::SIGKILL);
        until("its cleanup has run", || noted(&server, "mute is over"));
    }
}
