//! Many slow clients of every kind at once: other clients are served.

use std::time::Duration;

use super::serve;
use crate::support::{Connection, Load, Request, Server, until};

const APP: &str = "my $page = 'x' x 8_000_000; sub { my $body = $_[0]{PATH_INFO} eq '/page' ? $page : 'ok'; [200, ['Content-Length', length $body], [$body]] }";

fn asking(server: &Server, what: &str) -> Connection {
    let mut connection = server.connect();
    connection.raw(what);
    connection
}

#[test]
fn many_slow_clients_of_every_kind_do_not_keep_anybody_from_being_served() {
    // 600 requests wait at once; the timeouts are long, because slow machines need minutes.
    let server = serve(
        APP,
        "Timeout 600s\nRequestReadTimeout header=600 body=600\nKeepAliveTimeout 600s\n\
         MaxKeepAliveRequests 0\nQueueStale 0\nQueueTimeout 600s",
    );
    let many = |count: usize, what: &str| (0..count).map(|_| asking(&server, what)).collect::<Vec<_>>();
    let mut slow = many(1000, "GET / HTTP/1.1\r\nHost: loc");
    slow.extend(many(200, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf"));
    slow.extend(many(100, "GET /page HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    let mut idle = many(500, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    idle.iter_mut().for_each(|connection| assert_eq!(connection.response().text(), "ok"));
    let load = Load::start(&server, 4, "/", |response| response.status == 200 && response.text() == "ok");
    load.until_answered(500);
    assert_eq!(load.failures(), Vec::<String>::new());
    assert_eq!(idle[0].ask(Request::get("/")).text(), "ok", "idle ones are still there");
    until("all are counted", || server.status()["front"]["connections"].as_u64() == Some(1800));
    drop(slow);
    drop(idle);
    until("nothing is left of them", || server.status()["front"]["connections"].as_u64() == Some(0));
}

#[test]
fn a_reader_that_takes_nothing_goes_and_a_slow_one_gets_everything() {
    let server = serve(APP, "Timeout 5s");
    let mut slow = asking(&server, "GET /page HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let dead = asking(&server, "GET /page HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert_eq!(slow.head().status, 200);
    let whole = slow.slowly(80, Duration::from_millis(40));
    assert_eq!(whole, 8_000_000);
    until("the other one is given up", || server.status()["front"]["connections"].as_u64() == Some(0));
    drop(dead);
}
