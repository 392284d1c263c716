//! `RequestIDHeader`: the id that a proxy gives a request.

use crate::support::{Connection, Haproxy, Request, Server, Site, until};

const APP: &str = "sub { my $env = shift; [200, [], [join '', map { \"$_=\" . ($env->{$_} // $ENV{$_} // '-') . \"\\n\" } \
    qw(HTTP_X_REQUEST_ID REQUEST_ID UNIQUE_ID HTTP_TRACEPARENT)]] }";

fn serve(conf: &str) -> Server {
    Site::new().file("app.psgi", APP).serve(&format!(
        "RequestIDHeader X-Request-Id\nRemoteIPInternalProxy 127.0.0.1\nLogFormat \"%{{X-Request-Id}}i %{{REQUEST_ID}}e\" ids\n\
         CustomLog ids.log ids\nCustomLog json.log json\n<Location /app>\nPsgiApp app.psgi\n</Location>\n{conf}"
    ))
}

/// The values of a response of [`APP`].
fn values(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_once('=').map_or("", |(_, value)| value).to_owned()).collect()
}

#[test]
fn an_id_of_a_listed_proxy_reaches_programs_and_logs() {
    let server = serve("");
    let answer = server.send(Request::get("/app").header("X-Request-Id", "edge-1/a.b")).is(200);
    assert_eq!(values(&answer.text())[..2], ["edge-1/a.b", "edge-1/a.b"]);
    until("the request is logged", || server.site.read("ids.log").lines().any(|line| line == "edge-1/a.b edge-1/a.b"));
    until("the request is logged as JSON", || server.site.read("json.log").contains(r#""forwarded_id":"edge-1/a.b""#));
}

#[test]
fn an_id_of_anybody_else_or_a_wrong_one_is_replaced() {
    let server = serve("");
    let long = "x".repeat(7000);
    let request = |id: &str| Request::get("/app").header("X-Request-Id", id);
    for answer in [
        server.send_as("127.0.0.9", request("edge-1")),
        server.send(request("a b")),
        server.send(request("a\"b")),
        server.send(request("")),
        server.send(request(&long)),
        server.send(request("a").header("X-Request-Id", "b")),
        server.get("/app"),
    ] {
        let values = values(&answer.is(200).text());
        assert_eq!((&values[0], &values[1]), (&values[2], &values[2]), "the server's own id");
        assert_eq!(values[2].len(), 27);
    }
}

#[test]
fn behind_the_proxy_protocol_the_balancer_must_be_listed_and_not_the_client() {
    let server = serve("RemoteIPProxyProtocol On\nRemoteIPInternalProxy 10.0.0.0/8\n");
    let ask = |from: &str, client: &str| {
        let from = from.parse().expect("an IPv4 address");
        let mut connection = Connection::open_as(from, server.site.port).expect("the server accepts");
        connection.send_if_heard(format!("PROXY TCP4 {client} 127.0.0.1 5000 80\r\n").as_bytes());
        values(&connection.ask(Request::get("/app").header("X-Request-Id", "edge-1")).is(200).text())
    };
    assert_eq!(ask("127.0.0.1", "192.0.2.7")[..2], ["edge-1", "edge-1"]);
    let own = ask("127.0.0.9", "10.0.0.1");
    assert_eq!((&own[0], &own[1]), (&own[2], &own[2]), "the server's own id");
}

#[test]
fn the_ids_of_haproxy_and_its_trace_are_kept_through() {
    let server = serve("TraceContext on\n");
    let backend =
        format!("  http-request set-header X-Request-Id %[uuid()]\n  server a 127.0.0.1:{}\n", server.site.port);
    let haproxy = Haproxy::start(&server.site, "", &backend);
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let request = Request::get("/app").header("X-Request-Id", "of the client");
    let answer = haproxy.send(request.header("traceparent", &format!("00-{trace}-00f067aa0ba902b7-01"))).is(200);
    let values = values(&answer.text());
    assert_eq!((values[0].len(), &values[0]), (36, &values[1]), "a UUID");
    assert!(values[3].starts_with(&format!("00-{trace}-")), "{values:?}");
    until("the request is logged", || server.site.read("json.log").contains(&values[0]));
}
