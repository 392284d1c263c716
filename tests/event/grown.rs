//! Limits on the memory of a worker with an event loop.

use super::{noted, serve_with};
use crate::support::{WebSocket, WebSocketFrame, alive, until};

#[test]
fn a_worker_that_has_grown_leaves_and_no_request_is_lost() {
    let server = serve_with("LogLevel notice\nMaxMemoryPerChild 10M\nGracefulShutdownTimeout 1000\n");
    let pid = server.text("/pid");
    let mut waiting = server.connect();
    waiting.raw("GET /wait/gate HTTP/1.1\r\nHost: x\r\n\r\n");
    until("the request waits", || noted(&server, "waits gate"));
    assert_eq!(server.text("/grow"), pid);
    server.logged("(MaxMemoryPerChild)");
    until("another worker answers", || server.text("/pid") != pid);
    server.site.write("gate", "");
    assert_eq!(waiting.response().text(), format!("{pid} waited"));
    let old = pid.parse().expect("a number");
    until("the worker has ended", || !alive(old));
}

#[test]
fn a_worker_that_has_grown_closes_its_websockets_after_the_time_of_grace() {
    let server = serve_with("MaxMemoryPerChild 10M\nGracefulShutdownTimeout 1\n");
    let pid = server.text("/pid");
    let mut socket = WebSocket::open(&server, "/echo");
    assert_eq!(server.text("/grow"), pid);
    assert_eq!(socket.next(), WebSocketFrame::Close(1012));
    until("another worker answers", || server.text("/pid") != pid);
}
