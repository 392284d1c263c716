//! Several threads, and several concurrent requests on a connection.

use std::collections::BTreeMap;

use nix::sys::signal::Signal;

use super::{Scripted, read, report};
use crate::support::{Finished, Server, Site, signal, until};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

#[test]
fn threads_share_requests_and_connections() {
    let server = Scripted::saying(OK);
    let report = report("-n 1001 -c 5 --threads 3", &server.url);
    assert_eq!((server.requests(), server.connections()), (1001, 5));
    assert_eq!((&report["completed"], &report["requests"]), (&1001.into(), &1001.into()), "{report}");
    assert_eq!((&report["threads"], &report["connections_opened"]), (&3.into(), &5.into()), "{report}");
    let pieces = report["intervals"].as_array().expect("a list");
    assert_eq!(pieces.iter().filter_map(|piece| piece["requests"].as_u64()).sum::<u64>(), 1001, "{report}");
    assert!(pieces.iter().all(|piece| piece["p99"].as_f64() >= piece["median"].as_f64()), "{report}");
    assert!(pieces.iter().any(|piece| piece["median"].as_f64() > Some(0.0)), "{report}");
}

#[test]
fn threads_request_a_list_as_often_as_one_thread() {
    let site = Site::new().file("urls.txt", "/a\n/b\n/c\n/d\n/e\n");
    let server = Scripted::saying(OK);
    let mut command = site.command(["bench", "-n", "500", "-c", "4", "--threads", "2", "--urls", "urls.txt"]);
    Finished::of(command.arg(&server.url)).succeeded();
    let mut requests: BTreeMap<String, u32> = BTreeMap::new();
    for text in server.texts() {
        *requests.entry(text.split(' ').nth(1).expect("a path").to_owned()).or_default() += 1;
    }
    let expected = ["/a", "/b", "/c", "/d", "/e"].map(|path| (path.to_owned(), 100));
    assert_eq!(requests, BTreeMap::from(expected));
}

#[test]
fn a_rate_is_that_of_all_threads() {
    let server = Scripted::saying(OK);
    let report = report("-t 1 -c 4 --rate 200 --threads 2", &server.url);
    // The last request may be due at the very end.
    let requests = report["requests"].as_u64().expect("a number") + report["unsent"].as_u64().expect("a number");
    assert!((199..=201).contains(&requests), "{report}");
    assert_eq!(report["rate"], 200.0);
}

#[test]
fn an_interrupt_ends_all_threads_with_a_report() {
    let (site, server) = (Site::new(), Scripted::saying(OK));
    let mut command = site.command(["bench", "-t", "600", "-c", "4", "--threads", "4", "--json", &server.url]);
    let out = std::fs::File::create(site.path("report.json")).expect("a file");
    let mut child = command.stdout(out).spawn().expect("started");
    until("all have asked", || server.connections() == 4 && server.requests() > 100);
    signal(child.id() as i32, Signal::SIGINT);
    assert!(child.wait().expect("our child").success());
    let report = read(&Finished { code: 0, out: site.read("report.json"), err: String::new() });
    assert_eq!(report["interrupted"], true);
    assert!(report["requests"].as_u64() > Some(100), "{report}");
}

/// An application with two workers, which respond as soon as both have a request.
const TOGETHER: &str = "sub { my $end = time + 30; open my $own, '>', '@DIR@/tmp/in.'.$$ or die;
    until ((my @in = glob '@DIR@/tmp/in.*') == 2) { return [500, [], ['alone']] if time > $end; select undef, undef, undef, 0.01 }
    [200, [], ['together']] }";

fn http2(app: &str) -> Server {
    let conf = "Protocols h2c http/1.1\n<Location />\nPsgiApp app.psgi\n</Location>";
    let server = Site::new().file("app.psgi", app).serve(conf);
    server.until_idle(2);
    server
}

#[test]
fn a_connection_has_several_requests_at_once() {
    let server = http2(TOGETHER);
    let url = format!("http://127.0.0.1:{}/", server.site.port);
    let report = report("-n 2 -c 1 --http2 --streams 2 --expect-body together", &url);
    assert_eq!((&report["completed"], &report["connections_opened"]), (&2.into(), &1.into()), "{report}");
    assert_eq!(report["streams"], 2);
}

#[test]
fn a_stream_that_fails_takes_no_other_one_with_it() {
    let server = http2("sub { $_[0]{PATH_INFO} eq '/bad' ? [500, [], ['no']] : [200, [], ['x' x 100_000]] }");
    let site = Site::new().file("urls.txt", "/good\n/bad\n/good\n/good\n");
    let mut command = site.command(["bench", "-n", "400", "-c", "2", "--threads", "2", "--http2", "--streams", "5"]);
    command.args(["--json", "--urls", "urls.txt"]).arg(format!("http://127.0.0.1:{}/", server.site.port));
    let report = read(&Finished::of(&mut command).failed(1, "100 of 400 requests failed"));
    assert_eq!((&report["statuses"]["200"], &report["statuses"]["500"]), (&300.into(), &100.into()), "{report}");
    assert_eq!(report["connections_opened"], 2, "{report}");
    assert_eq!(report["received_bytes"], 300 * 100_000 + 100 * 2);
}

#[test]
fn several_streams_are_http2s() {
    let site = Site::new();
    site.cameleer(["bench", "--streams", "2", "http://localhost/"]).failed(2, "--http2");
    site.cameleer(["bench", "--http2", "--close", "--streams", "2", "http://localhost/"]).failed(2, "--close");
    site.cameleer(["bench", "--threads", "0", "http://localhost/"]).failed(2, "--threads");
}
