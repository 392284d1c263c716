//! The memory budget of all processes, and memory limits of single workers.

use nix::sys::signal::Signal;

use crate::support::{Load, Server, Site, alive, own_memory, signal, until};

fn serve(app: &str, workers: u32, conf: &str) -> Server {
    Site::new().file("app.psgi", app).serve(&format!(
        "StartServers {workers}\nMinSpareServers {workers}\nMaxSpareServers {workers}\nMaxClients {workers}\nLogLevel notice\n{conf}\n\
         <Location />\nPsgiApp app.psgi\n</Location>"
    ))
}

/// An application that leaks a megabyte in each request.
const LEAKS: &str = "my @kept; sub { push @kept, 'x' x 1_000_000; [200, ['X-Pid', $$], ['ok']] }";
/// An application that allocates 40 MB in its first request and nothing later.
const LARGE: &str = "my $own; sub { $own ||= 'x' x 40_000_000; [200, ['X-Pid', $$], ['ok']] }";

fn memory_of_all(server: &Server) -> u64 {
    let workers = server.workers().into_iter();
    // A worker may end while its memory is read.
    workers
        .filter(|(pid, _)| alive(*pid))
        .filter_map(|(pid, _)| std::panic::catch_unwind(|| own_memory(pid)).ok())
        .sum()
}

fn pid(server: &Server) -> String {
    server.get("/").is(200).header("X-Pid").expect("a pid")
}

#[test]
fn a_leaking_program_at_full_load_stays_in_the_budget_and_loses_nothing() {
    let server = serve(LEAKS, 4, "MemoryBudget 200M");
    let load = Load::start(&server, 8, "/", |response| response.status == 200);
    let mut most = 0;
    for _ in 0..40 {
        load.until_answered(50);
        most = most.max(memory_of_all(&server));
    }
    assert_eq!(load.failures(), Vec::<String>::new());
    assert!(most < 200 << 20, "{most}");
    server.logged("(MemoryBudget)");
}

#[test]
fn no_more_workers_are_forked_than_fit_into_the_memory_budget() {
    let server = serve(LARGE, 8, "MemoryBudget 200M");
    let load = Load::start(&server, 16, "/", |response| response.status == 200);
    load.until_answered(50);
    until("some have left, because not all fit", || {
        load.until_answered(1);
        let workers = server.workers().len();
        (1..=3).contains(&workers) && server.status()["max_clients"].as_u64().is_some_and(|most| most <= 3)
    });
    assert_eq!(load.failures(), Vec::<String>::new());
    server.get("/").is(200);
    until("all are measured", || {
        let memory = server.status()["memory"].clone();
        let used = memory["used"].as_u64().expect("bytes");
        memory["budget"].as_u64() == Some(200 << 20) && (40_000_000..200 << 20).contains(&used)
    });
    let output = server.control(["status"]).succeeded().out;
    assert!(output.contains(" MB of a budget of 200 MB\n"), "{output}");
}

#[test]
fn one_worker_that_fills_the_budget_leaves_before_another_comes_and_the_queue_waits() {
    let server = serve(LEAKS, 1, "MemoryBudget 100M");
    let load = Load::start(&server, 4, "/", |response| response.status == 200);
    load.until_answered(200);
    assert_eq!(load.failures(), Vec::<String>::new());
    assert!(memory_of_all(&server) < 100 << 20);
}

#[test]
fn a_request_that_wants_more_than_there_may_be_fails_alone() {
    let server = serve(
        "sub { my $much = $_[0]{PATH_INFO} eq '/much' ? 900_000_000 : 1; my $x = 'x' x $much; [200, [], ['ok']] }",
        2,
        "MemoryBudget 300M",
    );
    // Only workers forked after the master knows the budget have the ceiling.
    until("the pool is there", || server.workers().len() == 2);
    server.get("/much").is(500);
    server.get("/").is(200);
    assert!(memory_of_all(&server) < 300 << 20);
}

#[test]
fn a_worker_with_too_much_private_memory_leaves_after_its_request() {
    let server = serve(LEAKS, 1, "MaxMemoryPerChild 20M");
    let first = pid(&server);
    until("another answers", || pid(&server) != first);
    server.logged("(MaxMemoryPerChild)");
}

