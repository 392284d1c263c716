//! A refork: a worker becomes the mold, and the pool is renewed from it.

/// Frameworks, and modules that they load during requests.
mod applications;
/// Programs with persistent database connections.
mod databases;

use nix::sys::signal::Signal;

use crate::support::{Load, Server, Site, descriptors_if_it_runs, own_memory, signal, until};

/// A module that allocates 16 MB when the first request loads it.
const LAZY: &str = "package Lazy; our $data; $data .= $_ x 64 for 1 .. 150_000; $data .= 'x' x 16_000_000; \
    BEGIN { open my $f, '>>', '@DIR@/compiled'; print $f \"$$\\n\" } 1;";
const APP: &str = "sub { require Lazy; [200, ['X-Pid', $$], [length $Lazy::data]] }";

fn lazy(workers: u32) -> Server {
    serve(Site::new().file("lib/Lazy.pm", LAZY), APP, workers, "PerlLib lib\nLogLevel notice\n")
}

fn serve(site: Site, app: &str, workers: u32, conf: &str) -> Server {
    site.file("app.psgi", app).serve(&format!(
        "StartServers {workers}\nMinSpareServers {workers}\nMaxSpareServers {workers}\nMaxClients {workers}\n{conf}\
         <Location />\nPsgiApp app.psgi\n</Location>"
    ))
}

fn reforks(server: &Server) -> u64 {
    server.status()["generations"][0]["refork"].as_u64().expect("a number")
}

fn pids(server: &Server) -> Vec<i32> {
    server.workers().into_iter().map(|(pid, _)| pid).collect()
}

#[test]
fn code_loaded_by_a_request_is_shared_by_all_workers_afterwards() {
    let server = lazy(3);
    server.get("/").is(200);
    let before = pids(&server);
    let loaded = before.iter().map(|pid| own_memory(*pid)).max().expect("workers");
    assert!(loaded > 16_000_000, "{loaded}");
    server.control(["refork"]).succeeded();
    let after = pids(&server);
    assert_eq!(after.len(), 3);
    assert!(after.iter().all(|pid| !before.contains(pid)), "{before:?} {after:?}");
    for _ in 0..10 {
        server.get("/").is(200);
    }
    assert_eq!(server.site.read("compiled").lines().count(), 1, "compiled once");
    let own: Vec<u64> = after.iter().map(|pid| own_memory(*pid)).collect();
    assert!(own.iter().all(|own| *own < loaded / 4), "{own:?}");
    assert_eq!(reforks(&server), 1);
}

#[test]
fn signal_urg_starts_a_refork() {
    let server = lazy(2);
    server.get("/").is(200);
    server.signal(Signal::SIGURG);
    until("a worker is the mold", || reforks(&server) == 1);
    server.logged(" refork=1 from worker=");
    server.logged(" refork=1 renewed in ");
}

#[test]
fn twenty_in_a_row_under_load_lose_nothing_and_leave_nothing() {
    let server = lazy(4);
    let load = Load::start(&server, 4, "/", |response| response.status == 200);
    let mut open = Vec::new();
    let compiled = || server.site.read("compiled").lines().count();
    let mut compiled_at_first = 0;
    for refork in 1..=20 {
        load.until_answered(50);
        server.control(["refork"]).succeeded();
        assert_eq!(reforks(&server), refork);
        open.push(pids(&server).into_iter().filter_map(descriptors_if_it_runs).max().expect("workers"));
        compiled_at_first = if refork == 1 { compiled() } else { compiled_at_first };
    }
    assert_eq!(load.failures(), Vec::<String>::new());
    assert!(open[19] <= open[0] + 1, "descriptors: {open:?}");
    assert_eq!(compiled(), compiled_at_first, "no worker of a mold that has been one compiles it");
    until("all four are there", || server.status()["generations"][0]["workers"] == 4);
}

#[test]
fn a_reload_begins_with_the_code_again() {
    let server = lazy(2);
    server.get("/").is(200);
    server.control(["refork"]).succeeded();
    server.site.write("app.psgi", "sub { [200, [], [$INC{'Lazy.pm'} ? 'loaded' : 'not loaded']] }");
    server.reload().succeeded();
    assert_eq!(server.text("/"), "not loaded");
    server.control(["refork"]).succeeded();
    until("the old generation has gone", || {
        server.status()["generations"].as_array().is_some_and(|all| all.len() == 1)
    });
}

