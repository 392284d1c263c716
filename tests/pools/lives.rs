//! Ends of workers and molds in pools, and reloads of all pools.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{BOTH, mold_of, site, who, workers_of};
use crate::support::{Load, until};

#[test]
fn a_killed_worker_is_replaced_in_its_pool() {
    let server = site().serve(BOTH);
    let (old, _) = who(&server, "/old/who");
    let others = workers_of(&server, "default");
    kill(Pid::from_raw(old), Signal::SIGKILL).expect("it runs");
    until("another answers", || {
        let response = server.get("/old/who");
        response.status == 200 && !response.text().starts_with(&format!("{old}|"))
    });
    assert_eq!(workers_of(&server, "default"), others);
    assert_eq!(workers_of(&server, "old").len(), 1);
}

#[test]
fn a_killed_mold_is_replaced_and_no_request_fails() {
    let server = site().serve(BOTH);
    let pid = |name: &str| mold_of(&server, name)["pid"].as_i64().unwrap_or_default() as i32;
    let (old, own) = (pid("old"), pid("default"));
    let worker = who(&server, "/old/who").0;
    kill(Pid::from_raw(old), Signal::SIGKILL).expect("it runs");
    until("another mold is there", || ![0, old].contains(&pid("old")));
    assert_eq!(pid("default"), own);
    assert_eq!(who(&server, "/old/who").0, worker);
    kill(Pid::from_raw(worker), Signal::SIGKILL).expect("it runs");
    until("the new mold forks", || workers_of(&server, "old").iter().any(|pid| *pid != worker));
    assert_eq!(who(&server, "/old/who").1, "Apache|mod_perl/1.31||1|0");
}

#[test]
fn reloads_under_load_lose_nothing_in_either_pool() {
    let server = site().serve(BOTH);
    let old = Load::start(&server, 3, "/old/who", |r| r.status == 200 && r.text().contains("|Apache|mod_perl/1.31|"));
    let new = Load::start(&server, 3, "/new/who", |r| {
        r.status == 200 && r.text().contains("|Apache2::RequestRec|mod_perl/2")
    });
    for _ in 0..4 {
        old.until_answered(50);
        new.until_answered(50);
        server.reload().succeeded();
    }
    old.until_answered(50);
    new.until_answered(50);
    assert_eq!((old.failures(), new.failures()), (vec![], vec![]));
    until("the old generations have left", || {
        server.status()["generations"].as_array().is_some_and(|all| all.len() == 1)
    });
}

#[test]
fn code_of_a_pool_that_does_not_load_any_more_leaves_everything_as_it_was() {
    let server = site().serve(BOTH);
    let (old, new) = (workers_of(&server, "old"), workers_of(&server, "default"));
    server.site.write("lib/Of/Old.pm", "package Of::Old;\ndie 'broken today';\n");
    let failed = server.reload();
    assert!(failed.code != 0 && failed.err.contains("broken today"), "{failed:?}");
    assert_eq!((workers_of(&server, "old"), workers_of(&server, "default")), (old, new));
    who(&server, "/old/who");
    server.site.write("lib/Of/Old.pm", "package Of::Old;\n1;\n");
    server.reload().succeeded();
}

#[test]
fn a_reload_may_bring_a_pool_and_take_it_away() {
    let server = site().serve(BOTH);
    let (start, rest) = BOTH.split_once("<WorkerPool old>").expect("there");
    let (_, end) = rest.split_once("</Location>").expect("there");
    server.site.configure(&format!("{start}{end}"));
    server.reload().succeeded();
    until("there is one pool", || server.status()["front"]["pools"].is_null());
    who(&server, "/new/who");
    server.site.configure(BOTH);
    server.reload().succeeded();
    assert_eq!(who(&server, "/old/who").1, "Apache|mod_perl/1.31||1|0");
}

#[test]
fn a_refork_renews_each_pool_that_has_answered() {
    let server = site().serve(BOTH);
    (0..3).for_each(|_| drop((who(&server, "/old/who"), who(&server, "/new/who"))));
    server.control(["refork"]).succeeded();
    assert_eq!((&mold_of(&server, "old")["refork"], &mold_of(&server, "default")["refork"]), (&1.into(), &1.into()));
    assert_eq!(who(&server, "/old/who").1, "Apache|mod_perl/1.31||1|0");
    assert_eq!(who(&server, "/new/who").1, "Apache2::RequestRec|mod_perl/2.0.12|2|0|1");
}

#[test]
fn a_new_front_takes_over_the_workers_of_each() {
    let server = site().serve(BOTH);
    let before = (workers_of(&server, "old"), workers_of(&server, "default"));
    let front = server.front();
    kill(Pid::from_raw(front), Signal::SIGKILL).expect("it runs");
    until("another front serves", || ![0, front].contains(&server.front()));
    until("the status shows the workers", || (workers_of(&server, "old"), workers_of(&server, "default")) == before);
    assert_eq!(who(&server, "/old/who").1, "Apache|mod_perl/1.31||1|0");
    assert_eq!(who(&server, "/new/who").1, "Apache2::RequestRec|mod_perl/2.0.12|2|0|1");
}

#[test]
fn a_graceful_stop_ends_all_processes() {
    let mut server = site().serve(BOTH);
    let all: Vec<i32> = workers_of(&server, "old").into_iter().chain(workers_of(&server, "default")).collect();
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
    let left: Vec<&i32> = all.iter().filter(|pid| kill(Pid::from_raw(**pid), None).is_ok()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_refork_passes_over_a_pool_that_has_answered_nothing() {
    let server = site().serve(BOTH);
    (0..3).for_each(|_| drop(who(&server, "/new/who")));
    server.control(["refork"]).succeeded();
    assert_eq!((&mold_of(&server, "old")["refork"], &mold_of(&server, "default")["refork"]), (&0.into(), &1.into()));
}

#[test]
fn a_pool_whose_workers_end_before_they_are_ready_fails_the_start_and_is_named() {
    let conf = BOTH.replace("<WorkerPool old>", "<WorkerPool old>\nPerlChildInitHandler 'sub { kill 9, $$ }'");
    let site = site();
    site.configure(&conf);
    let output = site.cameleer(["serve", "-f", "site.conf"]);
    assert!(output.code != 0 && output.err.contains("no worker became ready pool=old"), "{output:?}");
}
