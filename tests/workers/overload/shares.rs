//! `PoolShare`: slow parts of a site cannot starve other parts.

use super::{hold, release, serve, until_begun};
use crate::support::{Load, until};

const REPORT: &str = "<Location /report>\nPoolShare 50%\n</Location>";

#[test]
fn slow_requests_have_their_share_and_the_rest_of_the_site_has_the_rest() {
    let server = serve(4, REPORT);
    let held = hold(&server, "/report/hold", 6);
    until_begun(&server, 2);
    until("the others wait", || server.status()["front"]["queued"] == 4);
    let load = Load::start(&server, 4, "/quick", |response| response.status == 200);
    load.until_answered(200);
    assert_eq!(load.failures(), Vec::<String>::new());
    let status = server.status();
    let share = &status["front"]["shares"][0];
    assert_eq!(share["place"], "<Location /report>");
    assert_eq!((&share["most"], &share["busy"], &share["queued"]), (&2.into(), &2.into(), &4.into()), "{share}");
    let table = server.control(["status"]).succeeded().out;
    assert!(table.contains("share <Location /report>  2 of 2 workers  4 queued  0 shed\n"), "{table}");
    assert_eq!(server.workers().len(), 4, "who waits for a share is no reason to fork");
    release(&server);
    held.into_iter().for_each(|mut connection| drop(connection.response().is(200)));
    until("the share is free", || server.status()["front"]["shares"][0]["busy"] == 0);
}

#[test]
fn a_share_is_left_when_a_worker_dies_and_when_a_client_leaves() {
    let server = serve(3, "<Location /report>\nPoolShare 1\n</Location>");
    let mut held = hold(&server, "/report/hold", 1);
    until_begun(&server, 1);
    let leaves = hold(&server, "/report/left", 1);
    until("the request is queued", || server.status()["front"]["queued"] == 1);
    drop(leaves);
    until("the queue is empty", || server.status()["front"]["queued"] == 0);
    let workers = server.workers();
    let (busy, _) = workers.iter().find(|(_, state)| state == "Busy").expect("one is busy");
    crate::support::signal(*busy, nix::sys::signal::Signal::SIGKILL);
    held[0].response().is(502);
    server.get("/report/next").is(200);
    assert_eq!(server.status()["front"]["shares"][0]["busy"], 0);
}

#[test]
fn the_inner_section_decides_the_share() {
    let server =
        serve(3, "<Location /report>\nPoolShare 1\n</Location>\n<Location /report/all>\nPoolShare 100%\n</Location>");
    let _held = hold(&server, "/report/hold", 1);
    until_begun(&server, 1);
    server.get("/report/all/x").is(200);
    let shares = server.status()["front"]["shares"].clone();
    assert_eq!((&shares[0]["most"], &shares[1]["most"]), (&1.into(), &3.into()), "{shares}");
    release(&server);
}

#[test]
fn a_share_that_is_overloaded_leaves_the_others_alone() {
    let server = serve(3, "QueueStale 200ms\nQueueTimeout 60s\n<Location /report>\nPoolShare 1\n</Location>");
    let _held = hold(&server, "/report/hold", 1);
    until_begun(&server, 1);
    let mut waiting = hold(&server, "/report/old", 20);
    let load = Load::start(&server, 2, "/quick", |response| response.status == 200);
    until("the share is overloaded", || {
        waiting.extend(hold(&server, "/report/more", 5));
        server.status()["front"]["shares"][0]["overloaded"] == true
    });
    server.logged("<Location /report> is overloaded");
    assert_eq!(load.failures(), Vec::<String>::new());
    assert_eq!(waiting[0].response().status, 503);
    server.get("/quick").is(200);
    release(&server);
}