#[test]
fn code_loaded_before_the_fork_is_not_private() {
    let app = format!("our $data = join '', map {{ $_ x 64 }} 1 .. 300_000; {LEAKS}");
    let server = serve(&app, 1, "MaxMemoryPerChild 30M");
    let first = pid(&server);
    for _ in 0..5 {
        assert_eq!(pid(&server), first);
    }
}

#[test]
fn old_workers_are_replaced_one_at_a_time() {
    let server = serve("sub { [200, ['X-Pid', $$], ['ok']] }", 3, "MaxAgePerChild 1s");
    server.until_idle(3);
    let first: Vec<i32> = server.workers().into_iter().map(|(pid, _)| pid).collect();
    let load = Load::start(&server, 2, "/", |response| response.status == 200);
    until("none of the first is left", || server.workers().iter().all(|(pid, _)| !first.contains(pid)));
    assert_eq!(load.failures(), Vec::<String>::new());
    server.logged("(MaxAgePerChild), replaced in ");
    server.logged(" from gen=1 refork=0");
}

#[test]
fn idle_workers_leave() {
    let server = serve("sub { [200, ['X-Pid', $$], ['ok']] }", 2, "MaxIdlePerChild 1s");
    server.until_idle(2);
    server.logged("retired: idle for 1 s");
    server.get("/").is(200);
}

#[test]
fn the_end_of_an_idle_worker_is_logged() {
    let server = serve("sub { [200, ['X-Pid', $$], ['ok']] }", 3, "MinSpareServers 1\nMaxIdlePerChild 1s");
    until("a line ends there", || server.log().lines().any(|line| line.ends_with(" requests (MaxIdlePerChild)")));
    server.get("/").is(200);
}

#[test]
fn a_worker_that_shares_too_little_leaves() {
    let server = serve("sub { [200, ['X-Pid', $$], ['ok']] }", 1, "MinSharedPerChild 4000M");
    server.logged(" MB shared");
    server.get("/").is(200);
}

#[test]
fn a_sampler_that_dies_is_started_again() {
    let server = serve(LEAKS, 1, "MemoryBudget 1G\nLogLevel info");
    let sampler = |log: &str| {
        let words: Vec<&str> =
            log.rmatch_indices("sampler pid=").filter_map(|(at, _)| log[at + 12..].split(' ').next()).collect();
        words.first().and_then(|pid| pid.parse::<i32>().ok())
    };
    server.logged("sampler pid=");
    let first = sampler(&server.log()).expect("a pid");
    signal(first, Signal::SIGKILL);
    until("another is started", || sampler(&server.log()).is_some_and(|pid| pid != first));
    server.get("/").is(200);
}

#[test]
fn a_worker_becomes_the_mold_after_so_many_requests() {
    let server = serve("sub { [200, ['X-Pid', $$], ['ok']] }", 1, "Refork 20,40");
    for refork in 1..=2 {
        until("a worker has answered enough", || {
            server.get("/").is(200);
            server.status()["generations"][0]["refork"] == refork
        });
    }
    for _ in 0..100 {
        server.get("/").is(200);
    }
    assert_eq!(server.status()["generations"][0]["refork"], 2, "the list has ended");
}

#[test]
fn a_worker_becomes_the_mold_when_it_repays_and_a_line_is_logged() {
    let lazy = "my @loaded; sub { @loaded = map { $_ x 100 } 1 .. 60_000 if !@loaded; [200, ['X-Pid', $$], ['ok']] }";
    let server = serve(lazy, 3, "Refork auto");
    let load = Load::start(&server, 3, "/", |response| response.status == 200);
    server.logged(" refork=1 from worker=");
    server.logged(" refork=1 has saved ");
    assert_eq!(load.failures(), Vec::<String>::new());
    let log = server.log();
    let saved = log.split(" refork=1 has saved ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a number");
    assert!(saved.parse::<u32>().is_ok_and(|saved| saved > 50), "{saved}");
}