#[test]
fn the_first_mold_forks_again_when_a_promoted_one_dies() {
    let server = lazy(2);
    server.get("/").is(200);
    let first = server.status()["generations"][0]["mold_pid"].as_i64().expect("a pid") as i32;
    server.control(["refork"]).succeeded();
    let second = server.status()["generations"][0]["mold_pid"].as_i64().expect("a pid") as i32;
    assert_ne!(first, second);
    signal(second, Signal::SIGKILL);
    until("the first forks again", || server.status()["generations"][0]["mold_pid"] == first);
    for pid in pids(&server) {
        signal(pid, Signal::SIGKILL);
    }
    until("two others serve", || server.workers().iter().filter(|(_, state)| state == "Idle").count() == 2);
    server.get("/").is(200);
}

#[test]
fn a_worker_without_requests_or_with_a_recent_death_becomes_no_mold() {
    let server = serve(Site::new(), "sub { $_[0]{PATH_INFO} eq '/die' ? die 'of old age' : [200, [], [$$]] }", 1, "");
    server.control(["refork"]).failed(1, "no worker has answered a request yet");
    server.get("/die").is(500);
    server.control(["refork"]).failed(1, "one of the worker's last 10 requests has died");
    for _ in 0..10 {
        server.get("/").is(200);
    }
    server.control(["refork"]).succeeded();
}

#[test]
fn state_that_must_not_be_shared_prevents_a_refork_and_is_named() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
    let peer = listener.local_addr().expect("an address");
    let app = format!(
        "use IO::Socket::INET; my $s; my $statement;
         sub {{ my $path = $_[0]{{PATH_INFO}};
            $s ||= IO::Socket::INET->new('{peer}') or die if $path eq '/socket';
            pipe(my $r, $s) if $path eq '/pipe';
            Cameleer::Refork::no_longer_fork_safe('libfoo has a lock') if $path eq '/unsafe';
            [200, [], [$$]] }}"
    );
    let server = serve(Site::new(), &app, 1, "PerlModule Cameleer::Refork\n");
    for (path, why) in [
        ("/socket", format!("a connection to {peer}")),
        ("/pipe", "a pipe (descriptor".to_string()),
        ("/unsafe", "libfoo has a lock".to_string()),
    ] {
        server.get(path).is(200);
        server.control(["refork"]).failed(1, &why);
        until("another worker serves", || server.workers().iter().any(|(_, state)| state == "Idle"));
    }
    server.get("/").is(200);
    server.control(["refork"]).succeeded();
}

#[test]
fn hooks_run_in_their_phase() {
    let app = "use Cameleer::Refork qw(before_fork after_mold_fork after_worker_fork);
        my @ran; my $socket;
        before_fork { push @ran, \"before_fork in worker $$\" };
        after_mold_fork { push @ran, \"after_mold_fork in \" . `cat /proc/$$/comm` };
        after_worker_fork { push @ran, 'after_worker_fork' };
        sub { [200, ['X-Pid', $$], [join ', ', map { chomp; $_ } @ran]] }";
    let server = serve(Site::new(), app, 1, "");
    let first = server.get("/").is(200);
    assert_eq!(first.text(), "after_worker_fork");
    server.control(["refork"]).succeeded();
    let worker = first.header("X-Pid").expect("a pid");
    let ran = format!(
        "after_worker_fork, before_fork in worker {worker}, after_mold_fork in cameleer: mold, after_worker_fork"
    );
    assert_eq!(server.text("/"), ran);
}

#[test]
fn connections_to_databases_are_ended_and_made_anew_under_the_same_handle() {
    let app = "use DBI; my $dbh;
        sub { $dbh ||= DBI->connect('dbi:SQLite:@DIR@/data.db', '', '', { RaiseError => 1 });
            $dbh->do('CREATE TABLE IF NOT EXISTS hits (n)');
            $dbh->prepare_cached('INSERT INTO hits VALUES (?)')->execute($$);
            my ($hits) = $dbh->selectrow_array('SELECT COUNT(*) FROM hits');
            my $keep = our $kept = $_[0]{PATH_INFO} eq '/keep' ? $dbh->prepare('SELECT n FROM hits') : undef;
            [200, ['X-Pid', $$], [$hits]] }";
    let server = serve(Site::new(), app, 1, "");
    assert_eq!(server.text("/"), "1");
    for hits in 2..6 {
        server.control(["refork"]).succeeded();
        assert_eq!(server.text("/"), hits.to_string());
    }
    assert!(!server.log().contains("cannot connect"), "{}", server.log());
    server.get("/keep").is(200);
    server.control(["refork"]).failed(1, "the program holds a statement handle of \"dbi:SQLite:");
}
