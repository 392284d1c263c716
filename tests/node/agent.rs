//! `AgentCheckListen`: HAProxy's agent check, and `SlowStart`.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support::{Haproxy, Server, Site, free_port, patience, until};

/// An application that waits at /slow until the file `go` exists.
const APP: &str = "sub { if ($_[0]{PATH_INFO} eq '/slow') { until (-e '@DIR@/go') { select undef, undef, undef, 0.01 } } [200, [], ['ok']] }";

/// A server with two workers, and the port of its agent check.
fn serve(conf: &str) -> (Server, u16) {
    let port = free_port();
    let server = Site::new().file("app.psgi", APP).serve(&format!(
        "AgentCheckListen 127.0.0.1:{port}\n<Location /readyz>\nSetHandler server-readyz\n</Location>\n\
         <Location /app>\nPsgiApp app.psgi\n</Location>\n{conf}"
    ));
    (server, port)
}

fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("the monitor accepts");
    stream.set_read_timeout(Some(patience())).expect("a time limit");
    stream
}

fn line(port: u16) -> String {
    let mut line = String::new();
    connect(port).read_to_string(&mut line).expect("the line, and the end of the connection");
    line
}

#[track_caller]
fn until_line(port: u16, fits: impl Fn(&str) -> bool) {
    let mut last = String::new();
    until("the agent reports it", || {
        last = line(port);
        fits(&last)
    });
}

/// Whether the whole weight is reported; `ready` is there in the first minute.
fn is_up(line: &str) -> bool {
    line.strip_prefix("ready ").unwrap_or(line) == "up 100%\n"
}

/// The weight of a line: 75 of `up 75%`.
fn weight(line: &str) -> Option<u32> {
    line.strip_suffix("%\n")?.rsplit(' ').next()?.parse().ok()
}

#[test]
fn the_agent_reports_the_free_part_of_the_workers() {
    let (server, port) = serve("");
    until_line(port, is_up);
    let mut slow = server.connect();
    slow.raw("GET /app/slow HTTP/1.1\r\nHost: a\r\n\r\n");
    until_line(port, |line| weight(line).is_some_and(|weight| (40..=60).contains(&weight)));
    let mut second = server.connect();
    second.raw("GET /app/slow HTTP/1.1\r\nHost: a\r\n\r\n");
    until_line(port, |line| weight(line).is_some_and(|weight| weight < 10));
    server.site.write("go", "");
    slow.response().is(200);
    second.response().is(200);
    until_line(port, is_up);
}

#[test]
fn the_agent_reports_drain_maintenance_and_missing_services() {
    let (server, port) = serve("PerlLib lib\nReadinessCheck store perl:My::ok interval=100ms fail=1\n");
    until_line(port, |line| line == "ready down #ReadinessCheck store: not ready\n");
    server.site.write("lib/My.pm", "package My; sub ok { 1 } 1;");
    until_line(port, is_up);
    server.control(["maint", "on"]).succeeded();
    until_line(port, |line| line == "maint\n");
    server.control(["maint", "off"]).succeeded();
    until_line(port, is_up);
    server.control(["drain", "--for", "1h", "--no-wait"]).succeeded();
    until_line(port, |line| line == "drain\n");
    server.control(["drain", "--cancel"]).succeeded();
    until_line(port, is_up);
}

#[test]
fn new_code_begins_with_a_small_weight() {
    let (_server, port) = serve("SlowStart 1h\n");
    until_line(port, |line| weight(line) == Some(10));
}

#[test]
fn clients_that_send_much_or_nothing_do_not_stop_the_agent() {
    let (_server, port) = serve("");
    until_line(port, is_up);
    let silent: Vec<TcpStream> = (0..200).map(|_| connect(port)).collect();
    let mut talkative = connect(port);
    // The agent may close before it has read all.
    let _ = talkative.write_all(&vec![b'x'; 4 << 20]);
    drop(talkative);
    until_line(port, is_up);
    drop(silent);
}

#[test]
fn haproxy_obeys_the_agent() {
    let (server, port) = serve("");
    let backend = format!(
        "  option httpchk GET /readyz\n  server a 127.0.0.1:{} weight 100 check inter 100ms agent-check agent-port {port} \
         agent-inter 100ms agent-send \"nodes/a\\n\"\n",
        server.site.port
    );
    let haproxy = Haproxy::start(&server.site, "", &backend);
    until("HAProxy has the whole weight", || haproxy.node("a").weight == 100);
    let mut slow = server.connect();
    slow.raw("GET /app/slow HTTP/1.1\r\nHost: a\r\n\r\n");
    until("HAProxy has half of the weight", || (40..=60).contains(&haproxy.node("a").weight));
    server.site.write("go", "");
    slow.response().is(200);
    server.control(["maint", "on"]).succeeded();
    haproxy.until_node("a", "MAINT");
    server.control(["maint", "off"]).succeeded();
    haproxy.until_node("a", "UP");
    server.control(["drain", "--for", "1h", "--no-wait"]).succeeded();
    haproxy.until_node("a", "D");
    server.control(["drain", "--cancel"]).succeeded();
    haproxy.until_node("a", "UP");
}
