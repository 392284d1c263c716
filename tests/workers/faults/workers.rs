//! Workers that die, stop, misreport, or cannot be started.

use nix::sys::signal::Signal;

use super::{HANGS, serve};
use crate::support::{Load, Site, alive, eventually, signal, state, until};

#[test]
fn a_worker_killed_in_mid_request_is_a_502_of_that_request_only() {
    let server = serve(HANGS, "MaxClients 3\nStartServers 3\nMinSpareServers 3\nMaxSpareServers 3");
    let load = Load::start(&server, 2, "/", |response| response.status == 200);
    let mut victim = server.connect();
    victim.raw("GET /hang HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the worker hangs", || !server.site.read("hanging").is_empty());
    let pid: i32 = server.site.read("hanging").parse().expect("a pid");
    signal(pid, Signal::SIGKILL);
    assert_eq!(victim.response().status, 502);
    load.until_answered(50);
    assert_eq!(load.failures(), Vec::<String>::new());
    until("the worker is replaced", || {
        server.workers().len() == 3 && server.workers().iter().all(|(worker, _)| *worker != pid)
    });
    assert!(server.logged("signal=9").contains(&format!("pid={pid}")));
}

#[test]
fn workers_that_cannot_boot_are_tried_less_and_less_often_and_do_not_flood() {
    let startup = "Apache->push_handlers(PerlChildInitHandler => sub { -e '@DIR@/broken' or return 0;
        open my $f, '>>', '@DIR@/boots'; print $f \"x\"; close $f; kill KILL => $$; });
        package My; sub handler { $_[0]->send_http_header('text/plain'); $_[0]->print($$); 0 } 1;";
    let server = Site::new().file("startup.pl", startup).serve(
        "MaxClients 1\nStartServers 1\nPerlRequire startup.pl\n<Location />\nSetHandler perl-script\nPerlHandler My\n</Location>",
    );
    let pid = server.text("/").parse().expect("a pid");
    server.site.write("broken", "");
    signal(pid, Signal::SIGKILL);
    server.logged("next try in 0.8 s");
    let log = server.log();
    let waits: Vec<&str> = log.split("next try in ").skip(1).filter_map(|rest| rest.split(' ').next()).collect();
    assert_eq!(waits.get(..4), Some(&["0.1", "0.2", "0.4", "0.8"][..]), "{log}");
    assert!(server.site.read("boots").len() >= 4, "each try was one");
    std::fs::remove_file(server.site.path("broken")).expect("it was there");
    assert_eq!(server.get("/").status, 200, "the request waited until a worker came up");
}

#[test]
fn a_worker_that_writes_nonsense_to_the_front_is_killed_and_its_request_is_a_502() {
    let server = serve(
        "sub { if ($_[0]{PATH_INFO} eq '/lie') {
                 for my $fd (3 .. 60) { -S \"/proc/self/fd/$fd\" or next; open my $s, '>&=', $fd or next; send $s, \"\\xff\" x 5000, 0 }
               } [200, [], ['ok']] }",
        "",
    );
    let status = server.get("/lie").status;
    assert_eq!(status, 502);
    assert_eq!(server.text("/"), "ok");
}

#[test]
fn a_worker_that_closes_all_its_descriptors_costs_at_most_its_own_request() {
    let server = serve(
        "use POSIX (); sub { if ($_[0]{PATH_INFO} eq '/close') { POSIX::close($_) for 3 .. 100 } [200, [], ['ok']] }",
        "",
    );
    // The server still finds the response that the worker left in memory.
    server.get("/close").is(200);
    assert_eq!(server.text("/"), "ok");
}

#[test]
fn with_all_workers_killed_the_site_serves_again() {
    let server = serve("sub { [200, [], [$$]] }", "MaxClients 3\nStartServers 3\nMinSpareServers 3\nMaxSpareServers 3");
    server.until_idle(3);
    let master = server.pid();
    let before: Vec<i32> = server.workers().into_iter().map(|(pid, _)| pid).collect();
    before.iter().for_each(|pid| signal(*pid, Signal::SIGKILL));
    until("the server answers", || server.get("/").status == 200);
    server.until_idle(3);
    assert!(server.workers().iter().all(|(pid, _)| !before.contains(pid)));
    assert_eq!(server.status()["pid"], master);
}

