//! Comparison of two servers.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{Scripted, report, run};
use crate::support::let_pass;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// A server that responds after `pause` and records each response.
fn server(name: char, pause: Duration, order: &Arc<Mutex<String>>) -> Scripted {
    let order = order.clone();
    Scripted::start(move |stream, _| {
        let_pass(pause);
        order.lock().expect("no test panics with it").push(name);
        stream.write_all(OK).is_ok()
    })
}

#[test]
fn two_servers_are_measured_in_turns_and_the_slower_one_is_found() {
    let order = Arc::default();
    let (fast, slow) = (server('a', Duration::ZERO, &order), server('b', Duration::from_millis(20), &order));
    let report = report(&format!("-n 100 -c 1 --vs {}", slow.url), &fast.url);
    assert_eq!((&report["a"]["completed"], &report["b"]["completed"]), (&100.into(), &100.into()), "{report}");
    let ratios = report["ratios"].as_array().expect("a list");
    let (rate, median) = (&ratios[0], &ratios[1]);
    assert!(rate["difference"] == true && rate["high"].as_f64() < Some(1.0), "{report}");
    assert!(median["difference"] == true && median["low"].as_f64() > Some(1.0), "{report}");
    assert_eq!(report["rounds"], 10);
    let mut turns: Vec<char> = order.lock().expect("no test panics with it").chars().collect();
    turns.dedup();
    assert_eq!(turns.into_iter().collect::<String>(), "abababababa");
    let output = run(&format!("-n 100 -c 1 --vs {}", slow.url), &fast.url).succeeded();
    assert!(output.out.contains("requests/s: B answers 0."), "{output:?}");
}

#[test]
fn a_winner_is_named_only_if_the_interval_excludes_1() {
    let order = Arc::default();
    let (one, same) = (server('a', Duration::from_millis(1), &order), server('b', Duration::from_millis(1), &order));
    let output = run(&format!("-n 100 -c 1 --vs {} --json", same.url), &one.url).succeeded();
    let report = super::read(&output);
    for ratio in report["ratios"].as_array().expect("a list") {
        let number = |name: &str| ratio[name].as_f64().expect("a number");
        let excludes_one = number("low") > 1.0 || number("high") < 1.0;
        assert_eq!(ratio["difference"], excludes_one, "{report}");
    }
    let broken = Scripted::start(|_, _| false);
    let output = run(&format!("-n 100 -c 1 --vs {}", broken.url), &one.url).failed(1, "requests failed");
    assert!(output.out.contains("requests/s: cannot be compared"), "{output:?}");
}
