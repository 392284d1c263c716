//! `SpeedLimit`: a limit on the requests of one client.

use super::{hold, release, serve, until_begun};
use crate::support::{Request, Site, until};

/// The address of a second client, which differs from that of `Server::get`.
const OTHER: &str = "127.0.0.9";

#[test]
fn a_client_above_its_speed_limit_gets_429_before_a_worker_is_taken() {
    let server = serve(2, "<Location /app>\nSpeedLimit requests=3/600s\n</Location>");
    (0..3).for_each(|_| drop(server.get("/app/x").is(200)));
    let by_workers = || server.status()["front"]["worker_requests"].clone();
    let before = by_workers();
    for _ in 0..5 {
        let after = server.get("/app/x").is(429).header("retry-after").and_then(|after| after.parse::<u32>().ok());
        assert!(after.is_some_and(|after| (1..=200).contains(&after)), "{after:?}");
    }
    assert_eq!(by_workers(), before);
    server.send_as(OTHER, Request::get("/app/x")).is(200);
    server.get("/elsewhere").is(200);
    let line = server.logged("SpeedLimit requests=3/600s");
    assert!(line.contains("[client 127.0.0.1:") && line.contains("/app/x") && line.contains("429"), "{line}");
    assert_eq!(server.log().matches("SpeedLimit").count(), 1, "one line a minute: {}", server.log());
    assert_eq!(server.status()["front"]["shed"]["speed_limit"], 5);
}

#[test]
fn a_client_that_keeps_workers_busy_is_refused_while_they_still_work() {
    let server = serve(3, "<Location /app>\nSpeedLimit worker-seconds=1/100s\n</Location>");
    let _held = hold(&server, "/app/hold", 2);
    until_begun(&server, 2);
    until("a second has passed in workers", || server.get("/app/x").status == 429);
    let refused = server.get("/app/x").is(429);
    assert!(refused.header("retry-after").and_then(|after| after.parse::<u32>().ok()) >= Some(1), "{refused:?}");
    server.send_as(OTHER, Request::get("/app/x")).is(200);
    server.logged("SpeedLimit worker-seconds=1/100s");
    release(&server);
}

#[test]
fn files_and_exempt_clients_are_not_counted() {
    let server = serve(
        1,
        "SpeedLimit requests=1/60s\nSpeedLimitExempt 127.0.0.8/31\n<Location /files>\nSetHandler None\n</Location>",
    );
    server.site.write("htdocs/files/a.txt", "a file");
    (0..5).for_each(|_| assert_eq!(server.text("/files/a.txt"), "a file"));
    (0..5).for_each(|_| drop(server.send_as(OTHER, Request::get("/x")).is(200)));
    server.get("/x").is(200);
    server.get("/x").is(429);
}

#[test]
fn an_error_document_for_429_takes_no_worker() {
    let site = Site::new().file("htdocs/slow.html", "please wait").file("app.psgi", "sub { [200, [], ['ok']] }");
    let server = site.serve(
        "<Location /app>\nPsgiApp app.psgi\nSpeedLimit requests=1/60s\nErrorDocument 429 /slow.html\n</Location>\n\
         <Location /app/worker>\nErrorDocument 429 /app/page\n</Location>",
    );
    server.get("/app/x").is(200);
    let refused = server.get("/app/x").is(429);
    assert_eq!(refused.text(), "please wait");
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    let plain = server.get("/app/worker").is(429);
    assert!(plain.text().contains("slow down"), "{plain:?}");
}

#[test]
fn behind_a_proxy_each_of_its_clients_counts_for_itself() {
    let server = serve(1, "RemoteIPHeader X-Forwarded-For\nRemoteIPInternalProxy 127.0.0.1\nSpeedLimit requests=1/60s");
    let ask = |client: &str| server.send(Request::get("/x").header("X-Forwarded-For", client)).status;
    assert_eq!([ask("192.0.2.1"), ask("192.0.2.2"), ask("192.0.2.1")], [200, 200, 429]);
    assert_eq!([ask("2001:db8::1"), ask("2001:db8::2")], [200, 429], "64 bits are one client");
    server.logged("client 2001:db8:: asks for more");
}
