//! The status: the activity of each worker, ends of workers, outcomes of reloads; for people, programs, httpd's agents
//! and Prometheus.

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::{Request, Server, Site, signal, until};

const APP: &str = "sub { my $e = $_[0]; my $path = $e->{PATH_INFO}; \
    if ($path eq '/slow') { until (-e '@DIR@/go') { select undef, undef, undef, 0.01 } } \
    $e->{'psgix.harakiri.commit'} = 1 if $path eq '/harakiri'; \
    if ($path eq '/cleanup') { push @{$e->{'psgix.cleanup.handlers'}}, sub { until (-e '@DIR@/go') { select undef, undef, undef, 0.01 } } } \
    [200, [], ['ok']] }";

fn serve(conf: &str) -> Server {
    let server = Site::new().file("app.psgi", APP).serve(&format!(
        "ServerName shop.example\n{conf}\n<Location />\nPsgiApp app.psgi\n</Location>\n\
         <Location /metrics>\nSetHandler server-metrics\n</Location>\n<Location /server-status>\nSetHandler server-status\n</Location>"
    ));
    server.until_idle(2);
    server
}

/// A worker in the state `state`, from the status.
fn worker(server: &Server, state: &str) -> Option<Value> {
    let status = server.measured_status();
    let workers = status["front"]["workers"].as_array()?;
    workers.iter().find(|worker| worker["state"] == state).cloned()
}

fn exits(server: &Server, reason: &str) -> u64 {
    server.status()["counts"]["exits"][reason].as_u64().unwrap_or(0)
}

#[test]
fn a_worker_is_shown_with_host_request_wait_cpu_and_memory() {
    let server = serve("");
    let mut client = server.connect();
    client.raw("GET /slow?a=1 HTTP/1.1\r\nHost: shop.example\r\n\r\n");
    until("a worker is busy", || worker(&server, "Busy").is_some());
    let busy = worker(&server, "Busy").expect("busy");
    assert_eq!(
        (&busy["request"], &busy["host"], &busy["activity"]),
        (&"GET /slow".into(), &"shop.example".into(), &"W".into())
    );
    assert_eq!(busy["client"], "127.0.0.1", "{busy}");
    assert!(
        busy["queue_wait_us"].is_u64() && busy["private_bytes"].as_u64() > Some(0) && busy["cpu_ms"].is_u64(),
        "{busy}"
    );
    let table = server.control(["status"]).succeeded().out;
    let line = table.lines().find(|line| line.contains("W busy")).unwrap_or_else(|| panic!("{table}"));
    assert!(line.ends_with("127.0.0.1  shop.example GET /slow"), "{line}");
    let page = server.text("/server-status");
    let row = page.lines().find(|line| line.contains("GET /slow")).unwrap_or_else(|| panic!("{page}"));
    assert!(row.ends_with("<td>127.0.0.1</td><td>shop.example</td><td>GET /slow</td></tr>"), "{row}");
    server.site.write("go", "");
    client.response().is(200);
    until("the status shows the worker's request", || {
        server.control(["status"]).succeeded().out.contains("(shop.example GET /slow)")
    });
}

#[test]
fn a_worker_that_cleans_up_has_the_letter_of_logging() {
    let server = serve("");
    server.get("/cleanup").is(200);
    until("the status shows the worker's activity", || {
        worker(&server, "Busy").is_some_and(|worker| worker["activity"] == "L")
    });
    assert!(
        server.text("/server-status?auto").contains("Scoreboard: L")
            || server.text("/server-status?auto").contains("_L")
    );
    server.site.write("go", "");
    server.until_idle(2);
}

#[test]
fn ends_of_workers_are_counted_by_their_reasons() {
    let server = serve("StartServers 2\nMinSpareServers 2\nMaxRequestsPerChild 3");
    server.get("/harakiri");
    until("harakiri is counted", || exits(&server, "program") == 1);
    server.until_idle(2);
    (0..5).for_each(|_| drop(server.get("/")));
    until("a limit of requests is counted", || exits(&server, "max_requests") >= 1);
    server.until_idle(2);
    signal(server.workers()[0].0, Signal::SIGKILL);
    until("a death is counted", || exits(&server, "signal") == 1);
    server.until_idle(2);
    server.reload().succeeded();
    server.until_idle(2);
    until("a reload's ends are counted", || exits(&server, "reload") == 2);
    server.site.write("app.psgi", "sub {");
    assert_ne!(server.reload().code, 0);
    let counts = server.status()["counts"].clone();
    assert_eq!((&counts["reloads"], &counts["failed_reloads"]), (&1.into(), &1.into()), "{counts}");
    assert_eq!(counts["exits"].get("exit"), None, "{counts}");
    let table = server.control(["status"]).succeeded().out;
    assert!(table.contains("1 signal") && table.contains("reloads: 1 ok, 1 failed"), "{table}");
    let metrics = server.text("/metrics");
    for line in [
        "cameleer_worker_exits_total{reason=\"signal\"} 1\n",
        "cameleer_worker_exits_total{reason=\"program\"} 1\n",
        "cameleer_worker_exits_total{reason=\"out_of_memory\"} 0\n",
        "cameleer_reloads_total{result=\"ok\"} 1\n",
        "cameleer_reloads_total{result=\"failed\"} 1\n",
        "cameleer_refork_generation 0\n",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
}

#[test]
fn the_command_line_has_the_lines_that_the_page_has() {
    let server = serve("");
    server.get("/");
    let names = |text: &str| -> Vec<String> {
        text.lines().skip(1).filter_map(|line| Some(line.split_once(": ")?.0.to_owned())).collect()
    };
    let page = server.text("/server-status?auto");
    let output = server.control(["status", "--auto"]).succeeded().out;
    assert_eq!(names(&output), names(&page));
    let line = |text: &str, name: &str| text.lines().find(|line| line.starts_with(name)).map(str::to_owned);
    for same in ["ServerVersion", "Server Built", "RestartTime", "ParentServerConfigGeneration", "Scoreboard"] {
        assert_eq!(line(&output, same), line(&page, same), "{same}");
    }
    assert!(output.starts_with("shop.example\n"), "{output}");
}

#[test]
fn the_slowest_request_of_each_path_is_listed_with_its_client() {
    let server = serve("RemoteIPHeader X-Forwarded-For\nRemoteIPInternalProxy 127.0.0.1");
    (0..40).for_each(|_| drop(server.get("/often")));
    let behind = Request::get("/once").header("X-Forwarded-For", "192.0.2.7");
    server.send(behind).is(200);
    until("both paths are listed", || slowest(&server).len() == 2);
    let listed = slowest(&server);
    assert!(listed.iter().any(|slow| slow["request"] == "GET /once" && slow["client"] == "192.0.2.7"), "{listed:?}");
    assert!(listed.iter().any(|slow| slow["request"] == "GET /often" && slow["client"] == "127.0.0.1"), "{listed:?}");
}

fn slowest(server: &Server) -> Vec<Value> {
    server.status()["front"]["slowest"].as_array().cloned().unwrap_or_default()
}
