//! `CONNECT` of the forward proxy: mod_proxy_connect. beside_httpd/mod_proxy.txt has httpd's answers.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread::spawn;

use super::Backend;
use crate::support::{Connection, Request, Response, Server, Site, until};

/// A server that sends back what it gets, and ends when its client does.
struct Echo {
    port: u16,
    connections: std::sync::Arc<std::sync::atomic::AtomicUsize>,
}

impl Echo {
    fn new() -> Echo {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("our own socket").port();
        let connections = std::sync::Arc::<std::sync::atomic::AtomicUsize>::default();
        let count = connections.clone();
        spawn(move || {
            for mut stream in listener.incoming().flatten() {
                count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                spawn(move || {
                    let _ = std::io::copy(&mut stream.try_clone().expect("a descriptor"), &mut stream);
                    let _ = stream.shutdown(Shutdown::Both);
                });
            }
        });
        Echo { port, connections }
    }

    fn connections(&self) -> usize {
        self.connections.load(std::sync::atomic::Ordering::Relaxed)
    }
}

const CLIENTS: &str = "<Proxy \"*\">\nRequire ip 127.0.0.1\n</Proxy>\n";

fn serve(conf: &str) -> Server {
    Site::new().serve(&format!("ServerName localhost\nCustomLog access.log \"%r %s %I %O\"\nProxyRequests On\n{conf}"))
}

