//! Closed loop: each connection sends its next request after the response to the last.

use std::io::Write;
use std::net::Shutdown;

use nix::sys::signal::Signal;
use rustix::net::{SendFlags, send};

use super::{Scripted, quantile, read, report, run};
use crate::support::{Finished, Site, signal, until};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

#[test]
fn the_given_number_of_requests_is_sent_over_the_given_number_of_connections() {
    let server = Scripted::saying(OK);
    let report = report("-n 1000 -c 4", &server.url);
    assert_eq!((server.requests(), server.connections()), (1000, 4));
    assert_eq!((&report["completed"], &report["failed"]), (&1000.into(), &0.into()), "{report}");
    assert_eq!(report["connections_opened"], 4);
    assert_eq!(report["received_bytes"], 1000 * OK.len());
    assert_eq!(report["statuses"]["200"], 1000);
    let (seconds, rate) = (report["seconds"].as_f64(), report["requests_per_second"].as_f64());
    let requests = seconds.expect("a time") * rate.expect("a rate");
    assert!((requests - 1000.0).abs() < 0.01, "{report}");
    assert!(quantile(&report, 0.5) <= quantile(&report, 0.999), "{report}");
}

#[test]
fn the_option_close_opens_a_connection_for_each_request() {
    let server = Scripted::saying(OK);
    report("-n 50 -c 5 --close", &server.url);
    assert_eq!((server.requests(), server.connections()), (50, 50));
    assert!(server.texts().iter().all(|text| text.contains("\nconnection: close\n")));
}

#[test]
fn a_response_ends_at_the_end_of_its_framing() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";
    let continued = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    for (answer, keeps) in [(chunked, true), (continued, true), ("HTTP/1.1 200 OK\r\n\r\nhello", false)] {
        let server = Scripted::start(move |stream, _| stream.write_all(answer.as_bytes()).is_ok() && keeps);
        let report = report("-n 20 -c 1 --expect-body hello", &server.url);
        assert_eq!((&report["completed"], server.requests()), (&20.into(), 20), "{answer:?}: {report}");
        assert_eq!(server.connections(), if keeps { 1 } else { 20 }, "{answer:?}");
    }
}

#[test]
fn a_connection_that_the_server_closed_after_an_answer_is_no_failure() {
    let server = Scripted::start(|stream, _| {
        // The FIN travels in the packet of the response, so that it arrives before the next request.
        let sent = send(&*stream, OK.as_bytes(), SendFlags::MORE);
        assert_eq!((sent, stream.shutdown(Shutdown::Write).is_ok()), (Ok(OK.len()), true));
        false
    });
    let report = report("-n 10 -c 1", &server.url);
    assert_eq!((&report["completed"], &report["connections_opened"]), (&10.into(), &10.into()), "{report}");
}

#[test]
fn a_large_answer_is_read_to_its_end() {
    let body = "x".repeat(3_000_000);
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let length = answer.len();
    let server = Scripted::start(move |stream, _| stream.write_all(answer.as_bytes()).is_ok());
    let report = report("-n 6 -c 2", &server.url);
    assert_eq!(report["received_bytes"], 6 * length);
}

#[test]
fn requests_of_the_warm_up_do_not_count() {
    let server = Scripted::saying(OK);
    let report = report("-n 100 -c 2 --warm-up 0.2", &server.url);
    assert_eq!(report["requests"], 100);
    let before = report["warm_up_requests"].as_u64().expect("a number");
    assert!(before > 0, "{report}");
    assert_eq!(server.requests(), before + 100);
}

#[test]
fn a_time_limit_ends_the_measurement() {
    let server = Scripted::saying(OK);
    let report = report("-t 0.3 -c 2", &server.url);
    let seconds = report["seconds"].as_f64().expect("a time");
    assert!(seconds >= 0.299, "{report}");
    // Each connection may have one more request in flight.
    let requests = report["requests"].as_u64().expect("a number");
    assert!((requests..=requests + 2).contains(&server.requests()), "{report}");
}

#[test]
fn an_interrupt_ends_the_measurement_with_a_report() {
    let (site, server) = (Site::new(), Scripted::saying(OK));
    let mut command = site.command(["bench", "-t", "600", "--json", &server.url]);
    let out = std::fs::File::create(site.path("report.json")).expect("a file");
    let mut child = command.stdout(out).spawn().expect("started");
    until("the load tester sends requests", || server.requests() > 100);
    let before = server.requests();
    signal(child.id() as i32, Signal::SIGINT);
    assert!(child.wait().expect("our child").success());
    let report = read(&Finished { code: 0, out: site.read("report.json"), err: String::new() });
    assert_eq!(report["interrupted"], true);
    // Each connection may have had one more request in flight.
    let requests = report["requests"].as_u64().expect("a number");
    assert!((before..=requests + server.connections()).contains(&server.requests()), "{report}");
}

#[test]
fn the_report_is_the_table_of_the_documents_in_eighty_columns() {
    let server = Scripted::saying(OK);
    let output = run("-n 1000 -c 2", &server.url).succeeded();
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<&str> = output.out.lines().collect();
    let head = lines.iter().position(|line| words(line) == ["NR", "NC", "RPS", "avtime", "completed", "failed"]);
    let row = words(lines[head.expect("the head of the table") + 1]);
    assert_eq!(
        (&row[0][..], &row[1][..], &row[row.len() - 2][..], &row[row.len() - 1][..]),
        ("1000", "2", "1000", "0")
    );
    assert!(lines.iter().any(|line| line.trim_start().starts_with("99.9 % within")), "{output:?}");
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{output:?}");
    assert_eq!(output.err, "", "no progress where no terminal is");
    let output = run("-n 1000 -c 2 --markdown", &server.url).succeeded();
    assert!(output.out.contains("| NR | NC | RPS | avtime | completed | failed |\n|--:|"), "{output:?}");
    assert!(output.out.contains("\n| 1000 | 2 | "), "{output:?}");
}

#[test]
fn an_option_without_meaning_is_a_2() {
    for (options, url) in [
        ("-c 0", "http://localhost/"),
        ("-n many", "http://localhost/"),
        ("-t -1", "http://localhost/"),
        ("--rate 0", "http://localhost/"),
        ("--poisson", "http://localhost/"),
        ("-H nothing", "http://localhost/"),
        ("-X G@T", "http://localhost/"),
        ("--expect 42", "http://localhost/"),
        ("--throttle 1", "http://localhost/"),
        ("", "ftp://localhost/"),
        ("", "http://"),
    ] {
        let output = run(options, url);
        assert_eq!(output.code, 2, "{options} {url}: {output:?}");
    }
}
