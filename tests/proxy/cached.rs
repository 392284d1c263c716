//! The cache in front of backends: which responses are stored, and for whom.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Backend;
use crate::support::{Request, Response, Server, Site, until};

/// A backend whose responses have these fields, and the number of the request as body. It confirms its entity tag.
fn backend(fields: &'static str) -> Backend {
    let count = AtomicUsize::new(0);
    Backend::new(move |request| {
        let body = format!("run {}", count.fetch_add(1, Ordering::Relaxed) + 1);
        let tag = fields.lines().find_map(|line| line.strip_prefix("ETag: ")).unwrap_or("-");
        let fields = fields.replace('\n', "\r\n");
        match request.field("If-None-Match") == tag {
            true => format!("HTTP/1.1 304 Not Modified\r\n{fields}\r\n\r\n"),
            false => format!("HTTP/1.1 200 OK\r\n{fields}\r\nContent-Length: {}\r\n\r\n{body}", body.len()),
        }
        .into_bytes()
    })
}

fn serve(backend: &Backend, conf: &str) -> Server {
    Site::new().serve(&format!(
        "FrontThreads 1\nServerName www.example\nCacheEnable memory /\nCacheHeader On\nProxyPass / {}\n{conf}",
        backend.url("/")
    ))
}

fn is_hit(response: &Response) -> bool {
    response.header("X-Cache").is_some_and(|text| text.starts_with("HIT"))
}

#[test]
fn a_response_of_a_backend_is_sent_again_for_its_lifetime() {
    let backend = backend("Cache-Control: max-age=600\nVary: X-Kind\nX-Own: yes");
    let server = serve(&backend, "<Location /closed>\nRequire all denied\n</Location>\n");
    let (first, second) = (server.get("/a?b").is(200), server.get("/a?b").is(200));
    assert_eq!((is_hit(&first), is_hit(&second)), (false, true));
    assert_eq!((first.text(), second.text()), ("run 1".to_owned(), "run 1".to_owned()));
    assert_eq!(second.header("X-Own").as_deref(), Some("yes"));
    assert_eq!(server.text("/a"), "run 2", "another query");
    assert_eq!(server.send(Request::get("/a?b").header("X-Kind", "other")).is(200).text(), "run 3", "another variant");
    assert_eq!(server.get("/closed").status, 403);
    assert_eq!(server.send(Request::get("/a?b").header("Range", "bytes=0-2")).is(206).text(), "run");
    assert_eq!(server.post("/a?b", "x").is(200).text(), "run 4");
    assert_eq!(server.text("/a?b"), "run 5", "a POST invalidates");
}

#[test]
fn a_response_that_is_for_one_client_is_not_stored() {
    for fields in [
        "Cache-Control: max-age=600\nSet-Cookie: a=b",
        "Cache-Control: private, max-age=600",
        "Cache-Control: no-store",
        "Cache-Control: max-age=600\nVary: *",
        "X-No: lifetime",
    ] {
        let backend = backend(fields);
        let server = serve(&backend, "");
        assert_eq!((server.text("/a"), server.text("/a")), ("run 1".to_owned(), "run 2".to_owned()), "{fields}");
    }
}

#[test]
fn a_client_with_credentials_shares_no_response() {
    let backend = backend("Cache-Control: max-age=600");
    for conf in ["", "RequestHeader set X-Token expr=%{req:Authorization}\nRequestHeader unset Authorization\n"] {
        let server = serve(&backend, conf);
        let with = |password: &str| server.send(Request::get("/a").header("Authorization", password)).is(200).text();
        let texts = [with("Basic YTph"), with("Basic Yjpi"), server.text("/a"), with("Basic YTph")];
        let mut all = texts.to_vec();
        all.dedup();
        assert_eq!(all.len(), 4, "{conf} {texts:?}");
        assert_eq!(server.text("/a"), texts[2], "{conf}");
    }
}

#[test]
fn a_stale_response_is_confirmed_by_the_backend() {
    let backend = backend("Cache-Control: no-cache\nETag: \"one\"");
    let server = serve(&backend, "");
    assert_eq!((server.text("/a"), server.text("/a")), ("run 1".to_owned(), "run 1".to_owned()));
    let etags: Vec<String> = backend.received().iter().map(|it| it.field("If-None-Match").to_owned()).collect();
    assert_eq!(etags, ["", "\"one\""]);
    assert_eq!(server.send(Request::get("/a").header("If-None-Match", "\"one\"")).status, 304);
}

