//! Connections that begin with a PROXY header: the timeout for the header, and the connection limits that apply.

use nix::sys::signal::Signal;

use crate::support::{Connection, Request, Server, Site, until};

/// An application that prints the client's address; `/slow` creates `begun`, and waits until `go` exists.
const APP: &str = r#"sub {
    my $env = shift;
    if ($env->{PATH_INFO} eq '/slow') {
        open my $begun, '>', '@DIR@/begun' or die;
        select undef, undef, undef, 0.01 until -e '@DIR@/go';
    }
    [200, [], [$env->{REMOTE_ADDR}]]
}"#;
const HALF: &str = "PROXY TCP4 192.0.2.7";

fn serve(conf: &str) -> Server {
    let protocol = "RemoteIPProxyProtocol On\nRemoteIPProxyProtocolExceptions 127.0.0.9\n";
    Site::new().file("app.psgi", APP).serve(&format!("<Location />\nPsgiApp app.psgi\n</Location>\n{protocol}{conf}"))
}

/// A connection with a PROXY header that names `client`.
fn of(server: &Server, client: &str) -> Connection {
    let mut connection = server.connect();
    connection.send_if_heard(format!("PROXY TCP4 {client} 127.0.0.1 5000 80\r\n").as_bytes());
    connection
}

#[test]
fn a_stop_does_not_wait_for_a_header() {
    let mut server = serve("Timeout 100s\nRequestReadTimeout header=0\n");
    let mut silent = server.connect();
    let mut half = server.connect();
    half.raw(HALF);
    let mut slow = of(&server, "192.0.2.7");
    slow.raw("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n");
    until("the slow request is under way", || server.site.has("begun"));
    server.signal(Signal::SIGQUIT);
    silent.is_closed();
    half.is_closed();
    server.site.write("go", "");
    assert_eq!(slow.response().text(), "192.0.2.7");
    assert_eq!(server.wait(), 0);
    assert!(!server.log().contains("does not begin"), "nobody did anything wrong: {}", server.log());
}

#[test]
fn the_time_for_the_head_of_a_request_is_that_for_the_header_too() {
    let server = serve("Timeout 100s\nRequestReadTimeout header=1\n");
    for sent in ["", HALF, "PROXY TCP4 192.0.2.7 127.0.0.1 5000 80\r\nGET / HT"] {
        let mut connection = server.connect();
        connection.raw(sent);
        let output = String::from_utf8_lossy(&connection.rest()).into_owned();
        assert!(output.is_empty() || output.starts_with("HTTP/1.1 408 "), "{output}");
    }
    server.logged("does not begin with a valid PROXY header (RemoteIPProxyProtocol): the header took too long");
}

#[test]
fn connections_of_the_client_in_the_proxy_header_are_limited() {
    let server = serve("MaxConnectionsPerClient 2\nKeepAliveTimeout 100s\n");
    let get = || Request::get("/");
    let mut two: Vec<Connection> = (0..2).map(|_| of(&server, "192.0.2.7")).collect();
    for connection in &mut two {
        assert_eq!(connection.ask(get()).text(), "192.0.2.7");
    }
    let refused = of(&server, "192.0.2.7").response().is(503);
    assert_eq!(refused.header("retry-after").as_deref(), Some("2"));
    server.logged("[client 192.0.2.7] has reached MaxConnectionsPerClient 2");
    let mut others: Vec<Connection> = (1..5).map(|n| of(&server, &format!("192.0.2.1{n}"))).collect();
    for (n, connection) in (1..5).zip(&mut others) {
        assert_eq!(connection.ask(get()).text(), format!("192.0.2.1{n}"), "the balancer itself has no limit");
    }
    drop(two);
    until("its places are free again", || {
        of(&server, "192.0.2.7").try_ask(&get()).is_ok_and(|response| response.status == 200)
    });
}

#[test]
fn a_client_without_a_header_is_counted_by_its_own_address() {
    let server = serve("MaxConnectionsPerClient 2\nKeepAliveTimeout 100s\n");
    let direct = || Connection::open_as([127, 0, 0, 9].into(), server.site.port).expect("the server accepts");
    let mut two = [direct(), direct()];
    for connection in &mut two {
        assert_eq!(connection.ask(Request::get("/")).text(), "127.0.0.9");
    }
    direct().response().is(503);
    let mut own: Vec<Connection> = (0..3).map(|_| server.connect()).collect();
    for connection in &mut own {
        connection.raw("PROXY UNKNOWN\r\n");
        assert_eq!(connection.ask(Request::get("/")).text(), "127.0.0.1", "the balancer's own");
    }
}

#[test]
fn connections_without_a_complete_proxy_header_count_for_max_connections() {
    let server = serve("MaxConnections 3\n");
    let mut begun: Vec<Connection> = (0..3).map(|_| server.connect()).collect();
    begun.iter_mut().for_each(|connection| connection.raw("PROXY "));
    server.connect().response().is(503);
    server.logged("3 connections are open and none is idle");
}

#[test]
fn a_connection_that_sends_nothing_is_not_logged_as_an_error() {
    let server = serve("");
    drop(server.connect());
    let mut wrong = server.connect();
    wrong.raw("PROXY TCP4");
    wrong.finish_sending();
    wrong.is_closed();
    server.logged("does not begin");
    assert_eq!(server.log().matches("does not begin").count(), 1, "{}", server.log());
}
