//! Mold and master die.

use nix::sys::signal::Signal;

use super::{HANGS, serve};
use crate::support::{Server, children, signal, until};

#[test]
fn a_mold_that_dies_is_replaced_and_requests_go_on() {
    let server = serve("sub { [200, [], ['ok']] }", "");
    kill_mold(&server);
    assert_eq!(server.text("/"), "ok");
}

#[test]
fn a_mold_that_dies_again_and_again_is_started_ever_more_slowly() {
    let server = serve("sub { [200, [], ['ok']] }", "");
    (0..3).for_each(|_| kill_mold(&server));
    let log = server.log();
    for wait in ["0.1 s", "0.2 s", "0.4 s"] {
        assert!(
            log.contains(&format!("ended signal=9; its workers serve on, the next starts in {wait}")),
            "{wait}: {log}"
        );
    }
}

/// Ends the mold and waits for the next.
fn kill_mold(server: &Server) {
    let old = server.status()["generations"][0]["mold_pid"].as_i64().expect("a mold");
    signal(old as i32, Signal::SIGKILL);
    until("another one forks", || {
        let status = server.status();
        let molds = status["generations"].as_array().cloned().unwrap_or_default();
        let is_another = |pid: &serde_json::Value| pid.as_i64().is_some_and(|pid| pid > 0 && pid != old);
        molds.iter().any(|g| g["state"] == "Serving" && is_another(&g["mold_pid"]))
    });
}

#[test]
fn a_master_that_is_killed_takes_front_and_workers_along() {
    let mut server = serve(HANGS, "");
    let mut busy = server.connect();
    busy.raw("GET /hang HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("it hangs", || !server.site.read("hanging").is_empty());
    assert!(!children(server.pid()).is_empty());
    server.signal(Signal::SIGKILL);
    assert_eq!(server.wait(), -1);
    server.until_gone();
}
