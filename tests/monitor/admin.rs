//! `AdminListen`: the monitor's pages, access to them, and clients that misuse them.

use std::io::Read;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::{
    Address, Connection, Finished, Request, Response, Server, Site, children, eventually, free_port, name, patience,
    signal, state, until,
};

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A server with a monitor, and the monitor's port.
pub fn serve(conf: &str) -> (Server, u16) {
    let port = free_port();
    let server = Site::new().file("app.psgi", "sub { [200, [], ['ok']] }").serve(&format!(
        "AdminListen 127.0.0.1:{port}\n{conf}\n<Location />\nPsgiApp app.psgi\n</Location>\n\
         <Location /metrics>\nSetHandler server-metrics\n</Location>"
    ));
    until("the monitor answers", || ask(port, "/status.json").is_some_and(|answer| answer.status == 200));
    (server, port)
}

fn ask(port: u16, target: &str) -> Option<Response> {
    send(port, Request::get(target))
}

fn send(port: u16, request: Request) -> Option<Response> {
    Connection::open(&Address::Tcp(port)).ok()?.try_ask(&request.header("Connection", "close")).ok()
}

#[track_caller]
fn get(port: u16, target: &str) -> Response {
    ask(port, target).expect("an answer").is(200)
}

fn json(response: &Response) -> Value {
    serde_json::from_slice(&response.body).unwrap_or_else(|error| panic!("{error}: {response:?}"))
}

fn monitor(server: &Server) -> i32 {
    let monitors = || children(server.pid()).into_iter().find(|pid| name(*pid) == "cameleer-monitr");
    eventually("there is a monitor", monitors)
}

#[test]
fn slow_requests_are_shown_while_they_go_on_and_after_their_worker_and_the_monitor_have_ended() {
    let (plain, port) = serve("");
    assert_eq!(json(&get(port, "/slow.json")), serde_json::json!({ "after_ms": null, "requests": [] }));
    drop(plain);
    let port = free_port();
    let app = "sub { until (-e '@DIR@/go') { select undef, undef, undef, 0.02 } [200, [], ['ok']] }";
    let server = Site::new()
        .file("app.psgi", app)
        .serve(&format!("SlowLog 300ms\nAdminListen 127.0.0.1:{port}\n<Location />\nPsgiApp app.psgi\n</Location>"));
    let mut slow = server.connect();
    slow.raw("GET /slow?x=1 HTTP/1.1\r\nHost: shop.example\r\n\r\n");
    let shown = || Some(json(&ask(port, "/slow.json").filter(|answer| answer.status == 200)?));
    until("the page shows the running request", || {
        shown().is_some_and(|shown| shown["requests"][0]["is_over"] == false)
    });
    signal(monitor(&server), Signal::SIGKILL);
    server.site.write("go", "");
    slow.response().is(200);
    until("the page shows the finished request", || {
        shown().is_some_and(|shown| shown["requests"][0]["is_over"] == true)
    });
    let shown = shown().expect("an answer");
    assert_eq!((&shown["after_ms"], &shown["requests"][0]["target"]), (&300.into(), &"/slow?x=1".into()), "{shown}");
    assert_eq!(shown["requests"][0]["stacks"][0]["frames"][0]["name"], "sselect", "{shown}");
    assert_eq!(shown["requests"].as_array().map(Vec::len), Some(1), "{shown}");
}

#[test]
fn each_view_is_of_the_same_server() {
    let (server, port) = serve("");
    (0..5).for_each(|_| drop(server.text("/")));
    until("the monitor has heard of it", || json(&get(port, "/status.json"))["front"]["requests"].as_u64() >= Some(5));
    let status = json(&get(port, "/status.json"));
    assert_eq!(status["pid"], server.pid());
    assert_eq!(status["front"]["workers"].as_array().map(Vec::len), Some(2), "{status}");
    assert!(
        status["front"]["workers"][0]["cpu_ms"].is_u64() && status["second"]["time"].as_u64() > Some(1_700_000_000)
    );
    let metrics = get(port, "/metrics").text();
    until("memory is measured", || {
        get(port, "/metrics").text().contains("cameleer_worker_private_bytes{worker=\"1\"} ")
    });
    for name in [
        "cameleer_requests_total{code=\"200\"} ",
        "cameleer_request_duration_seconds_bucket{le=\"+Inf\"} ",
        "cameleer_memory_pss_bytes ",
        "cameleer_worker_exits_total{reason=\"max_requests\"} 0\n",
    ] {
        assert!(metrics.contains(name), "{name} in {metrics}");
    }
    assert!(get(port, "/server-status?auto").text().contains("\nScoreboard: __\n"));
    let page = get(port, "/");
    let policy = page.header("content-security-policy").unwrap_or_default();
    assert!(policy.starts_with("default-src 'none'") && page.text().starts_with("<!DOCTYPE html>"), "{page:?}");
    for (target, status) in
        [("/nothing", 404), ("/../etc/passwd", 404), ("/server-status", 404), ("/history.json?step=0", 400)]
    {
        assert_eq!(ask(port, target).expect("an answer").status, status, "{target}");
    }
}

