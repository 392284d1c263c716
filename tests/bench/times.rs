//! The parts of a response's time, in the table of ab.

use std::io::Write;
use std::time::Duration;

use serde_json::Value;

use super::{Scripted, report, run};
use crate::support::let_pass;

const PAUSE: f64 = 0.03;

/// A server that pauses before the first byte of a response, and before the last.
fn slow() -> Scripted {
    Scripted::start(|stream, _| {
        let_pass(Duration::from_secs_f64(PAUSE));
        let head = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel");
        let_pass(Duration::from_secs_f64(PAUSE));
        head.and_then(|()| stream.write_all(b"lo")).is_ok()
    })
}

fn time(report: &Value, of: &str, what: &str) -> f64 {
    report["connection_times"][of][what].as_f64().unwrap_or_else(|| panic!("no {what} of {of} in {report}"))
}

#[test]
fn waiting_ends_with_the_first_byte_and_processing_with_the_last() {
    let kept = report("-n 6 -c 2", &slow().url);
    // The client's clock starts behind the write, which may be late for one request on a busy machine.
    assert!(time(&kept, "waiting", "max") >= PAUSE * 0.99, "{kept}");
    assert!(time(&kept, "processing", "max") >= 2.0 * PAUSE * 0.99, "{kept}");
    assert!(time(&kept, "waiting", "mean") < time(&kept, "processing", "mean"), "{kept}");
    let sum = time(&kept, "connect", "mean") + time(&kept, "processing", "mean");
    assert!((sum - time(&kept, "total", "mean")).abs() < 0.001, "{kept}");
    assert!(
        (time(&kept, "total", "mean") - kept["latency"]["mean"].as_f64().expect("seconds")).abs() < 0.001,
        "{kept}"
    );
    assert_eq!(time(&kept, "connect", "min"), 0.0, "four of six had a connection: {kept}");
    let closed = report("-n 6 -c 2 --close", &slow().url);
    assert!(time(&closed, "connect", "min") > 0.0, "{closed}");
}

#[test]
fn the_wait_for_a_connection_is_in_no_part_of_the_time() {
    let open = report("-n 10 -c 1 --rate 1000", &slow().url);
    assert!(open["latency"]["max"].as_f64() > Some(PAUSE * 10.0), "{open}");
    // The last request waits for nine others, which take two pauses each. All requests are due within 9 ms.
    let others = 9.0 * 2.0 * PAUSE * 0.99 - 0.009;
    assert!(time(&open, "total", "max") <= open["latency"]["max"].as_f64().expect("seconds") - others, "{open}");
}

#[test]
fn the_times_are_a_table_of_milliseconds() {
    let output = run("-n 4 -c 2", &slow().url).succeeded().out;
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<Vec<String>> = output.lines().map(words).collect();
    let head = ["connection", "times", "(ms)", "min", "mean", "[+/-sd]", "median", "max"];
    let at = lines.iter().position(|line| line == &head).unwrap_or_else(|| panic!("no table in {output}"));
    let names: Vec<&str> = lines[at + 1..at + 5].iter().map(|line| line[0].as_str()).collect();
    assert_eq!(names, ["connect", "processing", "waiting", "total"]);
    let waiting: Vec<f64> = lines[at + 3][1..].iter().map(|word| word.parse().expect("a number")).collect();
    assert!(waiting.len() == 5 && waiting[0] >= PAUSE * 990.0 && waiting[4] >= waiting[3], "{output}");
    assert!(output.lines().all(|line| line.chars().count() <= 80), "{output}");
}
