//! Backends of HTTP/2: `h2c://` and `h2://` (mod_proxy_http2).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::http2_backend::{Http2Backend, block, head, response};
use crate::http2::curl;
use crate::http2::raw::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, RST_STREAM, SETTINGS, WINDOW_UPDATE, frame,
    literal,
};
use crate::support::{Request, Server, Site, until};

const CANCEL: [u8; 4] = [0, 0, 0, 8];
const INTERNAL_ERROR: [u8; 4] = [0, 0, 0, 2];
const REFUSED_STREAM: [u8; 4] = [0, 0, 0, 7];
/// SETTINGS_MAX_CONCURRENT_STREAMS of 0, and SETTINGS_INITIAL_WINDOW_SIZE of 0.
const NO_STREAMS: [u8; 6] = [0, 3, 0, 0, 0, 0];
const NO_WINDOW: [u8; 6] = [0, 4, 0, 0, 0, 0];

/// An application that answers with what it gets, or with as many bytes as the path names.
const APP: &str = r#"use v5.36;
sub ($env) {
    my $path = $env->{PATH_INFO};
    return [200, ['Content-Type', 'text/plain'], ['x' x $1]] if $path =~ m{^/bytes/(\d+)};
    my $body = ''; 1 while $env->{'psgi.input'}->read($body, 65536, length $body);
    my @got = map { $env->{$_} // '-' } qw(REQUEST_METHOD SERVER_PROTOCOL psgi.url_scheme HTTP_HOST REQUEST_URI HTTP_X_FORWARDED_FOR HTTP_TE);
    return [200, ['Content-Type', 'text/plain'], ["@got ", length $body]];
}
"#;

fn application(conf: &str) -> Server {
    Site::new()
        .certificate("localhost", &["localhost"])
        .file("app.psgi", APP)
        .serve(&format!("<Location />\nPsgiApp app.psgi\n</Location>\nLimitRequestBody 0\n{conf}"))
}

fn serve(conf: &str) -> Server {
    Site::new().serve(&format!("FrontThreads 1\nProtocols h2c http/1.1\nLimitRequestBody 0\n{conf}"))
}

#[test]
fn a_backend_gets_requests_over_http_2() {
    let backend = application("Protocols h2c http/1.1\n");
    let port = backend.site.port;
    let server = serve(&format!("ProxyPass /app/ h2c://127.0.0.1:{port}/\n"));
    assert_eq!(server.text("/app/a?b"), format!("GET HTTP/2.0 http 127.0.0.1:{port} /a?b 127.0.0.1 - 0"));
    let te = server.send(Request::get("/app/a").header("TE", "gzip, trailers")).is(200).text();
    assert!(te.ends_with("trailers 0"), "{te}");
    let large = "x".repeat(3_000_000);
    for request in [
        Request::new("POST", "/app/up").body(&large),
        Request::new("POST", "/app/up").header("Expect", "100-continue").body(&large),
    ] {
        let text = server.send(request).is(200).text();
        assert!(text.starts_with("POST ") && text.ends_with(" 3000000"), "{text}");
    }
    let mut client = server.connect();
    client.raw("POST /app/up HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
    assert!(client.response().text().ends_with(" 5"));
    assert_eq!(server.send(Request::new("POST", "/app/up").body("")).is(200).text().split(' ').next_back(), Some("0"));
    assert_eq!(server.text("/app/bytes/5000000").len(), 5_000_000);
    assert_eq!(server.send(Request::new("HEAD", "/app/a")).status, 200);
}

#[test]
fn a_backend_with_tls_has_to_select_http_2() {
    const TLS: &str = "SSLEngine On\nSSLCertificateFile localhost.crt\nSSLCertificateKeyFile localhost.key\n";
    let (new, old) =
        (application(&format!("Protocols h2 http/1.1\n{TLS}")), application(&format!("Protocols http/1.1\n{TLS}")));
    let server = serve(&format!(
        "SSLProxyEngine On\nProxyPass /new/ h2://localhost:{}/\nProxyPass /old/ h2://localhost:{}/\n\
         ProxyPass /plain/ https://localhost:{}/\n",
        new.site.port, old.site.port, new.site.port
    ));
    for _ in 0..2 {
        assert!(server.text("/new/a").starts_with("GET HTTP/2.0 https localhost:"));
        assert!(server.text("/plain/a").starts_with("GET HTTP/1.1 https localhost:"));
    }
    server.get("/old/a").is(500);
    server.logged("TLS handshake: ");
}

#[test]
fn trailers_reach_clients_of_http_2() {
    let backend = Http2Backend::answering(|_, stream| {
        let trailers = [literal("grpc-status", "0"), literal("x-end", "yes"), literal("content-length", "7")].concat();
        [
            head(stream, &[("content-type", "application/grpc")]),
            frame(DATA, 0, stream, b"message"),
            frame(HEADERS, END_HEADERS | END_STREAM, stream, &trailers),
        ]
        .concat()
    });
    let server = serve(&format!("ProxyPass / {}\n", backend.url("/")));
    let url = "http://localhost:@PORT@/x";
    let new = curl(&server, &["-v", "--http2-prior-knowledge", url]).succeeded();
    assert!(
        new.out == "message" && new.err.contains("< grpc-status: 0") && new.err.contains("< x-end: yes"),
        "{new:?}"
    );
    assert!(!new.err.contains("content-length: 7"), "{new:?}");
    let old = curl(&server, &["-v", "--http1.1", url]).succeeded();
    assert!(old.out == "message" && !old.err.contains("grpc-status"), "{old:?}");
    assert_eq!(backend.connections(), 1, "a connection carries one request after the other");
}

#[test]
fn a_request_that_the_backend_has_not_processed_is_sent_once_more_if_it_has_no_body() {
    let refuses = |bytes: fn(u32) -> Vec<u8>| {
        Http2Backend::answering(
            move |connection, stream| {
                if connection == 0 { bytes(stream) } else { response(stream, "second") }
            },
        )
    };
    let refused = |stream| frame(RST_STREAM, 0, stream, &REFUSED_STREAM);
    let goaway = |_| frame(GOAWAY, 0, 0, &[0; 8]);
    for bytes in [refused as fn(u32) -> Vec<u8>, goaway] {
        let backend = refuses(bytes);
        let server = serve(&format!("ProxyPass / {}\n", backend.url("/")));
        assert_eq!((server.text("/"), backend.connections()), ("second".to_owned(), 2));
        let backend = refuses(bytes);
        let server = serve(&format!("ProxyPass / {}\n", backend.url("/")));
        assert_eq!(server.send(Request::new("POST", "/").body("x")).status, 502);
        assert_eq!(backend.connections(), 1);
    }
    let backend = Http2Backend::answering(move |_, stream| refused(stream));
    let server = serve(&format!("ProxyPass / {}\n", backend.url("/")));
    assert_eq!((server.get("/").status, backend.connections()), (502, 2), "a request is sent at most twice");
}

#[test]
fn a_connection_that_the_backend_has_ended_is_replaced() {
    let backend = Http2Backend::answering(|_, stream| {
        [response(stream, "one"), frame(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0])].concat()
    });
    let server = serve(&format!("ProxyPass / {}\n", backend.url("/")));
    assert_eq!((server.text("/"), server.text("/")), ("one".to_owned(), "one".to_owned()));
    assert_eq!(backend.connections(), 2);
}

/// What a backend sends for a request, by the number of its stream.
type Frames = fn(u32) -> Vec<u8>;

#[test]
fn frames_that_are_no_response_are_refused() {
    let cases: [(&str, Frames); 8] = [
        ("nothing", |_| Vec::new()),
        ("text", |_| b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec()),
        ("a reset", |stream| frame(RST_STREAM, 0, stream, &CANCEL)),
        ("data before a head", |stream| frame(DATA, END_STREAM, stream, b"body")),
        ("no status", |stream| frame(HEADERS, END_HEADERS | END_STREAM, stream, &literal("a", "b"))),
        ("another stream", |stream| frame(HEADERS, END_HEADERS | END_STREAM, stream + 2, &[0x88])),
        ("a promise", |stream| frame(5, END_HEADERS, stream, &[&2_u32.to_be_bytes()[..], &[0x88]].concat())),
        ("a broken block", |stream| frame(HEADERS, END_HEADERS | END_STREAM, stream, &[0xff; 40])),
    ];
    for (what, bytes) in cases {
        let backend = Http2Backend::answering(move |_, stream| bytes(stream));
        let server = serve(&format!("ProxyPass / {}\n", backend.url("/")));
        assert_eq!(server.send(Request::new("POST", "/").body("x")).status, 502, "{what}");
        server.logged("the response was incomplete");
    }
}

#[test]
fn floods_of_a_backend_end_its_connection() {
    let long = "y".repeat(1000);
    let floods: Vec<(&str, Vec<u8>, Vec<u8>)> = vec![
        ("SETTINGS", Vec::new(), frame(SETTINGS, 0, 0, &NO_WINDOW)),
        ("PING", Vec::new(), frame(PING, 0, 0, &[0; 8])),
        ("CONTINUATION", frame(HEADERS, 0, 1, &block(&[])), frame(CONTINUATION, 0, 1, &literal("x", &long))),
        ("interim", Vec::new(), frame(HEADERS, END_HEADERS, 1, &[&[0x08, 3][..], b"103"].concat())),
        ("priority", Vec::new(), frame(2, 0, 1, &[0, 0, 0, 0, 1])),
        ("empty DATA", head(1, &[]), frame(DATA, 0, 1, b"")),
    ];
    for (what, begin, flood) in floods {
        let backend = Http2Backend::new(move |peer| {
            if peer.request().is_some() {
                peer.raw(&begin);
                let many = flood.repeat(64);
                while peer.raw(&many) {}
            }
        });
        let server = serve(&format!("ProxyPass / {} timeout=1000s\n", backend.url("/")));
        let mut client = server.connect();
        client.raw("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let answer = client.rest();
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with("HTTP/1.1 502") || !answer.ends_with("0\r\n\r\n"), "{what}: {answer}");
        until("the backend's connection ends", || backend.ended() == 1);
    }
}

#[test]
fn a_backend_that_takes_no_request_or_no_body_is_504() {
    for settings in [NO_STREAMS, NO_WINDOW] {
        let backend = Http2Backend::new(move |peer| {
            peer.send(SETTINGS, 0, 0, &settings);
            while peer.next().is_some() {}
        });
        let server = serve(&format!("ProxyPass / {} timeout=300ms\n", backend.url("/")));
        assert_eq!(server.send(Request::new("POST", "/").body("x".repeat(300_000))).status, 504, "{settings:?}");
    }
}

#[test]
fn a_response_with_a_wrong_length_breaks_off() {
    let lies: [fn(u32) -> Vec<u8>; 3] = [
        |stream| [head(stream, &[("content-length", "10")]), frame(DATA, END_STREAM, stream, b"half")].concat(),
        |stream| [head(stream, &[("content-length", "2")]), frame(DATA, END_STREAM, stream, b"half")].concat(),
        |stream| {
            [
                head(stream, &[("content-length", "10")]),
                frame(DATA, 0, stream, b"half"),
                frame(RST_STREAM, 0, stream, &CANCEL),
            ]
            .concat()
        },
    ];
    for lie in lies {
        let backend = Http2Backend::answering(move |_, stream| lie(stream));
        let server = serve(&format!("ProxyPass / {}\n", backend.url("/")));
        let mut client = server.connect();
        client.raw("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        let (answer, _) = client.ending();
        let text = String::from_utf8_lossy(&answer).to_ascii_lowercase();
        let length =
            text.split("content-length: ").nth(1).and_then(|rest| rest.split('\r').next()?.parse::<usize>().ok());
        let body = text.split("\r\n\r\n").nth(1).unwrap_or_default().len();
        assert!(text.starts_with("http/1.1 502") || length != Some(body), "{text}");
    }
}

#[test]
fn a_client_that_leaves_ends_the_connection_to_the_backend() {
    let backend = Http2Backend::new(|peer| {
        if let Some(stream) = peer.request() {
            peer.raw(&head(stream, &[]));
            peer.send(DATA, 0, stream, b"half");
        }
        while peer.next().is_some() {}
    });
    let server = serve(&format!("ProxyTimeout 10000\nProxyPass / {}\n", backend.url("/")));
    let mut client = server.connect();
    client.raw("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(client.head().status, 200);
    drop(client);
    until("the backend's connection ends", || backend.ended() == 1);
}

#[test]
fn members_of_balancers_may_speak_http_2() {
    let backend = Http2Backend::answering(|_, stream| response(stream, "member"));
    let server = serve(&format!(
        "<Proxy balancer://group>\nBalancerMember {}\n</Proxy>\nProxyPass / balancer://group/\n",
        backend.url("")
    ));
    assert_eq!(server.text("/x"), "member");
}

#[test]
fn a_section_with_wildcards_applies_to_the_usual_port_of_http_2() {
    let server = serve(
        "<Proxy \"h2c://127.0.0.*:80/*\">\nRequire all denied\n</Proxy>\nProxyPass /d80/ h2c://127.0.0.1/\n\
         <Proxy \"h2://127.0.0.*:443/*\">\nRequire all denied\n</Proxy>\nProxyPass /d443/ h2://127.0.0.1/\n\
         SSLProxyEngine On\n",
    );
    for target in ["/d80/", "/d443/"] {
        assert_eq!(server.get(target).status, 403, "{target}");
    }
}

#[test]
fn room_for_an_upload_in_small_parts_is_no_flood() {
    const STEP: u32 = 64;
    let backend = Http2Backend::new(|peer| {
        let mut received = 0;
        while let Some(got) = peer.next() {
            if got.kind != DATA {
                continue;
            }
            received += got.payload.len();
            if got.flags & END_STREAM != 0 {
                peer.raw(&response(got.stream, &received.to_string()));
                continue;
            }
            let room = |stream| frame(WINDOW_UPDATE, 0, stream, &STEP.to_be_bytes());
            let both = [room(0), room(got.stream)].concat();
            peer.raw(&both.repeat(got.payload.len().div_ceil(STEP as usize)));
        }
    });
    let server = serve(&format!("ProxyPass / {}\n", backend.url("/")));
    // The updates of 4 MB have 1.6 MB.
    let large = "x".repeat(4 << 20);
    assert_eq!(server.send(Request::new("POST", "/").body(&large)).is(200).text(), large.len().to_string());
}

#[test]
fn frames_that_make_no_room_for_an_upload_are_a_flood() {
    for flood in [frame(PING, 0, 0, &[0; 8]), frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1])] {
        let backend = Http2Backend::new(move |peer| {
            while peer.next().is_some_and(|frame| frame.kind != DATA) {}
            let many = flood.repeat(64);
            while peer.raw(&many) {}
        });
        let server = serve(&format!("ProxyPass / {} timeout=1000s\n", backend.url("/")));
        assert_eq!(server.send(Request::new("POST", "/").body("x".repeat(300_000))).status, 502);
        until("the backend's connection ends", || backend.ended() == 1);
    }
}

#[test]
fn a_request_whose_stream_the_backend_resets_is_not_sent_again() {
    for reason in [CANCEL, INTERNAL_ERROR] {
        let requests = Arc::new(AtomicUsize::new(0));
        let count = requests.clone();
        let backend = Http2Backend::answering(move |_, stream| match count.fetch_add(1, Ordering::Relaxed) {
            0 => response(stream, "first"),
            _ => frame(RST_STREAM, 0, stream, &reason),
        });
        let server = serve(&format!("ProxyPass / {}\n", backend.url("/")));
        assert_eq!(server.text("/"), "first");
        assert_eq!(server.send(Request::new("DELETE", "/")).status, 502);
        assert_eq!((requests.load(Ordering::Relaxed), backend.connections()), (2, 1), "{reason:?}");
    }
}

#[test]
fn a_request_that_a_reused_connection_loses_is_sent_again() {
    let backend = Http2Backend::answering(|connection, stream| match (connection, stream) {
        (0, 1) => response(stream, "one"),
        (0, _) => Vec::new(),
        _ => response(stream, "two"),
    });
    let server = serve(&format!("ProxyPass / {}\n", backend.url("/")));
    assert_eq!((server.text("/"), server.text("/")), ("one".to_owned(), "two".to_owned()));
    assert_eq!(backend.connections(), 2);
}
