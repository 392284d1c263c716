//! Clients of held responses that have vanished without the end of their connection: the kernel probes them.

use std::fs;

use http::Request;

use crate::support::{Http2Client, Server, Site, until};

const PSGI: &str = "use v5.36;\nuse Cameleer::Broadcast;\n\
    sub ($env) {\n\
    return [ 200, [ 'Content-Type' => 'text/plain' ], [ Cameleer::Broadcast->presence('news') ] ] if $env->{PATH_INFO} eq '/count';\n\
    return [ 200, [ 'Content-Type' => 'text/plain', Cameleer::Broadcast->hold('news') ], [] ];\n};\n";

fn serve() -> Server {
    let site = Site::new().file("app.psgi", PSGI);
    site.serve(
        "Protocols h2c http/1.1\nStartServers 1\nMaxClients 1\n<Location />\nPsgiApp @DIR@/app.psgi\n</Location>\n",
    )
}

/// Whether the server's end of an open connection waits for the time of a probe: `tr` of `/proc/net/tcp` is 02
/// (proc_net_tcp.txt of the kernel).
fn probes_a_client(server: &Server) -> bool {
    let own = format!(":{:04X}", server.site.port);
    let table = fs::read_to_string("/proc/net/tcp").expect("the kernel's table");
    let mut rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.any(|row| {
        let is_own = row.get(1).is_some_and(|local| local.ends_with(&own)) && row.get(3) == Some(&"01");
        is_own && row.get(5).is_some_and(|timer| timer.starts_with("02:"))
    })
}

fn until_present(server: &Server) {
    until("the response is held", || server.text("/count") == "1");
}

#[test]
fn held_clients_of_http_1_0_and_1_1_are_probed_and_others_are_not() {
    for version in ["1.0", "1.1"] {
        let server = serve();
        let mut idle = server.connect();
        idle.raw("GET /count HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_eq!(idle.response().text(), "0");
        assert!(!probes_a_client(&server), "{version}: an idle connection");
        let mut held = server.connect();
        held.raw(format!("GET /held HTTP/{version}\r\nHost: x\r\n\r\n"));
        until_present(&server);
        until("the kernel probes", || probes_a_client(&server));
    }
}

#[test]
fn held_clients_of_http_2_are_probed() {
    let server = serve();
    let mut client = Http2Client::open(&server);
    let request = Request::get(format!("http://127.0.0.1:{}/held", server.site.port)).body(()).expect("a request");
    let _held = client.send(request);
    until_present(&server);
    until("the kernel probes", || probes_a_client(&server));
}