#[test]
fn a_stale_response_is_renewed_in_the_background() {
    let backend = backend("Age: 5\nCache-Control: max-age=1, stale-while-revalidate=6000");
    let server = serve(&backend, "");
    assert_eq!(server.text("/a"), "run 1");
    assert_eq!(server.text("/a"), "run 1");
    until("the backend is asked in the background", || backend.received().len() >= 2);
    until("its response is stored", || server.text("/a") != "run 1");
}

#[test]
fn an_incomplete_response_is_not_stored() {
    let count = Mutex::new(0);
    let backend = Backend::with(move |stream, _| {
        let mut count = count.lock().expect("no thread panics with the lock");
        *count += 1;
        let length = if *count == 1 { 10 } else { 5 };
        let head =
            format!("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: {length}\r\n\r\nrun {count}");
        std::io::Write::write_all(stream, head.as_bytes()).is_ok() && *count > 1
    });
    let server = serve(&backend, "");
    let mut client = server.connect();
    client.raw("GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let (_, _) = client.ending();
    assert_eq!((server.text("/a"), server.text("/a")), ("run 2".to_owned(), "run 2".to_owned()));
}

#[test]
fn a_request_that_may_switch_protocols_is_the_backends() {
    let backend = backend("Cache-Control: max-age=600");
    let server = serve(&backend, "");
    let ask = || {
        let upgrade = Request::get("/a").header("Connection", "Upgrade").header("Upgrade", "websocket");
        server.send(upgrade).is(200).text()
    };
    assert_eq!((ask(), ask(), server.text("/a")), ("run 1".to_owned(), "run 2".to_owned(), "run 3".to_owned()));
}

#[test]
fn backends_that_a_rule_chooses_share_no_response() {
    let (one, two) =
        (backend("Cache-Control: max-age=600\nX-Is: one"), backend("Cache-Control: max-age=600\nX-Is: two"));
    let server = Site::new().serve(&format!(
        "CacheEnable memory /\nCachePurgeFrom 127.0.0.1\nRewriteEngine on\nRewriteCond %{{HTTP:X-Kind}} two\n\
         RewriteRule ^/(.*)$ {}$1 [P]\nRewriteRule ^/(.*)$ {}$1 [P]\n",
        two.url("/"),
        one.url("/")
    ));
    let ask = |kind: &str| server.send(Request::get("/a").header("X-Kind", kind)).is(200).header("X-Is");
    for _ in 0..3 {
        assert_eq!((ask("one").as_deref(), ask("two").as_deref()), (Some("one"), Some("two")));
    }
    // The Vary of the rule makes the cache forget the response that was stored without it.
    assert_eq!((one.received().len(), two.received().len()), (2, 1));
    assert_eq!(server.send(Request::new("PURGE", "/a")).is(200).text(), "forgotten: 2\n");
    ask("one");
    assert_eq!(one.received().len(), 3);
}

#[test]
fn a_range_of_a_cached_response_shows_no_text_that_a_filter_replaces() {
    let backend = Backend::new(|_| {
        let text = "hello internal world\n".repeat(20);
        let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Type: text/plain\r\n";
        format!("{head}Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
    });
    let server = serve(&backend, "<Location />\nSetOutputFilter SUBSTITUTE\nSubstitute s/internal/X/n\n</Location>\n");
    assert_eq!(server.text("/a"), "hello X world\n".repeat(20));
    let part = server.send(Request::get("/a").header("Range", "bytes=0-9"));
    assert_eq!((part.status, part.text()), (200, "hello X world\n".repeat(20)));
    assert_eq!(backend.received().len(), 1, "the response comes from the cache");
}

#[test]
fn a_response_that_varies_by_the_clients_address_is_not_stored() {
    for name in ["X-Forwarded-For", "via"] {
        let fields: &'static str = Box::leak(format!("Cache-Control: max-age=600\nVary: {name}").into_boxed_str());
        let backend = backend(fields);
        let server = serve(&backend, "");
        assert_eq!((server.text("/a"), server.text("/a")), ("run 1".to_owned(), "run 2".to_owned()), "{name}");
    }
}
