//! Lists of URLs, logs, slow clients.

use std::collections::BTreeMap;
use std::io::Write;

use super::{Scripted, read, report};
use crate::support::{Finished, Site};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

#[track_caller]
fn ask(site: &Site, options: &str, server: &Scripted) -> Finished {
    let mut command = site.command(["bench", "--json"]);
    command.args(options.split_whitespace()).arg(&server.url);
    Finished::of(&mut command)
}

/// The number of requests for each target.
fn targets(server: &Scripted) -> BTreeMap<String, usize> {
    let mut targets = BTreeMap::new();
    for text in server.texts() {
        *targets.entry(text.split(' ').nth(1).unwrap_or_default().to_owned()).or_default() += 1;
    }
    targets
}

fn line(second: u32, request: &str) -> String {
    format!("::1 - - [10/Oct/2000:13:55:{second:02} -0700] \"{request}\" 200 5 \"-\" \"Agent\"\n")
}

#[test]
fn a_list_of_urls_is_requested_in_order() {
    let server = Scripted::saying(OK);
    let site = Site::new().file("urls.txt", &format!("# comment\n/a\n\n/b?c=d\n{}e\n", server.url));
    read(&ask(&site, "-n 9 -c 1 --urls urls.txt", &server).succeeded());
    assert_eq!(targets(&server), BTreeMap::from([("/a".into(), 3), ("/b?c=d".into(), 3), ("/e".into(), 3)]));
}

#[test]
fn a_list_that_makes_no_sense_is_refused_with_its_line() {
    let server = Scripted::saying(OK);
    let site = Site::new().file("other.txt", "/a\nhttp://elsewhere.test/\n").file("empty.txt", "# nothing\n");
    ask(&site, "--urls other.txt", &server).failed(1, "other.txt:2: http://elsewhere.test/: is on another server than");
    ask(&site, "--urls empty.txt", &server).failed(1, "contains no URL");
    ask(&site, "--urls /dev/zero", &server).failed(1, "/dev/zero:1: a line of more than 65536 bytes");
    ask(&site, "--log empty.txt", &server).failed(1, "contains no GET in common or combined format");
    assert_eq!(server.requests(), 0);
}

#[test]
fn a_log_is_replayed_with_its_mix_of_requests() {
    let server = Scripted::saying(OK);
    let log: String =
        (0..30).map(|n| line(n, if n % 3 == 0 { "GET /rare HTTP/1.1" } else { "GET /often?x HTTP/1.0" })).collect();
    let site = Site::new().file("access.log", &(log + &line(31, "POST /form HTTP/1.1") + "nonsense\n"));
    let report = read(&ask(&site, "-n 60 -c 2 --log access.log", &server).succeeded());
    assert_eq!(targets(&server), BTreeMap::from([("/often?x".into(), 40), ("/rare".into(), 20)]));
    assert!(report["notes"].to_string().contains("30 GETs of the log are sent; 2 other lines are omitted"), "{report}");
}

#[test]
fn a_log_is_replayed_at_its_times() {
    let server = Scripted::saying(OK);
    let log: String = [0, 0, 1, 1, 4].into_iter().map(|second| line(second, "GET / HTTP/1.1")).collect();
    let site = Site::new().file("access.log", &log);
    let report = read(&ask(&site, "-c 2 --log access.log --log-rate 10x", &server).succeeded());
    assert_eq!((&report["requests"], &report["loop"]), (&5.into(), &"open".into()), "{report}");
    // The log covers four seconds, replayed ten times as fast.
    assert!(report["seconds"].as_f64() >= Some(0.4), "{report}");
}

#[test]
fn a_slow_client_takes_the_time_of_its_line() {
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{}", "x".repeat(5000));
    let server = Scripted::start(move |stream, _| stream.write_all(answer.as_bytes()).is_ok());
    let report = report("-n 2 -c 2 --throttle 80k", &server.url);
    // 5000 bytes at 10,000 bytes a second; the last piece needs no wait.
    assert!(report["latency"]["min"].as_f64() >= Some(0.4), "{report}");
}