#[test]
fn with_half_the_workers_stopped_the_others_serve_and_those_get_nothing_more() {
    let server = serve(
        "sub { [200, [], [$$]] }",
        "MaxClients 4\nStartServers 4\nMinSpareServers 4\nMaxSpareServers 4\nRequestTimeout 20s\nRequestTimeoutGrace 1s",
    );
    server.until_idle(4);
    // More clients than workers: each worker gets requests often, so that a stopped one is detected soon. A request in
    // a stopped worker fails at RequestTimeout, because no other worker has it.
    let load = Load::start(&server, 16, "/", |response| matches!(response.status, 200 | 504));
    load.until_answered(100);
    let stopped: Vec<i32> = server.workers().into_iter().map(|(pid, _)| pid).take(2).collect();
    stopped.iter().for_each(|pid| signal(*pid, Signal::SIGSTOP));
    load.until_answered(200);
    until("the workers are replaced", || {
        let workers = server.workers();
        workers.len() == 4 && workers.iter().all(|(pid, _)| !stopped.contains(pid))
    });
    load.until_answered(200);
    assert_eq!(load.failures(), Vec::<String>::new());
    assert!(server.log().matches("lost GET").count() <= 2, "{}", server.log());
}

#[test]
fn a_stopped_idle_worker_loses_no_request() {
    let server = serve("sub { [200, [], [$$]] }", "MaxClients 2\nStartServers 2\nMinSpareServers 2\nMaxSpareServers 2");
    server.until_idle(2);
    // The worker that was busy last is likely to get the next request.
    let stopped: i32 = server.text("/").parse().expect("a pid");
    signal(stopped, Signal::SIGSTOP);
    until("the worker is stopped", || state(stopped) == Some('T'));
    let line = eventually("the stopped one has been asked", || {
        assert_ne!(server.text("/"), stopped.to_string());
        server.log().lines().find(|line| line.contains("has not taken its request")).map(str::to_owned)
    });
    assert!(line.contains(&format!("pid={stopped}")), "{line}");
    until("the worker is replaced", || server.workers().iter().all(|(pid, _)| *pid != stopped));
}

#[test]
fn a_hundred_and_fifty_crashes_cost_one_fork_each_and_no_other_request() {
    const CRASHES: usize = 150;
    let server = serve(
        "sub { kill KILL => $$ if $_[0]{PATH_INFO} eq '/crash'; [200, [], [$$]] }",
        "MaxClients 3\nStartServers 3\nMinSpareServers 3\nMaxSpareServers 3\nLogLevel info",
    );
    server.until_idle(3);
    let load = Load::start(&server, 2, "/", |response| response.status == 200);
    (0..CRASHES).for_each(|_| drop(server.get("/crash").is(502)));
    load.until_answered(50);
    assert_eq!(load.failures(), Vec::<String>::new());
    server.until_idle(3);
    let forks = server.log().lines().filter(|line| line.contains("worker=") && line.contains(" started")).count();
    // A worker that crashes at once may end before its start is logged.
    assert!((CRASHES..=CRASHES + 3).contains(&forks), "{forks} forks");
}

#[test]
fn a_worker_that_never_ends_is_replaced_at_once_and_killed_in_the_end() {
    let server = serve(
        "END { sleep 3600 } sub { [200, [], [$$]] }",
        "MaxRequestsPerChild 2\nMaxClients 2\nStartServers 2\nMinSpareServers 1\nGracefulShutdownTimeout 1s",
    );
    let mut answered: Vec<i32> = (0..16).map(|_| server.text("/").parse().expect("a pid")).collect();
    answered.sort_unstable();
    answered.dedup();
    assert!(answered.len() >= 8, "two requests each: {answered:?}");
    server.logged("killed signal=9 (did not end in time; GracefulShutdownTimeout limits END blocks");
    until("the workers have ended", || answered.iter().filter(|pid| alive(**pid)).count() <= 2);
}

#[test]
fn a_worker_in_a_reused_slot_is_not_taken_for_its_predecessor() {
    let server = serve(
        "sub { [200, [], [$$]] }",
        "MaxClients 4\nStartServers 4\nMinSpareServers 4\nMaxSpareServers 4\nMaxRequestsPerChild 50\nLogLevel info",
    );
    server.until_idle(4);
    let load = Load::start(&server, 16, "/", |response| response.status == 200);
    // Some 80 workers: the notice of a worker's exit may arrive after its end, when its slot is reused.
    load.until_answered(4_000);
    assert_eq!(load.failures(), Vec::<String>::new());
    server.until_idle(4);
    let log = server.log();
    let count = |what: &str| log.lines().filter(|line| line.contains("worker=") && line.contains(what)).count();
    assert_eq!(count(" started"), count(" ready"), "{log}");
    assert!(!log.contains("killed"), "{log}");
}