#[test]
fn metrics_of_both_listeners_have_the_same_names() {
    let (server, port) = serve("");
    let names = |text: String| -> Vec<String> {
        let families =
            text.lines().filter_map(|line| Some(line.strip_prefix("# TYPE ")?.split_once(' ')?.0.to_owned()));
        families
            .filter(|name| {
                !["_private_bytes", "_pss_bytes", "_ratio", "_budget_bytes"].iter().any(|end| name.ends_with(end))
            })
            .collect()
    };
    assert_eq!(names(get(port, "/metrics").text()), names(server.text("/metrics")));
}

#[test]
fn a_second_is_an_event() {
    let (_server, port) = serve("");
    let mut events = Connection::open(&Address::Tcp(port)).expect("connected");
    events.raw("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(events.head().is(200).header("content-type").as_deref(), Some("text/event-stream"));
    let times: Vec<u64> = (0..3)
        .map(|_| {
            let event = String::from_utf8(events.chunk()).expect("text");
            let data = event.split("data: ").nth(1).unwrap_or_else(|| panic!("{event}"));
            let view: Value = serde_json::from_str(data).expect("JSON");
            view["second"]["time"].as_u64().expect("a time")
        })
        .collect();
    assert!(times.windows(2).all(|two| two[0] < two[1] && two[1] <= two[0] + 3), "{times:?}");
}

#[test]
fn requests_with_a_foreign_host_or_origin_are_refused() {
    let (_server, port) = serve("");
    let status = |request: Request| send(port, request).expect("an answer").status;
    assert_eq!(status(Request::get("/status.json").header("Host", "evil.example")), 421);
    assert_eq!(status(Request::get("/status.json").header("Origin", "https://evil.example")), 403);
    assert_eq!(status(Request::post("/status.json", "a=b")), 405);
    assert_eq!(status(Request::post("/", "a=b").header("Origin", "https://evil.example")), 403);
    assert_eq!(status(Request::get("/").header("X-Long", &"x".repeat(100_000))), 431);
}

#[test]
fn silent_and_slow_clients_delay_new_ones_briefly() {
    let (server, port) = serve("");
    let silent: Vec<TcpStream> =
        (0..199).map(|_| TcpStream::connect(("127.0.0.1", port)).expect("connected")).collect();
    until("who comes beside them is answered", || ask(port, "/status.json").is_some());
    drop(silent);
    let before = monitor(&server);
    let many: Vec<TcpStream> = (0..1000)
        .filter_map(|_| TcpStream::connect_timeout(&([127, 0, 0, 1], port).into(), Duration::from_millis(50)).ok())
        .collect();
    assert_eq!(server.get("/").status, 200, "the site does not notice");
    let mut first = many.first().expect("one").try_clone().expect("cloned");
    first.set_read_timeout(Some(patience())).expect("set");
    assert!(first.read(&mut [0; 100]).is_ok(), "one that says nothing is sent away");
    drop(many);
    until("the monitor answers again", || ask(port, "/status.json").is_some());
    assert_eq!(monitor(&server), before, "it is the same process");
}

#[test]
fn a_monitor_that_dies_is_replaced_and_the_site_does_not_notice() {
    let (server, port) = serve("");
    let first = monitor(&server);
    let mut visitor = server.connect();
    visitor.ask(Request::get("/")).is(200);
    signal(first, Signal::SIGKILL);
    until("another answers", || {
        monitor(&server) != first && ask(port, "/status.json").is_some_and(|a| a.status == 200)
    });
    visitor.ask(Request::get("/")).is(200);
    server.logged("monitor ended; the next one starts in");
}

#[test]
fn a_hanging_monitor_is_replaced_and_delays_no_request() {
    let (server, port) = serve("");
    let first = monitor(&server);
    signal(first, Signal::SIGSTOP);
    until("the monitor is stopped", || state(first) == Some('T'));
    assert_eq!(server.get("/").status, 200);
    server.status();
    // The monitor is killed only after messages have filled its socket, which takes a second for each message.
    let hung = || server.log().contains("does not read its messages, and is killed");
    until("the hanging monitor is killed", hung);
    until("another answers", || ask(port, "/status.json").is_some_and(|answer| answer.status == 200));
}

#[test]
fn the_network_must_know_the_token() {
    let port = free_port();
    let site = Site::new().file("app.psgi", "sub { [200, [], ['ok']] }").file("token", &format!("{TOKEN}\n"));
    std::fs::set_permissions(site.path("token"), std::fs::Permissions::from_mode(0o600)).expect("ours");
    let server = site
        .serve(&format!("AdminListen 0.0.0.0:{port}\nAdminToken token\n<Location />\nPsgiApp app.psgi\n</Location>"));
    let as_bearer = |token: &str| Request::get("/status.json").header("Authorization", &format!("Bearer {token}"));
    until("the monitor answers", || send(port, as_bearer(TOKEN)).is_some_and(|answer| answer.status == 200));
    let refused = ask(port, "/status.json").expect("an answer").is(401);
    assert!(refused.header("www-authenticate").is_some_and(|how| how.starts_with("Basic ")), "{refused:?}");
    assert_eq!(send(port, as_bearer("0123456789abcdef")).expect("an answer").status, 401);
    let basic = Finished::of(
        std::process::Command::new("curl")
            .args(["-s", "-o", "/dev/null", "-w", "%{http_code}", "-u"])
            .args([&format!("x:{TOKEN}"), &format!("http://127.0.0.1:{port}/metrics")]),
    );
    assert_eq!(basic.out, "200");
    assert!(!server.log().contains(TOKEN));
}

#[test]
fn a_unix_socket_is_for_its_owner_alone() {
    let server = Site::new()
        .file("app.psgi", "sub { [200, [], ['ok']] }")
        .serve("AdminListen @DIR@/admin.sock\n<Location />\nPsgiApp app.psgi\n</Location>");
    let path = server.site.path("admin.sock");
    assert_eq!(std::fs::metadata(&path).expect("a socket").permissions().mode() & 0o777, 0o600);
    let address = Address::Unix(path.clone());
    let ask = || Connection::open(&address).ok()?.try_ask(&Request::get("/status.json")).ok();
    until("the monitor answers", || ask().is_some_and(|answer| answer.status == 200));
    drop(server);
    assert!(!path.exists());
}

#[test]
fn an_impossible_directive_is_reported_with_its_line() {
    let site = Site::new().file("token", "short").file("open", TOKEN);
    for (name, mode) in [("token", 0o600), ("open", 0o644)] {
        std::fs::set_permissions(site.path(name), std::fs::Permissions::from_mode(mode)).expect("ours");
    }
    for (conf, line, what) in [
        ("\nAdminListen 0.0.0.0:9180", 2, "AdminListen: is open to the network without an AdminToken"),
        ("\n\nAdminListen 9180", 3, "write 127.0.0.1:9180"),
        ("\nAdminListen 127.0.0.1:9180\nAdminListen 127.0.0.1:9180", 3, "duplicate address"),
        ("\nAdminToken missing", 2, "No such file"),
        ("\nAdminToken token", 2, "expected at least 16 characters"),
        ("\nAdminToken open", 2, "chmod 600"),
        ("\nAdminToken /dev/zero", 2, "is not a regular file"),
    ] {
        site.configure(conf);
        let output = site.cameleer(["check", "-f", &site.filled("@DIR@/site.conf")]);
        let at = format!("site.conf:{line}: ");
        assert!(output.code == 78 && output.err.contains(&at) && output.err.contains(what), "{conf}: {output:?}");
    }
}
