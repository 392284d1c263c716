//! Clients that leave: the request at the backend ends at once, as in nginx, and its connection carries no other.
//! `ProxyTimeout` is longer than a test may take.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::spawn;

use nix::libc::linger;
use nix::sys::socket::{setsockopt, sockopt};

use super::{Backend, ok};
use crate::fastcgi::application::{Application, end, output, read, record};
use crate::http2::raw::{CANCEL, DATA, END_HEADERS, HEADERS, RST_STREAM, Raw, head};
use crate::support::{Request, Server, Site, until};

const LONG: &str = "ProxyTimeout 10000\nTimeout 10000\nFrontThreads 1\nProtocols h2c http/1.1\n";

/// A backend that answers requests for `/whole`, begins an answer to those for `/begun`, and waits for the end of the
/// connection of all others.
struct Watchful {
    backend: Backend,
    ended: Arc<AtomicUsize>,
}

impl Watchful {
    fn new() -> Watchful {
        let ended = Arc::new(AtomicUsize::new(0));
        let count = ended.clone();
        let backend = Backend::with(move |stream, request| {
            if request.line().contains("/whole") {
                return stream.write_all(&ok("whole")).is_ok();
            }
            if request.line().contains("/begun") {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
            }
            until_closed(stream);
            count.fetch_add(1, Ordering::Relaxed);
            false
        });
        Watchful { backend, ended }
    }

    fn is_asked(&self, requests: usize) {
        until("the backend has the request", || self.backend.received().len() == requests);
    }

    fn is_left(&self, times: usize) {
        until("the backend's connection ends", || self.ended.load(Ordering::Relaxed) == times);
    }
}

fn until_closed(stream: &mut TcpStream) {
    while stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {}
}

fn serve(conf: &str) -> Server {
    Site::new().serve(&format!("ServerName localhost\nCustomLog access.log \"%s %U %X\"\n{LONG}{conf}"))
}

fn connect(server: &Server) -> TcpStream {
    TcpStream::connect(("127.0.0.1", server.site.port)).expect("the server accepts")
}

/// Sends the head of a request, and reads the begin of the response if there is one.
fn begin(server: &Server, head: &str, has_answer: bool) -> TcpStream {
    let mut client = connect(server);
    client.write_all(head.as_bytes()).expect("the server reads");
    let mut seen = Vec::new();
    while has_answer && !seen.ends_with(b"half") {
        let mut byte = [0];
        client.read_exact(&mut byte).expect("the begin of a response");
        seen.push(byte[0]);
    }
    client
}

