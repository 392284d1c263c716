//! `MDHttpProxy`: an authority that only a proxy reaches.

use std::io::{BufRead, BufReader, Write, copy};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::spawn;

use super::Managed;
use crate::support::Site;

/// A proxy that lets clients with these credentials through, and notes the first lines of their requests.
fn proxy(allowed: &'static str) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = requests.clone();
    spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let seen = seen.clone();
            spawn(move || pass(&stream, allowed, &seen));
        }
    });
    (port, requests)
}

fn pass(client: &TcpStream, allowed: &str, seen: &Mutex<Vec<String>>) -> Option<()> {
    let lines = BufReader::new(client.try_clone().ok()?).lines().map_while(Result::ok);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let first = head.first()?.clone();
    seen.lock().expect("no panic").push(first.clone());
    let mut client = client.try_clone().ok()?;
    if !allowed.is_empty() && !head.contains(&format!("Proxy-Authorization: Basic {allowed}")) {
        let refusal = "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 6\r\n\r\nno way";
        return client.write_all(refusal.as_bytes()).ok();
    }
    let to = first.split(' ').nth(1)?.to_owned();
    let authority = TcpStream::connect(to).ok()?;
    client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").ok()?;
    let (mut from, mut back) = (authority.try_clone().ok()?, client.try_clone().ok()?);
    spawn(move || copy(&mut from, &mut back).map(|_| back.shutdown(std::net::Shutdown::Write)));
    let mut authority = authority;
    copy(&mut client, &mut authority).ok()?;
    authority.shutdown(std::net::Shutdown::Write).ok()
}

#[test]
fn the_authority_is_reached_through_the_proxy() {
    let managed = Managed::started();
    // `user:s@cret`
    let (port, requests) = proxy("dXNlcjpzQGNyZXQ=");
    let authority = format!("CONNECT 127.0.0.1:{} HTTP/1.1", managed.pebble.port);
    let running = managed.serve(&format!("MDHttpProxy http://user:s%40cret@127.0.0.1:{port}/\n"));
    running.until_trusted("www.one.test");
    let requests = requests.lock().expect("no panic");
    assert!(requests.len() > 3 && requests.iter().all(|line| *line == authority), "{requests:?}");
}

#[test]
fn a_proxy_that_refuses_is_named_in_the_log() {
    let (port, _) = proxy("other");
    let running = Managed::started().serve(&format!("MDHttpProxy http://127.0.0.1:{port}\n"));
    let line = running.server.logged("no new certificate");
    assert!(line.contains(&format!("MDHttpProxy 127.0.0.1:{port} wants a user and a password")), "{line}");
    let site = Site::new();
    for (url, why) in [
        (
            "https://ana:s3cret@proxy:1",
            "MDHttpProxy: expected http://, the only scheme of a proxy, in front of \"proxy:1\"",
        ),
        ("ana:s3cret@proxy", "MDHttpProxy: expected http://host:port"),
    ] {
        site.configure(&format!("MDHttpProxy {url}\n"));
        let output = site.cameleer(["check", "-f", &site.filled("@DIR@/site.conf")]).failed(78, why);
        assert!(!format!("{output:?}").contains("s3cret"), "{output:?}");
    }
}
