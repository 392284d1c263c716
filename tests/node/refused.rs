//! Requests that another node may answer: refused before a program has begun them.

use crate::support::{Connection, Haproxy, Request, Response, Server, Site, until};

/// An application that appends a line to `begun` for each request, and at /slow waits for the file `go`. /busy answers
/// 503, /kill dies.
const APP: &str = r#"sub {
    my $path = $_[0]{PATH_INFO};
    open my $begun, '>>', '@DIR@/begun' or die;
    print $begun "$path\n";
    close $begun;
    if ($path eq '/slow') { select undef, undef, undef, 0.01 until -e '@DIR@/go' }
    kill KILL => $$ if $path eq '/kill';
    return [503, [], ['the program is busy']] if $path eq '/busy';
    [200, [], ['@PORT@']]
}"#;

fn serve(conf: &str) -> Server {
    Site::new().file("app.psgi", APP).serve(&format!("<Location /app>\nPsgiApp app.psgi\n</Location>\n{conf}"))
}

/// A node whose worker and queue are occupied, and their connections.
fn full(conf: &str) -> (Server, [Connection; 2]) {
    let one = "MaxClients 1\nStartServers 1\nMaxSpareServers 1\nQueueLength 1\n";
    let server = serve(&format!("{one}{conf}"));
    let slow = || {
        let mut slow = server.connect();
        slow.raw("GET /app/slow HTTP/1.1\r\nHost: a\r\n\r\n");
        slow
    };
    let first = slow();
    until("the worker is busy", || server.site.has("begun"));
    let second = slow();
    until("one waits", || server.status()["front"]["queued"] == 1);
    (server, [first, second])
}

fn end(server: &Server, occupied: [Connection; 2]) {
    server.site.write("go", "");
    occupied.into_iter().for_each(|mut connection| drop(connection.response().is(200)));
}

fn begun(server: &Server, path: &str) -> usize {
    server.site.read("begun").lines().filter(|line| *line == path).count()
}

fn marked(response: &Response) -> (Option<String>, bool) {
    (response.header("cameleer-begun"), response.header("retry-after").is_some())
}

#[test]
fn a_request_that_was_not_begun_is_marked_and_one_of_a_program_is_not() {
    let (server, occupied) = full("");
    let refused = server.post("/app/order", "a=1").is(503);
    assert_eq!(marked(&refused), (Some("no".to_owned()), true));
    assert_eq!(begun(&server, "/order"), 0);
    end(&server, occupied);
    assert_eq!(marked(&server.get("/app/busy").is(503)), (None, false));
    assert_eq!(marked(&server.post("/app/kill", "").is(502)), (None, false));
    assert_eq!(begun(&server, "/kill"), 1);
}

#[test]
fn a_503_that_a_rule_sends_is_not_marked() {
    let server = serve("RetryStatus 425\nRewriteEngine On\nRewriteRule ^/closed - [R=503]\nRedirect 503 /moved\n");
    for path in ["/closed", "/moved"] {
        assert_eq!(marked(&server.get(path).is(503)), (None, false), "{path}");
    }
}

#[test]
fn haproxy_sends_a_refused_request_elsewhere_and_repeats_none_that_was_begun() {
    let (full, occupied) = full("RetryStatus 425\n");
    let free = serve("RetryStatus 425\n");
    let refused = full.post("/app/order", "a=1").is(425);
    assert_eq!(marked(&refused), (Some("no".to_owned()), true));
    let server = |name: &str, node: &Server| format!("  server {name} 127.0.0.1:{}\n", node.site.port);
    let backend = format!(
        "  balance roundrobin\n  retries 3\n  option redispatch 1\n  retry-on conn-failure 425\n{}{}",
        server("full", &full),
        server("free", &free)
    );
    let haproxy = Haproxy::start(&full.site, "", &backend);
    for _ in 0..10 {
        let answer = haproxy.send(Request::post("/app/order", "a=1")).is(200);
        assert_eq!(answer.text(), free.site.port.to_string());
    }
    assert_eq!((begun(&free, "/order"), begun(&full, "/order")), (10, 0));
    end(&full, occupied);
    for (path, status) in [("/kill", 502), ("/busy", 503)] {
        haproxy.send(Request::post(&format!("/app{path}"), "a=1")).is(status);
        assert_eq!(begun(&free, path) + begun(&full, path), 1, "{path}");
    }
}
