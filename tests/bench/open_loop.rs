//! Open loop: requests start at their scheduled times, whether or not the server keeps up.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{Scripted, failed_report, quantile, report};
use crate::support::{let_pass, until};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// A server that responds at once, but stalls for `pause` at the 50th request.
fn stalling(pause: Duration) -> Scripted {
    let answering = Mutex::new(());
    Scripted::start(move |stream, number| {
        let _turn = answering.lock();
        if number == 50 {
            let_pass(pause);
        }
        stream.write_all(OK).is_ok()
    })
}

#[test]
#[ignore = "measures time: `make timing`"]
fn a_pause_of_the_server_is_in_the_latencies_of_all_requests_that_were_due() {
    let pause = Duration::from_millis(500);
    let open = report("-n 200 -c 4 --rate 200", &stalling(pause).url);
    let closed = report("-n 200 -c 4", &stalling(pause).url);
    // 100 of 200 requests were due during the pause, and waited 250 ms on average.
    assert!(quantile(&open, 0.75) > 0.15, "{open}");
    assert!(open["latency"]["mean"].as_f64() > Some(0.08), "{open}");
    // In the closed loop, the pause delays only the four requests in flight.
    assert!(quantile(&closed, 0.9) < 0.15, "{closed}");
    assert!(open["notes"].to_string().contains("had to wait until one of 4 connections was free"), "{open}");
    assert!(open["waited"].as_u64() > Some(50), "{open}");
}

#[test]
#[ignore = "measures time: `make timing`"]
fn the_measured_latency_is_the_servers_response_time() {
    // The server measures each pause, because a busy machine prolongs it.
    let took = Arc::new(Mutex::new(Vec::new()));
    let noted = took.clone();
    let server = Scripted::start(move |stream, _| {
        let begun = Instant::now();
        let_pass(Duration::from_millis(20));
        noted.lock().expect("no test panics with it").push(begun.elapsed().as_secs_f64());
        stream.write_all(OK).is_ok()
    });
    let report = report("-n 200 -c 20 --rate 200", &server.url);
    let mut took = took.lock().expect("no test panics with it").clone();
    took.sort_by(f64::total_cmp);
    let (least, half) = (took[0], took[took.len() / 2]);
    assert!((least..half + 0.005).contains(&quantile(&report, 0.5)), "{half}: {report}");
}

#[test]
fn requests_are_sent_at_the_given_rate() {
    for options in ["-n 200 -c 4 --rate 400", "-n 200 -c 4 --rate 400 --poisson"] {
        let server = Scripted::start(|stream, _| stream.write_all(OK).is_ok());
        let report = report(options, &server.url);
        assert_eq!((report["requests"].as_u64(), server.requests()), (Some(200), 200));
        let seconds = report["seconds"].as_f64().expect("a time");
        // 199 gaps of 2.5 ms. The sum of random gaps may deviate by five standard deviations of 35 ms each.
        let least = if options.contains("poisson") { 0.32 } else { 0.497 };
        assert!(seconds >= least, "{report}");
        assert_eq!(report["loop"], "open");
        assert!(report["lateness"]["quantiles"].is_array(), "{report}");
    }
}

#[test]
fn requests_that_were_due_but_not_sent_are_reported() {
    let server = Scripted::start(|stream, _| stream.read(&mut [0]).is_ok_and(|size| size > 0));
    let report = failed_report("-t 0.5 -c 2 --rate 100 --timeout 0.3", &server.url);
    let (requests, unsent) = (report["requests"].as_u64().expect("a number"), report["unsent"].as_u64());
    assert_eq!(unsent, Some(50 - requests), "{report}");
    until("the server has read what was sent", || server.requests() == requests);
    assert!(report["notes"].to_string().contains("requests were never sent"), "{report}");
}
