//! Mold and master die.

use nix::sys::signal::Signal;

use super::{HANGS, serve};
use crate::support::{children, signal, until};

#[test]
fn a_mold_that_dies_is_replaced_and_requests_go_on() {
    let server = serve("sub { [200, [], ['ok']] }", "");
    let mold = server.status()["generations"][0]["mold_pid"].as_i64().expect("a mold") as i32;
    signal(mold, Signal::SIGKILL);
    until("another one forks", || {
        let status = server.status();
        let molds = status["generations"].as_array().cloned().unwrap_or_default();
        molds.iter().any(|g| g["state"] == "Serving" && g["mold_pid"].as_i64() != Some(i64::from(mold)))
    });
    assert_eq!(server.text("/"), "ok");
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
