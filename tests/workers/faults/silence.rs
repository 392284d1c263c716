//! A front that is alive but does not respond.

use std::collections::BTreeSet;
use std::time::Duration;

use nix::sys::signal::Signal;

use super::serve;
use crate::support::{Server, alive, let_pass, signal, state, until};

const APP: &str = "sub { [200, [], [$$]] }";

fn front(server: &Server) -> i32 {
    server.status()["front_pid"].as_i64().unwrap_or(0) as i32
}

fn silence(server: &Server) -> i32 {
    let silent = front(server);
    signal(silent, Signal::SIGSTOP);
    until("the process is stopped", || state(silent) == Some('T'));
    silent
}

#[test]
fn a_silent_front_is_replaced_and_the_workers_stay() {
    let server = serve(APP, "FrontTimeout 1s");
    server.until_idle(2);
    let workers: BTreeSet<i32> = server.workers().into_iter().map(|(pid, _)| pid).collect();
    let silent = silence(&server);
    // No connection is refused meanwhile.
    let mut early = server.connect();
    early.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let answered: i32 = early.response().is(200).text().parse().expect("a pid");
    assert!(workers.contains(&answered), "{answered} is not of {workers:?}");
    assert!(!alive(silent));
    let line = server.logged("has not answered for 1 s (FrontTimeout), and is killed");
    assert!(line.contains(&format!("front pid={silent} ")), "{line}");
    server.until_idle(2);
    assert_eq!(server.workers().into_iter().map(|(pid, _)| pid).collect::<BTreeSet<i32>>(), workers);
}

#[test]
fn a_status_and_a_stop_do_not_wait_for_a_silent_front() {
    let mut server = serve(APP, "FrontTimeout 0");
    let silent = silence(&server);
    let output = server.control(["status"]).succeeded();
    assert!(output.out.contains("the front does not answer"), "{output:?}");
    assert_eq!(server.status()["front_pid"], silent);
    until("the server stops", || server.control(["stop"]).code == 0);
    assert_eq!(server.wait(), 0);
}

#[test]
fn a_reload_reports_that_the_front_does_not_answer() {
    let server = serve(APP, "FrontTimeout 2s\nStartTimeout 10000s");
    silence(&server);
    // A reload that waits for StartTimeout would outlast the test.
    server.reload().failed(1, "the front did not answer");
    server.text("/");
    server.reload().succeeded();
}

#[test]
fn a_master_that_is_stopped_again_and_again_counts_only_its_own_waiting() {
    let server = serve(APP, "FrontTimeout 4s");
    let silent = silence(&server);
    // 5.7 s without a response, in which the master itself waits for moments only.
    for _ in 0..6 {
        server.signal(Signal::SIGSTOP);
        let_pass(Duration::from_millis(950));
        server.signal(Signal::SIGCONT);
        until("the master waits again", || state(server.pid()) == Some('S'));
    }
    signal(silent, Signal::SIGCONT);
    server.text("/");
    assert_eq!(front(&server), silent);
}

#[test]
fn a_stopped_master_does_not_replace_its_front() {
    let server = serve(APP, "FrontTimeout 1s");
    let ours = front(&server);
    for _ in 0..2 {
        server.signal(Signal::SIGSTOP);
        signal(ours, Signal::SIGSTOP);
        let_pass(Duration::from_millis(1500));
        server.signal(Signal::SIGCONT);
        signal(ours, Signal::SIGCONT);
        server.text("/");
    }
    assert_eq!(front(&server), ours);
    assert!(!server.log().contains("FrontTimeout"), "{}", server.log());
}
