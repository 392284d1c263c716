//! Reload, stop, and the end of a worker while connections are open.

use std::net::TcpStream;

use nix::sys::signal::Signal;

use super::{noted, serve, serve_with};
use crate::support::{Request, Site, WebSocket, WebSocketFrame, alive, eventually, signal, until};

#[test]
fn an_open_websocket_stays_with_its_worker_after_a_reload_and_is_closed_with_1012() {
    let server = serve_with("GracefulShutdownTimeout 1\n");
    let before = server.text("/pid");
    let mut socket = WebSocket::open(&server, "/echo");
    server.reload().succeeded();
    assert_ne!(server.text("/pid"), before, "new requests go to a new worker");
    socket.send("still here");
    assert_eq!(socket.text(), "echo: still here");
    assert_eq!(socket.next(), WebSocketFrame::Close(1012));
    let old = before.parse().expect("a number");
    until("the old worker has ended", || !alive(old));
    assert!(noted(&server, "closed 1012") || noted(&server, "closed 1006"), "{}", server.site.read("noted"));
}

#[test]
fn a_request_that_runs_at_a_reload_gets_its_response() {
    let server = serve();
    let before = server.text("/pid");
    let mut waiting = server.connect();
    waiting.raw("GET /wait/gate HTTP/1.1\r\nHost: x\r\n\r\n");
    until("the request waits", || noted(&server, "waits gate"));
    server.reload().succeeded();
    assert_ne!(server.text("/pid"), before);
    server.site.write("gate", "");
    assert_eq!(waiting.response().text(), format!("{before} waited"));
    let old = before.parse().expect("a number");
    until("the old worker has ended", || !alive(old));
}

#[test]
fn a_stop_waits_for_running_requests() {
    let mut server = serve();
    let mut waiting = server.connect();
    waiting.raw("GET /wait/gate HTTP/1.1\r\nHost: x\r\n\r\n");
    until("the request waits", || noted(&server, "waits gate"));
    server.signal(Signal::SIGTERM);
    until("the server takes no more connections", || TcpStream::connect(("127.0.0.1", server.site.port)).is_err());
    server.site.write("gate", "");
    assert!(waiting.response().text().ends_with(" waited"));
    assert_eq!(server.wait(), 0);
}

#[test]
fn a_stop_tells_open_websockets_to_come_again() {
    let mut server = serve_with("GracefulShutdownTimeout 1\n");
    let mut socket = WebSocket::open(&server, "/echo");
    server.signal(Signal::SIGTERM);
    assert_eq!(socket.next(), WebSocketFrame::Close(1012));
    assert_eq!(server.wait(), 0);
}

#[test]
fn a_killed_worker_loses_its_requests_and_is_replaced() {
    let server = serve();
    let pid = server.text("/pid");
    let mut waiting = server.connect();
    waiting.raw("GET /wait/gate HTTP/1.1\r\nHost: x\r\n\r\n");
    until("the request waits", || noted(&server, "waits gate"));
    let mut socket = WebSocket::open(&server, "/echo");
    signal(pid.parse().expect("a number"), Signal::SIGKILL);
    assert_eq!(waiting.response().status, 502);
    socket.is_closed();
    server.logged("lost the request");
    // The streams may end before the front hears of the worker: a request of that moment is lost, too.
    until("the next worker answers", || server.get("/pid").status == 200);
    assert_ne!(server.text("/pid"), pid);
}

#[test]
fn a_killed_worker_loses_its_clients_although_its_child_lives() {
    let server = serve();
    let pid = server.text("/pid");
    let mut waiting = server.connect();
    waiting.raw("GET /wait/never HTTP/1.1\r\nHost: x\r\n\r\n");
    until("the request waits", || noted(&server, "waits never"));
    let mut socket = WebSocket::open(&server, "/echo");
    let mut forking = server.connect();
    forking.raw("GET /child/gate HTTP/1.1\r\nHost: x\r\n\r\n");
    let child: i32 = eventually("the child runs", || {
        server.site.read("noted").lines().find_map(|line| line.strip_prefix("child ")?.parse().ok())
    });
    signal(pid.parse().expect("a number"), Signal::SIGKILL);
    assert_eq!(waiting.response().status, 502);
    assert_eq!(forking.response().status, 502);
    socket.is_closed();
    assert!(alive(child), "the child still holds its copies of the streams");
    server.site.write("gate", "");
    until("the child has ended", || !alive(child));
    assert_ne!(server.text("/pid"), pid);
}

