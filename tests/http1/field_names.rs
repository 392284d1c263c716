//! The spelling of field names in responses.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::thread::spawn;

use crate::support::{Finished, Server, Site};

const APP: &str = r#"sub {
    my $path = $_[0]{PATH_INFO};
    return [401, ['WWW-Authenticate', 'Basic realm="a"', 'ETag', '"1"', 'Set-Cookie', 'a=1', 'Content-Type', 'text/plain'], ['x']]
        if $path eq '/usual';
    return [200, ['content-type', 'text/plain', 'X-fOO', 1, 'X-fOO', 2, 'X_Y', 3, 'etag', '"2"', 'SET-COOKIE', 'a=1'], ['x']]
        if $path eq '/own';
    return [200, ['content-length', 1, 'X-fOO', 1, 'x_Y', 3], ['x']] if $path eq '/length';
    return [200, [map { ("x-N$_", $_) } 1 .. 80], ['x']] if $path eq '/many';
    return [200, ['X-' . substr($path, 1), 1], ['x']];
}"#;

fn serve() -> Server {
    Site::new().file("app.psgi", APP).file("htdocs/a.txt", "a").serve(
        "Protocols h2 h2c http/1.1\n<Location />\nPsgiApp app.psgi\n</Location>\n<Location /a.txt>\nSetHandler default-handler\n</Location>\n",
    )
}

/// The names in the head of a response, in the order in which they are sent.
fn names(server: &Server, target: &str) -> Vec<String> {
    let mut connection = server.connect();
    connection.raw(format!("GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    let bytes = String::from_utf8_lossy(&connection.rest()).into_owned();
    let (head, _) = bytes.split_once("\r\n\r\n").expect("a head");
    head.lines().skip(1).filter_map(|line| Some(line.split_once(':')?.0.to_owned())).collect()
}

#[track_caller]
fn has(server: &Server, target: &str, expected: &[&str]) {
    let names = names(server, target);
    assert!(expected.iter().all(|name| names.iter().any(|sent| sent == name)), "{target}: {names:?}");
}

#[test]
fn names_have_the_usual_capitals() {
    let server = serve();
    has(
        &server,
        "/usual",
        &["WWW-Authenticate", "ETag", "Set-Cookie", "Content-Type", "Content-Length", "Date", "Server", "Connection"],
    );
    has(&server, "/a.txt", &["ETag", "Last-Modified", "Accept-Ranges", "Content-Type", "Content-Length"]);
    let mut broken = server.connect();
    broken.raw("GET / HTTP/9\r\n\r\n");
    let page = String::from_utf8_lossy(&broken.rest()).into_owned();
    assert!(page.contains("\r\nContent-Length: ") && page.contains("\r\nDate: "), "{page}");
}

#[test]
fn a_program_has_its_names_as_it_wrote_them() {
    let server = serve();
    for _ in 0..2 {
        has(&server, "/own", &["content-type", "X-fOO", "X_Y", "etag", "SET-COOKIE", "Server"]);
    }
    assert_eq!(names(&server, "/own").iter().filter(|name| *name == "X-fOO").count(), 2);
    has(&server, "/length", &["Content-Length", "X-fOO", "x_Y"]);
    has(&server, "/usual", &["ETag", "Set-Cookie", "Content-Type"]);
    let many = names(&server, "/many");
    assert_eq!(many.iter().filter(|name| name.to_ascii_lowercase().starts_with("x-n")).count(), 80, "{many:?}");
    has(&server, "/many", &["x-N1", "x-N60"]);
}

#[test]
fn more_spellings_than_a_thread_remembers_are_sent_nevertheless() {
    let server = serve();
    for number in 0..600 {
        let name = format!("aB{number}");
        has(&server, &format!("/{name}"), &[&format!("X-{name}")]);
    }
}

#[test]
fn names_over_http_2_are_in_lower_case() {
    let server = serve();
    let url = server.site.filled("http://127.0.0.1:@PORT@/own");
    let mut curl = Command::new("curl");
    curl.args(["-sSi", "--noproxy", "*", "--http2-prior-knowledge", &url]);
    let output = Finished::of(&mut curl).succeeded().out;
    assert!(
        output.contains("\nx-foo: 1") && output.contains("\nset-cookie: ") && output.contains("\netag: "),
        "{output}"
    );
}

#[test]
fn a_backend_has_its_names_as_it_wrote_them() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let _ = stream.read(&mut [0; 4096]);
            let head = "HTTP/1.1 200 OK\r\nx-OWN: 1\r\nEtag: \"1\"\r\ncontent-length: 0\r\nConnection: close\r\n\r\n";
            let _ = stream.write_all(head.as_bytes());
        }
    });
    let server = Site::new().serve(&format!("ProxyPass / http://127.0.0.1:{port}/\n"));
    has(&server, "/", &["x-OWN", "Etag", "Server"]);
    let rules = "Header set X-UA-Compatible a\nHeader add x-lower b\nHeader set ETAG c\nHeader set X-Plain d\nHeader append X-Own e\n";
    let server = Site::new().serve(&format!("{rules}ProxyPass / http://127.0.0.1:{port}/\n"));
    for _ in 0..2 {
        has(&server, "/", &["x-OWN", "X-UA-Compatible", "x-lower", "X-Plain", "Server", "Content-Length"]);
    }
    assert_eq!(names(&server, "/").iter().filter(|name| name.eq_ignore_ascii_case("x-own")).count(), 1);
}

#[test]
fn names_of_header_rules_have_the_capitals_of_their_lines() {
    let rules = "Header always set X-API-Version 1\nHeader set x-lower 2\nHeader add X-fOO 3\nHeader set etag 4\nHeader unset X-GONE\n";
    let server = Site::new()
        .file("app.psgi", APP)
        .file("htdocs/a.txt", "a")
        .serve(&format!("<Location /p>\nPsgiApp app.psgi\n</Location>\n{rules}"));
    has(&server, "/a.txt", &["X-API-Version", "x-lower", "X-fOO", "Last-Modified", "Content-Length"]);
    has(&server, "/none", &["X-API-Version", "Content-Type"]);
    has(&server, "/p/own", &["X-API-Version", "x-lower", "content-type", "SET-COOKIE"]);
}