fn open(server: &Server, target: &str) -> Connection {
    let mut client = server.connect();
    client.raw(format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n"));
    client
}

fn connect(server: &Server, target: &str) -> Response {
    server.send(Request::new("CONNECT", target))
}

#[test]
fn bytes_flow_both_ways_after_connect() {
    let echo = Echo::new();
    let server = serve(&format!("AllowCONNECT {}\n{CLIENTS}", echo.port));
    let target = format!("127.0.0.1:{}", echo.port);
    for version in ["1.1", "1.0"] {
        let mut client = server.connect();
        client.raw(format!("CONNECT {target} HTTP/{version}\r\nHost: x\r\n\r\n"));
        let head = client.head();
        assert_eq!(head.status, 200);
        for name in ["Content-Length", "Transfer-Encoding", "Connection"] {
            assert_eq!(head.header(name), None, "{head:?}");
        }
        for text in ["\x16\x03\x01 a handshake", "\0\r\n\r\nGET /x HTTP/1.1\r\n\r\n"] {
            client.raw(text);
            client.expect(text);
        }
        client.finish_sending();
        client.is_closed();
    }
    until("both tunnels are logged", || server.site.read("access.log").lines().count() == 2);
    let log = server.site.read("access.log");
    assert!(log.starts_with(&format!("CONNECT {target} HTTP/1.1 200 ")), "{log}");
    let counts: Vec<u64> =
        log.lines().flat_map(|line| line.split(' ').skip(4)).map(|n| n.parse().expect("a count")).collect();
    assert!(counts.len() == 4 && counts.iter().all(|count| *count > 50), "{log}");
}

#[test]
fn a_secure_server_is_reached_through_the_proxy() {
    let site = Site::new().certificate("localhost", &["localhost"]).file("htdocs/a.txt", "secret text");
    let secure = site.serve("SSLEngine On\nSSLCertificateFile localhost.crt\nSSLCertificateKeyFile localhost.key\n");
    let server = serve(&format!("AllowCONNECT {}\n{CLIENTS}", secure.site.port));
    let curl = crate::http2::curl(
        &secure,
        &["-x", &format!("http://127.0.0.1:{}", server.site.port), "--noproxy", "", "https://localhost:@PORT@/a.txt"],
    );
    assert_eq!(curl.succeeded().out, "secret text");
}

#[test]
fn connect_is_refused_without_the_forward_proxy_and_to_other_ports() {
    let echo = Echo::new();
    let target = format!("127.0.0.1:{}", echo.port);
    let off = Site::new().serve(&format!("AllowCONNECT {}\n", echo.port));
    let refused = connect(&off, &target);
    assert_eq!(refused.status, 405);
    assert!(refused.header("Allow").is_some_and(|allowed| !allowed.contains("CONNECT")));
    let usual = serve(CLIENTS);
    assert_eq!(connect(&usual, &target).status, 403);
    usual.logged(&format!("CONNECT {target}: AllowCONNECT does not list the port"));
    // 443 is allowed, and nobody listens on it.
    assert_eq!(connect(&usual, "127.0.0.1:443").status, 503);
    let range = serve(&format!("AllowCONNECT 1-2 {}-{}\n{CLIENTS}", echo.port, echo.port));
    assert_eq!(connect(&range, "127.0.0.1:443").status, 403);
    assert_eq!(open(&range, &target).head().status, 200);
    until("the server has the only connection", || echo.connections() == 1);
}

#[test]
fn sections_of_proxy_decide_who_may_connect_to_which_server() {
    let echo = Echo::new();
    let port = echo.port;
    let server = serve(&format!(
        "AllowCONNECT {port}\n{CLIENTS}<Proxy \"LocalHost.:0{port}\">\nRequire all denied\n</Proxy>\n\
         <If \"%{{REQUEST_URI}} =~ m#^127.0.0.1:{port}# && %{{HTTP:X-No}} == '1'\">\nRequire all denied\n</If>\n\
         <Location />\nRequire all denied\n</Location>\n"
    ));
    for target in ["localhost", "LOCALHOST", "localhost."] {
        assert_eq!(connect(&server, &format!("{target}:{port}")).status, 403, "{target}");
    }
    let target = format!("127.0.0.1:{port}");
    assert_eq!(server.send_as("127.0.0.2", Request::new("CONNECT", &target)).status, 403);
    assert_eq!(server.send(Request::new("CONNECT", &target).header("X-No", "1")).status, 403);
    assert_eq!(echo.connections(), 0);
    assert_eq!(open(&server, &target).head().status, 200);
}

#[test]
fn a_blocked_server_is_blocked_for_connect_too() {
    let echo = Echo::new();
    let port = echo.port;
    let server = serve(&format!("ProxyBlock 127.0.0.1 secret\nAllowCONNECT 1-65535\n{CLIENTS}"));
    for host in ["127.0.0.1", "localhost", "a.SECRET.example"] {
        assert_eq!(connect(&server, &format!("{host}:{port}")).status, 403, "{host}");
    }
    assert_eq!(echo.connections(), 0);
}

#[test]
fn a_connect_that_names_no_server_or_has_content_is_refused() {
    let echo = Echo::new();
    let port = echo.port;
    let server = serve(&format!("AllowCONNECT 1-65535\n{CLIENTS}"));
    let long = format!("{}:{port}", "a".repeat(7000));
    for target in [
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:0",
        "127.0.0.1:65536",
        "/x:443",
        "http://127.0.0.1/",
        "*",
        "user@127.0.0.1:443",
        "127.0.0.1:443/path?q",
        &format!("127.1:{port}"),
        &format!("0x7f000001:{port}"),
        &format!("2130706433:{port}"),
        &format!("0.0.0.0:{port}"),
        &format!("[::ffff:7f00:1]:{port}"),
        &format!("127.0.0.1:{port}\t"),
    ] {
        let mut client = server.connect();
        client.raw(format!("CONNECT {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
        assert_eq!(client.response().status, 400, "{target}");
    }
    assert!(connect(&server, &long).status >= 400);
    for field in
        ["Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "Content-Length: 0\r\n\r\n"]
    {
        let mut client = server.connect();
        client.raw(format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: x\r\n{field}"));
        assert_eq!(client.response().status, 400, "{field}");
    }
    assert_eq!(echo.connections(), 0);
}

#[test]
fn bytes_before_the_answer_are_never_a_request_of_the_server() {
    let echo = Echo::new();
    let server = serve(&format!("AllowCONNECT {}\n{CLIENTS}", echo.port));
    let mut client = server.connect();
    client.raw(format!(
        "CONNECT 127.0.0.1:{} HTTP/1.1\r\nHost: x\r\n\r\nGET /early HTTP/1.1\r\nHost: x\r\n\r\n",
        echo.port
    ));
    let rest = client.rest();
    let rest = String::from_utf8_lossy(&rest);
    assert!(!rest.contains("404") && rest.matches("HTTP/1.1").count() <= 2, "{rest}");
    assert!(!server.site.read("access.log").contains("/early"));
}

#[test]
fn a_tunnel_ends_with_silence_and_with_its_client() {
    let echo = Echo::new();
    let server = serve(&format!("AllowCONNECT {}\nProxyTimeout 1\n{CLIENTS}", echo.port));
    let mut client = open(&server, &format!("127.0.0.1:{}", echo.port));
    assert_eq!(client.head().status, 200);
    client.is_closed();

    // A server that never ends its side, and never sends.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("our own socket").port();
    let held = spawn(move || listener.incoming().flatten().take(1).collect::<Vec<TcpStream>>());
    let server = serve(&format!("AllowCONNECT {port}\nProxyTimeout 10000\n{CLIENTS}"));
    let mut client = open(&server, &format!("127.0.0.1:{port}"));
    assert_eq!(client.head().status, 200);
    drop(client);
    until("the tunnel is logged", || server.site.read("access.log").contains("CONNECT"));
    drop(held.join());
}

#[test]
fn a_half_closed_tunnel_carries_the_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("our own socket").port();
    spawn(move || {
        let (mut stream, _) = listener.accept().expect("the proxy connects");
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        let _ = stream.write_all(format!("{} bytes", all.len()).as_bytes());
    });
    let server = serve(&format!("AllowCONNECT {port}\n{CLIENTS}"));
    let mut client = open(&server, &format!("127.0.0.1:{port}"));
    assert_eq!(client.head().status, 200);
    client.raw("x".repeat(100_000));
    client.finish_sending();
    assert_eq!(String::from_utf8_lossy(&client.rest()), "100000 bytes");
}

#[test]
fn the_other_proxy_connects() {
    let echo = Echo::new();
    let far = serve(&format!(
        "AllowCONNECT {}\n<Proxy \"*\">\nAuthType Basic\nAuthName far\nAuthUserFile @DIR@/users\nRequire valid-user\n</Proxy>\n",
        echo.port
    ));
    std::fs::write(far.site.path("users"), "ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n").expect("a file");
    let near =
        serve(&format!("AllowCONNECT {}\nProxyRemote * http://127.0.0.1:{}\n{CLIENTS}", echo.port, far.site.port));
    let target = format!("127.0.0.1:{}", echo.port);
    let refused = connect(&near, &target);
    assert_eq!((refused.status, refused.header("Proxy-Authenticate").as_deref()), (407, Some("Basic realm=\"far\"")));
    let mut client = near.connect();
    client.raw(format!("CONNECT {target} HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic YW5uOnNlY3JldA==\r\n\r\n"));
    assert_eq!(client.head().status, 200);
    client.raw("through two proxies");
    client.expect("through two proxies");
}

#[test]
fn an_other_proxy_that_answers_no_http_is_502() {
    let proxy = Backend::with(|stream, _| {
        let _ = stream.write_all(b"SSH-2.0-OpenSSH\r\n");
        false
    });
    let server = serve(&format!("ProxyRemote * {}\n{CLIENTS}", proxy.url("")));
    assert_eq!(connect(&server, "a.example:443").status, 502);
    assert_eq!(proxy.only().line(), "CONNECT a.example:443 HTTP/1.1");
}

#[test]
fn http_2_has_no_connect() {
    let echo = Echo::new();
    let server = serve(&format!("Protocols h2c http/1.1\nAllowCONNECT {}\n{CLIENTS}", echo.port));
    let mut client = crate::http2::raw::Raw::open(&server, &[]);
    let target = format!("127.0.0.1:{}", echo.port);
    let fields = [(":method", "CONNECT"), (":authority", target.as_str())];
    let block: Vec<u8> = fields.iter().flat_map(|(name, value)| crate::http2::raw::literal(name, value)).collect();
    client.send(crate::http2::raw::HEADERS, crate::http2::raw::END_HEADERS, 1, &block);
    assert!(client.refuses(1));
    assert_eq!(echo.connections(), 0);
}

#[test]
fn check_refuses_ports_that_are_none() {
    let site = Site::new();
    for ports in ["0", "65536", "5-3", "x", "1-", "443,563", "+443"] {
        site.configure(&format!("ProxyRequests On\n{CLIENTS}AllowCONNECT {ports}"));
        site.cameleer(["check", "-f", "site.conf"]).failed(78, "AllowCONNECT: expected a port from 1 to 65535");
    }
}

#[test]
fn a_connect_in_a_loop_of_proxies_is_answered_508() {
    let (first, second) = (Site::new(), Site::new());
    let conf = |to: u16| {
        format!("ServerName localhost\nProxyRequests On\nProxyRemote * http://127.0.0.1:{to}\n<Proxy *>\n</Proxy>")
    };
    let (to_first, to_second) = (conf(first.port), conf(second.port));
    let (first, second) = (first.serve(&to_second), second.serve(&to_first));
    assert_eq!(connect(&first, "nowhere.example:443").status, 508);
    first.logged("nowhere.example:443 is not forwarded: it has passed through this server before");
    second.logged("the other proxy answers 508");
}

#[test]
fn the_other_proxy_gets_the_checked_target_and_the_marks_of_those_before() {
    let proxy = Backend::new(|_| b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n".to_vec());
    let server = serve(&format!("ProxyRemote * {}\n{CLIENTS}", proxy.url("")));
    let request = Request::new("CONNECT", "A.Example.:0443").header("CDN-Loop", "before.example");
    assert_eq!(server.send(request.header("X-Other", "stays here")).status, 403);
    let received = proxy.only();
    assert_eq!((received.line(), received.field("Host")), ("CONNECT a.example:443 HTTP/1.1", "a.example:443"));
    let marks = received.all("CDN-Loop").join(", ");
    assert!(marks.starts_with("before.example, cameleer-"), "{marks}");
    assert_eq!(received.field("X-Other"), "");
}