#[test]
fn a_new_front_takes_the_workers_over() {
    let server = serve();
    let pid = server.text("/pid");
    let mut socket = WebSocket::open(&server, "/echo");
    let front = server.front();
    signal(front, Signal::SIGKILL);
    socket.is_closed();
    until("another front has begun", || {
        server.status()["front_pid"].as_i64().is_some_and(|pid| pid > 0 && pid != i64::from(front))
    });
    assert_eq!(server.text("/pid"), pid, "the worker is the same");
    until("the application knows", || noted(&server, "closed 1006"));
}

#[test]
fn the_worker_sees_that_a_client_has_left() {
    let server = serve();
    let mut waiting = server.connect();
    waiting.raw("GET /wait/gate HTTP/1.1\r\nHost: x\r\n\r\n");
    until("the request waits", || noted(&server, "waits gate"));
    drop(waiting);
    until("the application knows", || noted(&server, "left gate"));
    let socket = WebSocket::open(&server, "/echo");
    drop(socket);
    until("the application knows", || noted(&server, "closed 1006"));
}

#[test]
fn a_worker_leaves_after_its_last_request_and_none_is_lost() {
    let server = serve_with("MaxRequestsPerChild 3\n");
    let pids: Vec<String> = (0..12).map(|_| server.text("/pid")).collect();
    let times = |pid: &String| pids.iter().filter(|other| *other == pid).count();
    assert!(pids.iter().all(|pid| times(pid) <= 3) && times(&pids[4]) == 3, "{pids:?}");
}

/// Programs whose page forks a child that dies, while the parent answers.
const FORKING: [&str; 3] = [
    "use v5.36;\nsub ($env) {\n@NOTE@return [200, [], [$env->{PATH_INFO}]];\n};\n",
    "use Mojolicious::Lite -signatures;\nget '/*name' => sub ($c) {\nmy $env = { PATH_INFO => $c->req->url->path };\n\
     @NOTE@$c->render(text => $c->req->url->path);\n};\napp->start;\n",
    "use v5.36;\nuse Future::AsyncAwait;\nasync sub app ($scope, $receive, $send) {\ndie 'no' if $scope->{type} ne 'http';\n\
     my $env = { PATH_INFO => $scope->{path} };\n@NOTE@\
     await $send->({ type => 'http.response.start', status => 200, headers => [] });\n\
     await $send->({ type => 'http.response.body', body => $scope->{path} });\n}\n\\&app;\n",
];
const FORK: &str = "if ($env->{PATH_INFO} eq '/fork' && !fork) {\n\
                    open my $note, '>>', '@DIR@/noted' or die $!; print $note \"$$\\n\"; close $note; die \"child\\n\" }\n";

/// A child of `fork` whose code dies returns to the event loop: it must neither answer there nor stay.
#[test]
fn a_forked_child_neither_answers_nor_runs_the_loop() {
    for program in FORKING {
        let site = Site::new().file("app.pl", &program.replace("@NOTE@", FORK));
        let server = site.serve("PsgiMode event\nStartServers 1\n<Location />\nPsgiApp @DIR@/app.pl\n</Location>\n");
        let mut connection = server.connect();
        for n in 0..5 {
            assert_eq!(connection.ask(Request::get("/fork")).text(), "/fork");
            let next = format!("/next{n}");
            assert_eq!(connection.ask(Request::get(&next)).text(), next);
        }
        until("a child has begun", || server.site.has("noted"));
        let children =
            || -> Vec<i32> { server.site.read("noted").lines().filter_map(|pid| pid.parse().ok()).collect() };
        until("all children have begun", || children().len() == 5);
        until("no child is left", || children().iter().all(|pid| !alive(*pid)));
    }
}
