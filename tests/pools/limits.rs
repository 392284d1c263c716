//! Limits of a pool do not affect other pools.

use super::{BOTH, site, who, workers_of};
use crate::support::{Server, until};

const HOLD: &str =
    "print qq(Content-Type: text/plain\\n\\n); select undef, undef, undef, 0.01 until -e '@DIR@/go'; print 'held';\n";

fn pool<'a>(status: &'a serde_json::Value, name: &str) -> &'a serde_json::Value {
    let all = status["front"]["pools"].as_array().expect("pools");
    all.iter().find(|pool| pool["name"] == name).expect("that pool")
}

fn hold(server: &Server, target: &str) -> crate::support::Connection {
    let mut connection = server.connect();
    connection.raw(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    connection
}

#[test]
fn a_pool_at_its_limit_does_not_starve_the_other() {
    let server = site().script("scripts/hold", HOLD).serve(BOTH);
    let held: Vec<_> = (0..5).map(|_| hold(&server, "/old/hold")).collect();
    until("one has the only worker and four wait", || {
        let status = server.status();
        let old = pool(&status, "old");
        (old["busy"].as_u64(), old["queued"].as_u64()) == (Some(1), Some(4))
    });
    for _ in 0..20 {
        who(&server, "/new/who");
    }
    assert_eq!(workers_of(&server, "old").len(), 1);
    let status = server.status();
    assert_eq!(pool(&status, "default")["queued"], 0, "{status}");
    server.site.write("go", "");
    for mut connection in held {
        assert_eq!(connection.response().is(200).text(), "held");
    }
    server.logged("pool old reached MaxClients setting");
}

#[test]
fn a_pool_has_its_own_queue() {
    let conf = BOTH.replace("<WorkerPool old>", "<WorkerPool old>\nQueueLength 2");
    let server = site().script("scripts/hold", HOLD).serve(&conf);
    let held: Vec<_> = (0..3).map(|_| hold(&server, "/old/hold")).collect();
    until("the queue is full", || pool(&server.status(), "old")["queued"] == 2);
    server.get("/old/who").is(503);
    server.get("/new/who").is(200);
    server.site.write("go", "");
    held.into_iter().for_each(|mut connection| drop(connection.response().is(200)));
}

#[test]
fn workers_of_a_pool_leave_after_its_number_of_requests() {
    let conf = BOTH.replace("<WorkerPool old>", "<WorkerPool old>\nMaxRequestsPerChild 3");
    let server = site().serve(&conf);
    let (old, new) = (who(&server, "/old/who").0, who(&server, "/new/who").0);
    let same = (0..2).filter(|_| who(&server, "/old/who").0 == old).count();
    assert_eq!(same, 2, "three requests by the first worker");
    assert_ne!(who(&server, "/old/who").0, old);
    assert!((0..10).any(|_| who(&server, "/new/who").0 == new), "the others are not concerned");
}

#[test]
fn a_worker_of_a_pool_that_grows_over_its_limit_is_replaced_and_others_may_grow() {
    let conf = BOTH.replace("<WorkerPool old>", "<WorkerPool old>\nMaxMemoryPerChild 16M");
    let grow = "our $kept = 'x' x (64 << 20); print qq(Content-Type: text/plain\\n\\n$$);\n";
    let server = site().script("scripts/grow", grow).serve(&conf);
    let old = server.text("/old/grow");
    let new = server.text("/new/grow");
    until("another has its place", || who(&server, "/old/who").0.to_string() != old);
    let is_there = workers_of(&server, "default").iter().any(|pid| pid.to_string() == new);
    assert!(is_there, "{new} had no limit");
}

#[test]
fn settings_missing_in_a_pool_are_the_servers() {
    let conf = BOTH.replace("MinSpareServers 1\nMaxClients 1\n", "");
    let server = site().serve(&conf);
    let status = server.status();
    assert_eq!((&pool(&status, "old")["most"], &pool(&status, "default")["most"]), (&2.into(), &2.into()));
}

#[test]
fn the_budget_is_for_all_pools_together() {
    let conf = format!("MemoryBudget 2G\n{BOTH}");
    let server = site().serve(&conf);
    until("both molds are measured", || {
        let status = server.status();
        let known = &status["memory"]["processes"];
        let molds = ["old", "default"].map(|name| super::mold_of(&server, name)["pid"].to_string());
        molds.iter().all(|pid| known[pid].is_object()) && status["memory"]["used"].as_u64().is_some()
    });
}

#[test]
fn a_budget_that_is_too_small_leaves_each_pool_one_worker() {
    let server = site().serve(&format!("MemoryBudget 8M\n{BOTH}"));
    until("both have one", || ["old", "default"].map(|name| workers_of(&server, name).len()) == [1, 1]);
    assert_eq!(who(&server, "/old/who").1, "Apache|mod_perl/1.31||1|0");
    assert_eq!(who(&server, "/new/who").1, "Apache2::RequestRec|mod_perl/2.0.12|2|0|1");
}

#[test]
fn workers_of_a_large_pool_are_not_sent_away_for_what_those_of_a_small_one_cost() {
    let grow = "our $kept //= 'x' x (64 << 20); print qq(Content-Type: text/plain\\n\\n$$);\n";
    let server = site().script("scripts/grow", grow).serve(&format!("MemoryBudget 700M\nLogLevel notice\n{BOTH}"));
    let large = server.text("/old/grow");
    until("all are measured as they serve", || {
        who(&server, "/new/who");
        let memory = server.status()["memory"].clone();
        memory["processes"][&large]["private"].as_u64().is_some_and(|private| private > 64 << 20)
    });
    assert!((0..50).all(|_| server.text("/old/grow") == large), "{}", server.log());
    assert!(!server.log().contains("(MemoryBudget)"), "{}", server.log());
}

#[test]
fn a_share_of_one_section_holds_in_the_pool_of_another() {
    let conf = BOTH
        .replace("<WorkerPool old>", "<WorkerPool old>\nQueueLength 1")
        .replace("StartServers 1\nMinSpareServers 1\nMaxClients 1", "MaxClients 2");
    let server =
        site().script("scripts/hold", HOLD).serve(&format!("{conf}<Location /old/hold>\nPoolShare 50%\n</Location>"));
    let held: Vec<_> = (0..2).map(|_| hold(&server, "/old/hold")).collect();
    until("one has its half, and one waits", || {
        let shares = server.status()["front"]["shares"].clone();
        assert!(shares.as_array().is_some_and(|shares| shares.len() <= 1), "{shares}");
        (shares[0]["busy"].as_u64(), shares[0]["queued"].as_u64()) == (Some(1), Some(1))
    });
    who(&server, "/old/who");
    server.site.write("go", "");
    held.into_iter().for_each(|mut connection| drop(connection.response().is(200)));
}

#[test]
fn time_is_charged_in_the_pool_that_a_request_is_sent_on_to() {
    let conf = BOTH.replace("PerlPool old\n", "PerlPool old\nSpeedLimit worker-seconds=1/100s\n");
    let conf = conf.replace("<Location /new>", "<Location /new>\nSpeedLimit worker-seconds=1/100s");
    let on = "print qq(Location: /old/work\\n\\n);\n";
    let work = "select undef, undef, undef, 1.5; print qq(Content-Type: text/plain\\n\\nworked);\n";
    let server = site().script("scripts/on", on).script("scripts/work", work).serve(&conf);
    assert_eq!(server.text("/new/on"), "worked");
    until("the time is counted", || server.get("/old/who").status == 429);
    server.get("/new/who").is(200);
}
