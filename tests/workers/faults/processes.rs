//! Killed molds and masters.

use nix::sys::signal::Signal;

use super::{HANGS, serve};
use crate::support::{Server, alive, children, signal, state, until};

#[test]
fn a_mold_that_dies_is_replaced_and_requests_go_on() {
    let server = serve("sub { [200, [], ['ok']] }", "");
    kill_mold(&server);
    assert_eq!(server.text("/"), "ok");
}

#[test]
fn a_mold_that_dies_again_and_again_is_started_ever_more_slowly() {
    let server = serve("sub { [200, [], ['ok']] }", "");
    // A mold that lived for 30 s ends the series, so on a busy machine more than two deaths may be needed.
    until("a wait is twice the one before", || {
        kill_mold(&server);
        waits(&server.log()).windows(2).any(|pair| pair[1] == 2.0 * pair[0])
    });
    assert_eq!(waits(&server.log())[0], 0.1, "the first wait, in seconds");
}

/// The waits for the next mold that the log names, in seconds.
fn waits(log: &str) -> Vec<f64> {
    let before = "ended signal=9; its workers continue to serve; the next mold starts in ";
    let after = log.split(before).skip(1).filter_map(|rest| rest.split(' ').next());
    after.map(|seconds| seconds.parse().expect("seconds")).collect()
}

#[test]
fn a_worker_that_handles_every_signal_outlives_its_mold() {
    let app = "sub { if ($_[0]{PATH_INFO} eq '/soil') { $SIG{$_} = sub { } for keys %SIG } [200, [], [$$]] }";
    let server = serve(app, "MaxClients 1\nStartServers 1\nMaxSpareServers 1");
    let worker = server.text("/soil");
    kill_mold(&server);
    assert_eq!(server.text("/"), worker);
}

/// Kills the mold and waits for the next one.
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
    until("the process hangs", || !server.site.read("hanging").is_empty());
    assert!(!children(server.pid()).is_empty());
    server.signal(Signal::SIGKILL);
    assert_eq!(server.wait(), -1);
    server.until_gone();
}

#[test]
fn no_deaf_or_stopped_process_outlives_a_killed_master() {
    let app = "sub { if ($_[0]{PATH_INFO} eq '/deaf') { $SIG{$_} = 'IGNORE' for keys %SIG; open my $f, '>', '@DIR@/hanging'; print $f $$; \
        close $f; 1 while 1 } [200, [], [$$]] }";
    let mut server = serve(app, "MaxClients 3\nStartServers 3\nMinSpareServers 1\nMaxSpareServers 3");
    server.until_idle(3);
    let mut busy = server.connect();
    busy.raw("GET /deaf HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the process hangs", || !server.site.read("hanging").is_empty());
    let deaf: i32 = server.site.read("hanging").parse().expect("a pid");
    let stopped = server.workers().into_iter().map(|(pid, _)| pid).find(|pid| *pid != deaf).expect("another");
    signal(stopped, Signal::SIGSTOP);
    until("the process is stopped", || state(stopped) == Some('T'));
    server.signal(Signal::SIGKILL);
    assert_eq!(server.wait(), -1);
    until("nobody is left", || !alive(deaf) && !alive(stopped));
    server.until_gone();
}

#[test]
fn a_stopped_mold_is_replaced_when_it_is_needed() {
    let server = serve("sub { [200, [], [$$]] }", "MaxClients 2\nStartServers 2\nMinSpareServers 2");
    server.until_idle(2);
    let mold = server.status()["generations"][0]["mold_pid"].as_i64().expect("a mold") as i32;
    signal(mold, Signal::SIGSTOP);
    until("the mold is stopped", || state(mold) == Some('T'));
    server.workers().iter().for_each(|(pid, _)| signal(*pid, Signal::SIGKILL));
    until("the server answers", || server.get("/").status == 200);
    server.logged(&format!("mold pid={mold} gen=1 is stopped, and is killed"));
}

#[test]
fn a_stop_does_not_wait_for_processes_that_were_stopped() {
    let mut server = serve("sub { [200, [], [$$]] }", "MaxClients 2\nStartServers 2\nMinSpareServers 2");
    server.until_idle(2);
    let mold = server.status()["generations"][0]["mold_pid"].as_i64().expect("a mold") as i32;
    let worker = server.workers()[0].0;
    [mold, worker].iter().for_each(|pid| signal(*pid, Signal::SIGSTOP));
    until("the mold and the worker are stopped", || [mold, worker].iter().all(|pid| state(*pid) == Some('T')));
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
    server.until_gone();
}

#[test]
fn without_descriptors_for_processes_workers_are_replaced_and_stopped_all_the_same() {
    for error in ["EMFILE", "ENOSYS"] {
        let inject = format!("inject=pidfd_open:error={error}");
        let site = crate::support::Site::new().file("app.psgi", HANGS);
        site.configure("RequestTimeoutGrace 1\n<Location />\nPsgiApp app.psgi\n</Location>\n<Location /hang>\nRequestTimeout 1\n</Location>");
        let trace = site.filled("@DIR@/strace.txt");
        let strace = ["strace", "-D", "-f", "-q", "-e", "trace=pidfd_open", "-e", &inject, "-o", &trace];
        let server = Server::start_by(site, &strace);
        server.until_idle(2);
        let (worker, _) = server.workers()[0];
        signal(worker, Signal::SIGKILL);
        server.logged(&format!("pid={worker} gen=1 killed signal=9"));
        server.get("/hang").is(504);
        server.get("/hang").is(504);
        let pid: i32 = server.text("/").parse().expect("a pid");
        assert_ne!(pid, worker);
        assert!(server.site.read("strace.txt").contains(error), "there was none");
    }
}

#[test]
fn processes_started_by_start_up_code_become_no_zombies_of_the_mold() {
    let app = "if (!(fork // die)) { select undef, undef, undef, 0.01 until -e '@DIR@/go'; CORE::exit(0) } sub { [200, [], [$$]] }";
    let server = serve(app, "MaxClients 1\nStartServers 1\nMaxSpareServers 1");
    let mold = server.status()["generations"][0]["mold_pid"].as_i64().expect("a mold") as i32;
    assert_eq!(children(mold).len(), 2);
    server.site.write("go", "");
    until("the process has ended", || {
        children(mold).len() == 1 || children(mold).into_iter().any(|pid| state(pid) == Some('Z'))
    });
    // The mold's next task is to replace a worker.
    signal(server.text("/").parse().expect("a pid"), Signal::SIGKILL);
    until("the mold has its worker and no other child", || {
        server.workers().len() == 1 && server.workers()[0].1 == "Idle" && children(mold).len() == 1
    });
}
