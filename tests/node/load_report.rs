//! `LoadReport orca`: the load in a header of responses, for Envoy.

use crate::support::{Server, Site, until};

/// An application that waits at /slow until the file `go` exists.
const APP: &str = "sub { if ($_[0]{PATH_INFO} eq '/slow') { until (-e '@DIR@/go') { select undef, undef, undef, 0.01 } } [200, [], ['ok']] }";

fn serve(conf: &str) -> Server {
    let place = "<Location /app>\nPsgiApp app.psgi\n</Location>\n";
    Site::new().file("app.psgi", APP).file("htdocs/page.txt", "page").serve(&format!("{place}{conf}"))
}

/// A number of the report.
fn number(server: &Server, name: &str) -> f64 {
    let report = server.get("/page.txt").is(200).header("endpoint-load-metrics").expect("a report");
    let numbers = report.strip_prefix("TEXT ").expect("the text form").split(", ");
    let found = numbers.filter_map(|pair| pair.split_once('=')).find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("{name} is not in {report}")).1.parse().expect("a number")
}

#[test]
fn responses_report_the_load_of_processors_memory_and_workers() {
    let server = serve("LoadReport orca\n");
    for name in ["cpu_utilization", "mem_utilization"] {
        assert!((0.0..=1.0).contains(&number(&server, name)), "{name}");
    }
    until("requests are counted", || number(&server, "rps_fractional") > 0.0);
    assert_eq!(number(&server, "eps"), 0.0);
    let mut slow = server.connect();
    slow.raw("GET /app/slow HTTP/1.1\r\nHost: a\r\n\r\n");
    until("one of two workers is busy", || (0.4..0.6).contains(&number(&server, "application_utilization")));
    server.site.write("go", "");
    slow.response().is(200);
    until("no worker is busy", || number(&server, "application_utilization") == 0.0);
}

#[test]
fn a_slow_start_ends() {
    let server = serve("LoadReport orca\nSlowStart 3s\n");
    let mut slow = server.connect();
    slow.raw("GET /app/slow HTTP/1.1\r\nHost: a\r\n\r\n");
    until("the whole weight is reported", || (0.4..0.6).contains(&number(&server, "application_utilization")));
    server.site.write("go", "");
    slow.response().is(200);
}

#[test]
fn without_the_directive_no_client_sees_the_load() {
    assert_eq!(serve("").get("/page.txt").is(200).header("endpoint-load-metrics"), None);
}
