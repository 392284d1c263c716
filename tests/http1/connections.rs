//! Keep-alive, pipelining, closing, listeners.

use super::serve;
use crate::support::{Address, Connection, Request, Server, Site, until};

#[test]
fn a_connection_carries_many_requests() {
    let server = serve("");
    let mut connection = server.connect();
    for n in 0..50 {
        assert_eq!(connection.ask(Request::get(&format!("/{n}"))).text(), format!("GET /{n} "));
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = serve("");
    let mut connection = server.connect();
    let requests: String = (0..20).map(|n| format!("GET /{n} HTTP/1.1\r\nHost: localhost\r\n\r\n")).collect();
    connection.raw(requests);
    for n in 0..20 {
        assert_eq!(connection.response().text(), format!("GET /{n} "));
    }
}

#[test]
fn connection_close_closes_and_is_sent_back() {
    let server = serve("");
    let mut connection = server.connect();
    let response = connection.ask(Request::get("/").header("Connection", "close"));
    assert_eq!(response.header("connection").as_deref(), Some("close"));
    connection.is_closed();
}

#[test]
fn an_http_1_0_client_is_closed_unless_it_asks_to_be_kept() {
    let server = serve("");
    let mut connection = server.connect();
    connection.raw("GET /a HTTP/1.0\r\n\r\n");
    assert_eq!(connection.response().text(), "GET /a ");
    connection.is_closed();
    let mut kept = server.connect();
    for path in ["/b", "/c"] {
        kept.raw(format!("GET {path} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
        let response = kept.response();
        assert_eq!(response.header("connection").map(|c| c.to_lowercase()).as_deref(), Some("keep-alive"));
        assert_eq!(response.text(), format!("GET {path} "));
    }
}

#[test]
fn keep_alive_off_closes_after_each_answer() {
    let server = serve("KeepAlive Off");
    let mut connection = server.connect();
    connection.ask(Request::get("/"));
    connection.is_closed();
}

#[test]
fn max_keep_alive_requests_closes_after_so_many() {
    let server = serve("MaxKeepAliveRequests 3");
    let mut connection = server.connect();
    for _ in 0..2 {
        assert_eq!(connection.ask(Request::get("/")).header("connection"), None);
    }
    assert_eq!(connection.ask(Request::get("/")).header("connection").as_deref(), Some("close"));
    connection.is_closed();
}

#[test]
fn keep_alive_timeout_closes_an_idle_connection() {
    let server = serve("KeepAliveTimeout 200ms");
    let mut connection = server.connect();
    connection.ask(Request::get("/"));
    connection.is_closed();
}

#[test]
fn timeout_ends_a_request_that_never_becomes_whole() {
    let server = serve("Timeout 300ms");
    let mut connection = server.connect();
    connection.raw("GET / HTTP/1.1\r\nHost: loc");
    let output = String::from_utf8_lossy(&connection.rest()).into_owned();
    assert!(output.is_empty() || output.starts_with("HTTP/1.1 408 "), "{output}");
    let mut body = server.connect();
    body.raw("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nonly this");
    let output = String::from_utf8_lossy(&body.rest()).into_owned();
    assert!(output.is_empty() || output.starts_with("HTTP/1.1 408 "), "{output}");
}

/// The head names the host, so the main server's Timeout holds for it.
#[test]
fn a_virtual_host_has_its_own_timeout() {
    let server = serve(
        "Timeout 100s\n<VirtualHost *>\nServerName localhost\n</VirtualHost>\n\
         <VirtualHost *>\nServerName short.example\nTimeout 300ms\n</VirtualHost>",
    );
    let mut patient = server.connect();
    patient.raw("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\na");
    let mut short = server.connect();
    short.raw("POST / HTTP/1.1\r\nHost: short.example\r\nContent-Length: 100\r\n\r\nonly this");
    let output = String::from_utf8_lossy(&short.rest()).into_owned();
    assert!(output.is_empty() || output.starts_with("HTTP/1.1 408 "), "{output}");
    patient.raw("bc");
    assert_eq!(patient.response().status, 200);
}

#[test]
fn idle_connections_hold_no_worker() {
    let server = serve("MaxClients 1");
    let idle: Vec<Connection> = (0..50).map(|_| server.connect()).collect();
    let mut half: Connection = server.connect();
    half.raw("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhal");
    assert_eq!(server.text("/"), "GET / ");
    drop(idle);
}

#[test]
fn a_head_that_arrives_byte_by_byte_is_understood() {
    let server = serve("");
    let mut connection = server.connect();
    for byte in b"POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc" {
        connection.raw([*byte]);
    }
    assert_eq!(connection.response().text(), "POST /slow abc");
}

#[test]
fn a_unix_socket_is_a_listener_like_any_other() {
    let mut server = serve("Listen \"@DIR@/http.sock\"");
    server.address = Address::Unix(server.site.path("http.sock"));
    assert_eq!(server.text("/unix"), "GET /unix ");
    let path = server.site.path("http.sock");
    server.signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
    assert!(!path.exists(), "its file is removed at the end");
}

#[test]
fn a_client_of_a_unix_socket_has_no_address_in_the_error_log() {
    let site = Site::new().file("app.psgi", "sub { warn \"from $_[0]{REMOTE_ADDR}\\n\"; [200, [], []] }");
    let mut server = site.serve("Listen \"@DIR@/http.sock\"\n<Location />\nPsgiApp app.psgi\n</Location>");
    server.get("/").is(200);
    server.logged("[client 127.0.0.1:");
    server.address = Address::Unix(server.site.path("http.sock"));
    server.get("/").is(200);
    assert!(server.logged("[client unix:]").ends_with("from 127.0.0.1"), "{}", server.log());
}

#[test]
fn a_socket_file_that_a_killed_server_left_is_taken_over() {
    let site = Site::new().file("app.psgi", super::ECHO);
    drop(std::os::unix::net::UnixListener::bind(site.path("run.sock")).expect("bound"));
    let path = site.path("run.sock");
    let command = {
        let mut command = site.command(["run", "--workers", "1", "-l"]);
        command.arg(&path).arg("app.psgi");
        command
    };
    let mut server = Server::start(site, command);
    server.address = Address::Unix(path);
    assert_eq!(server.text("/"), "GET / ");
}

#[test]
fn several_listeners_serve_the_same_site() {
    let other = Site::new();
    let server = serve(&format!("Listen 127.0.0.1:{}", other.port));
    let mut connection = Connection::open(&Address::Tcp(other.port)).expect("the second listener");
    assert_eq!(connection.ask(Request::get("/second")).text(), "GET /second ");
    assert_eq!(server.text("/first"), "GET /first ");
}

#[test]
fn virtual_hosts_are_selected_by_name() {
    let site = Site::new().file("one/a.txt", "one\n").file("two/a.txt", "two\n").file("htdocs/a.txt", "main\n");
    let server = site.serve(
        "<VirtualHost *:@PORT@>\nServerName one.example\nServerAlias uno.example *.uno.example\nDocumentRoot one\n</VirtualHost>\n\
         <VirtualHost *:@PORT@>\nServerName two.example\nDocumentRoot two\n</VirtualHost>",
    );
    for (host, body) in
        [("one.example", "one\n"), ("two.example:80", "two\n"), ("a.uno.example", "one\n"), ("TWO.EXAMPLE", "two\n")]
    {
        assert_eq!(server.send(Request::get("/a.txt").header("Host", host)).text(), body, "{host}");
    }
    assert_eq!(
        server.send(Request::get("/a.txt").header("Host", "unknown")).text(),
        "one\n",
        "the first is the default"
    );
}

/// A handler that answers `/slow` when the file `go` exists, and prints whether its client has disconnected.
const SLOW: &str = "package Slow; sub handler { my $r = shift; $r->send_http_header('text/plain');
    if ($r->uri eq '/slow') { open my $f, '>', '@DIR@/begun'; close $f; select undef, undef, undef, 0.01 until -e '@DIR@/go' }
    $r->print($r->uri, ' ', $r->connection->aborted ? 1 : 0, \"\\n\"); 0 } 1;";

fn serve_slow(conf: &str) -> Server {
    Site::new().file("lib/Slow.pm", SLOW).file("htdocs/files/a.txt", "a file").serve(&format!(
        "PerlLib lib\n<Location />\nSetHandler perl-script\nPerlHandler Slow\n</Location>\n\
        <Location /files>\nSetHandler default-handler\n</Location>\n{conf}"
    ))
}

#[test]
fn a_client_that_ends_its_half_gets_its_answers() {
    let server = serve_slow("");
    for version in ["1.1", "1.0"] {
        for (path, answer) in [("/quick", "/quick "), ("/files/a.txt", "a file")] {
            let mut half = server.connect();
            half.raw(format!("GET {path} HTTP/{version}\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
            half.finish_sending();
            assert!(half.response().text().starts_with(answer), "{path} HTTP/{version}");
            half.is_closed();
        }
    }
    let mut half = server.connect();
    half.raw("GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(5));
    half.finish_sending();
    (0..5).for_each(|n| assert!(half.response().text().starts_with("/1 "), "answer {n}"));
    half.is_closed();
}

#[test]
fn a_program_is_notified_of_a_half_closed_connection_and_its_response_arrives() {
    let server = serve_slow("MaxClients 1\nStartServers 1");
    let mut half = server.connect();
    half.raw("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the request runs", || server.site.has("begun"));
    let mut queued = server.connect();
    queued.raw("GET /queued HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the second request is queued", || server.status()["front"]["queued"] == 1);
    queued.finish_sending();
    until("the queued request is dropped", || server.status()["front"]["queued"] == 0);
    half.finish_sending();
    server.site.write("go", "");
    let text = half.response().text();
    assert!(text == "/slow 1\n" || text == "/slow 0\n", "{text}");
    half.is_closed();
    queued.is_closed();
    assert_eq!(server.text("/next"), "/next 0\n");
}