#[test]
fn a_client_that_closes_ends_the_request_before_and_within_the_response() {
    let watchful = Watchful::new();
    let server = serve(&format!("ProxyPass / {}\n", watchful.backend.url("/")));
    for (number, target) in ["/silent", "/begun"].into_iter().enumerate() {
        let client = begin(&server, &format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n"), target == "/begun");
        watchful.is_asked(number + 1);
        drop(client);
        watchful.is_left(number + 1);
    }
    assert_eq!(server.text("/whole"), "whole");
    assert_eq!(watchful.backend.connections(), 3, "no connection is used again");
    until("both requests are logged", || server.site.read("access.log").lines().count() == 3);
}

#[test]
fn a_client_that_closes_only_its_own_side_counts_as_gone() {
    let watchful = Watchful::new();
    let server = serve(&format!("ProxyPass / {}\n", watchful.backend.url("/")));
    let mut client = server.connect();
    client.raw("GET /whole HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(client.response().status, 200);
    client.raw("GET /silent HTTP/1.1\r\nHost: x\r\n\r\n");
    watchful.is_asked(2);
    client.finish_sending();
    watchful.is_left(1);
    client.is_closed();
}

#[test]
fn a_client_that_leaves_its_upload_ends_the_request() {
    let watchful = Watchful::new();
    let server = serve(&format!("ProxyPass / {}\n", watchful.backend.url("/")));
    for (number, framing) in
        ["Content-Length: 10\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"].into_iter().enumerate()
    {
        let client = begin(&server, &format!("POST /upload HTTP/1.1\r\nHost: x\r\n{framing}"), false);
        until("the backend has a connection", || watchful.backend.connections() == number + 1);
        drop(client);
        until("the request is logged", || server.site.read("access.log").lines().count() == number + 1);
    }
    // A whole upload whose response does not come.
    let client = begin(&server, "POST /silent HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nhalf", false);
    until("the backend has the upload", || watchful.backend.received().iter().any(|it| it.line().contains("/silent")));
    drop(client);
    until("the request is logged", || server.site.read("access.log").lines().count() == 3);
}

#[test]
fn a_client_that_resets_an_upload_that_the_backend_does_not_take_ends_the_request() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("our own socket").port();
    // The backend accepts connections and reads nothing.
    let held = spawn(move || listener.incoming().flatten().take(1).collect::<Vec<_>>());
    let server = serve(&format!("ProxyPass / http://127.0.0.1:{port}/\n"));
    let mut client = begin(&server, "POST /stuck HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n", false);
    client.set_write_timeout(Some(std::time::Duration::from_millis(300))).expect("a time limit");
    while client.write(&[b'x'; 1 << 16]).is_ok() {}
    setsockopt(&client.as_fd(), sockopt::Linger, &linger { l_onoff: 1, l_linger: 0 }).expect("a socket");
    drop(client);
    until("the request is logged", || {
        server.site.has("access.log") && server.site.read("access.log").contains("/stuck")
    });
    drop(held.join());
}

#[test]
fn a_stream_that_is_reset_and_a_connection_that_closes_end_the_requests_over_http_2() {
    let watchful = Watchful::new();
    let server = serve(&format!("ProxyPass / {}\n", watchful.backend.url("/")));
    let mut client = Raw::open(&server, &[]);
    client.get(1, "/silent");
    client.get(3, "/begun");
    client.until(|frame| frame.kind == DATA && frame.stream == 3);
    watchful.is_asked(2);
    for (stream, times) in [(1, 1), (3, 2)] {
        client.send(RST_STREAM, 0, stream, &CANCEL.to_be_bytes());
        watchful.is_left(times);
    }
    // An upload of which a part has come.
    let post = head(&[(":method", "POST")], "/upload");
    client.send(HEADERS, END_HEADERS, 5, &post[b"\0\x07:method\x03GET".len()..]);
    client.send(DATA, 0, 5, b"half");
    until("the backend has a third connection", || watchful.backend.connections() == 3);
    client.send(RST_STREAM, 0, 5, &CANCEL.to_be_bytes());
    client.get(7, "/silent");
    until("the backend has a fourth connection", || watchful.backend.connections() == 4);
    drop(client);
    until("all requests are logged", || server.site.read("access.log").lines().count() == 4);
    assert_eq!(server.text("/whole"), "whole");
    assert_eq!(watchful.backend.connections(), 5, "no connection is used again");
}

#[test]
fn a_client_with_tls_that_leaves_ends_the_request() {
    let watchful = Watchful::new();
    let server = Site::new().certificate("localhost", &["localhost"]).serve(&format!(
        "{LONG}SSLEngine On\nSSLCertificateFile localhost.crt\nSSLCertificateKeyFile localhost.key\nProxyPass / {}\n",
        watchful.backend.url("/")
    ));
    for (number, protocol) in ["--http1.1", "--http2"].into_iter().enumerate() {
        let url = format!("https://localhost:{}/silent", server.site.port);
        let mut curl = std::process::Command::new("curl");
        curl.args(["-sS", "-k", "--noproxy", "*", protocol, &url]);
        let mut curl = curl.spawn().expect("curl is installed");
        watchful.is_asked(number + 1);
        curl.kill().expect("it runs");
        curl.wait().expect("our own child");
        watchful.is_left(number + 1);
    }
}

#[test]
fn a_client_of_the_forward_proxy_that_leaves_ends_the_request() {
    let watchful = Watchful::new();
    let server = serve("ProxyRequests On\n<Proxy \"*\">\nRequire ip 127.0.0.1\n</Proxy>\n");
    let url = watchful.backend.url("/silent");
    let client = begin(&server, &format!("GET {url} HTTP/1.1\r\nHost: x\r\n\r\n"), false);
    watchful.is_asked(1);
    drop(client);
    watchful.is_left(1);
}

#[test]
fn a_client_that_leaves_a_websocket_ends_it_although_the_backend_does_not() {
    let watchful = Watchful::new();
    let count = watchful.ended.clone();
    let backend = Backend::with(move |stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
        until_closed(stream);
        count.fetch_add(1, Ordering::Relaxed);
        // The backend keeps its own side open.
        std::thread::park();
        false
    });
    let server = serve(&format!("ProxyPass / {}\n", backend.url("/").replace("http:", "ws:")));
    let mut client = server.connect();
    client.raw("GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    assert_eq!(client.head().status, 101);
    drop(client);
    watchful.is_left(1);
    until("the tunnel is logged", || server.site.has("access.log") && server.site.read("access.log").contains("101 "));
}

#[test]
fn a_client_of_a_fastcgi_application_that_leaves_ends_the_request() {
    let (begun, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counts = (begun.clone(), ended.clone());
    let application = Application::with(move |stream| {
        let Some((request, _)) = read(stream) else { return };
        if String::from_utf8_lossy(&request).contains("/begun") {
            let _ = stream.write_all(&record(6, b"Content-Length: 100\r\n\r\nhalf"));
        }
        counts.0.fetch_add(1, Ordering::Relaxed);
        until_closed(stream);
        counts.1.fetch_add(1, Ordering::Relaxed);
    });
    let server = serve(&format!("ProxyPass / {}\n", application.url("/")));
    for (number, target) in ["/silent", "/begun"].into_iter().enumerate() {
        let client = begin(&server, &format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n"), target == "/begun");
        until("the application has the request", || begun.load(Ordering::Relaxed) == number + 1);
        drop(client);
        until("its connection ends", || ended.load(Ordering::Relaxed) == number + 1);
    }
}

#[test]
fn a_response_that_is_being_stored_is_stored_although_its_client_leaves() {
    let (begun, go) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let states = (begun.clone(), go.clone());
    let backend = Backend::with(move |stream, _| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 8\r\n\r\nhalf");
        states.0.fetch_add(1, Ordering::Relaxed);
        until("the client has left", || states.1.load(Ordering::Relaxed) == 1);
        stream.write_all(b"half").is_ok()
    });
    let server = serve(&format!("CacheEnable memory /\nProxyPass / {}\n", backend.url("/")));
    let client = begin(&server, "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n", true);
    client.shutdown(Shutdown::Both).expect("an open connection");
    drop(client);
    until("the request is logged", || server.site.has("access.log") && server.site.read("access.log").contains("/a"));
    go.store(1, Ordering::Relaxed);
    assert_eq!(server.send(Request::get("/a")).is(200).text(), "halfhalf");
    assert_eq!(backend.received().len(), 1);
}

#[test]
fn a_client_that_closes_only_its_own_side_gets_its_response_with_the_variable_for_it() {
    let watchful = Watchful::new();
    let (begun, go) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let states = (begun.clone(), go.clone());
    let wait = Arc::new(move || {
        states.0.fetch_add(1, Ordering::Relaxed);
        until("the other client's departure is noticed", || states.1.load(Ordering::Relaxed) == 1);
    });
    let waits = wait.clone();
    let late = Backend::with(move |stream, _| {
        waits();
        stream.write_all(&ok("late")).is_ok()
    });
    let application = Application::new(move |_| {
        wait();
        [output(b"Content-Type: text/plain\r\n\r\nlate"), end()].concat()
    });
    let server = serve(&format!(
        "ProxyPass /late/fcgi/ {}\nProxyPass /late/ {}\nProxyPass / {}\n\
         <Location /late>\nSetEnv proxy-ignore-client-abort 1\n</Location>\n",
        application.url("/"),
        late.url("/"),
        watchful.backend.url("/")
    ));
    let requests = [
        "GET /late/a HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /late/fcgi/a HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /late/b HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody",
    ];
    let mut clients = requests.map(|request| {
        let mut client = server.connect();
        client.raw(request);
        client.finish_sending();
        client
    });
    until("the backends have all requests", || begun.load(Ordering::Relaxed) == requests.len());
    a_departure_is_noticed(&server, &watchful);
    go.store(1, Ordering::Relaxed);
    for client in &mut clients {
        assert_eq!(client.response().is(200).text(), "late");
        client.is_closed();
    }
}

/// A client closes its own side, and the thread, which has one loop for all clients, notices.
fn a_departure_is_noticed(server: &Server, watchful: &Watchful) {
    let mut other = server.connect();
    other.raw("GET /silent HTTP/1.1\r\nHost: x\r\n\r\n");
    watchful.is_asked(1);
    other.finish_sending();
    watchful.is_left(1);
}

#[test]
fn a_client_that_closes_only_its_own_side_gets_the_response_of_this_server_in_place_of_a_backends() {
    const APP: &str = "sub { open my $f, '>>', '@DIR@/begun'; print $f 'x'; close $f;\n\
        select undef, undef, undef, 0.01 until -e '@DIR@/go'; [200, [], ['late']] }";
    let watchful = Watchful::new();
    let refusing = Backend::new(|_| b"HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno".to_vec());
    let unasked = Backend::new(|_| b"HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n".to_vec());
    let local = Application::new(|_| [output(b"Location: /slow/a\r\n\r\n"), end()].concat());
    let server = Site::new()
        .file("app.psgi", APP)
        .file("htdocs/page.shtml", "<!--#include virtual=\"/over/a\" --><!--#include virtual=\"/slow/a\" -->")
        .serve(&format!(
            "ServerName localhost\n{LONG}StartServers 5\nMinSpareServers 5\nMaxSpareServers 5\nMaxClients 5\nAddOutputFilter INCLUDES .shtml\nOptions +Includes\n\
             <Location /slow>\nPsgiApp app.psgi\n</Location>\n<Location /page.shtml>\nSetHandler default-handler\n</Location>\n\
             ErrorDocument 503 /slow/a\nErrorDocument 502 /slow/a\nProxyErrorOverride On\n\
             ProxyPass /slow !\nProxyPass /page.shtml !\nProxyPass /over/ {}\nProxyPass /unasked/ {}\nProxyPass /local/ {}\n\
             ProxyPass / {}\n",
            refusing.url("/"),
            unasked.url("/"),
            local.url("/"),
            watchful.backend.url("/")
        ));
    let targets = ["/over/a", "/unasked/a", "/local/a", "/page.shtml"];
    let mut clients = targets.map(|target| {
        let mut client = server.connect();
        client.raw(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        client
    });
    until("all wait for the program", || server.site.read("begun").len() == targets.len());
    clients.iter_mut().for_each(crate::support::Connection::finish_sending);
    a_departure_is_noticed(&server, &watchful);
    server.site.write("go", "");
    for (client, target) in clients.iter_mut().zip(targets) {
        let text = client.response().text();
        assert!(text.ends_with("late"), "{target}: {text}");
    }
}
