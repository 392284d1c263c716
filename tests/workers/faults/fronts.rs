//! A killed front: the port refuses no connection, the workers stay, and requests in progress end without a client.

use std::collections::BTreeSet;

use nix::sys::signal::Signal;

use super::{HANGS, serve};
use crate::support::{Server, Site, alive, cpu_time, signal, until};

/// An application that prints its worker's pid. `/slow` begins a large response and ends it when the file `go` exists.
const SLOW: &str = r#"sub {
    return [200, [], [$$]] if $_[0]{PATH_INFO} ne '/slow';
    return sub {
        my $writer = $_[0]->([200, ['Content-Type' => 'text/plain']]);
        open my $f, '>', '@DIR@/begun'; print $f $$; close $f;
        $writer->write('x' x 65536) for 1 .. 100;
        select undef, undef, undef, 0.01 until -e '@DIR@/go';
        $writer->write('end');
        $writer->close;
        open $f, '>', '@DIR@/ended'; print $f $$; close $f;
    };
}"#;
const TWO: &str = "StartServers 2\nMinSpareServers 1\nMaxSpareServers 2\nMaxClients 2";

fn front(server: &Server) -> i32 {
    server.status()["front_pid"].as_i64().unwrap_or(0) as i32
}

/// Kills the front and waits for the next one.
fn kill_front(server: &Server) {
    let old = front(server);
    assert!(old > 0, "no front");
    signal(old, Signal::SIGKILL);
    until("there is another front", || ![0, old].contains(&front(server)));
}

fn pids(server: &Server) -> BTreeSet<i32> {
    server.workers().into_iter().map(|(pid, _)| pid).collect()
}

#[test]
fn a_front_that_dies_is_replaced_and_the_workers_stay() {
    let server = serve("sub { [200, [], [$$]] }", TWO);
    server.until_idle(2);
    let workers = pids(&server);
    for _ in 0..3 {
        kill_front(&server);
        // No connection is refused meanwhile, because the listening socket belongs to the master.
        let answered: i32 = server.text("/").parse().expect("a pid");
        assert!(workers.contains(&answered), "{answered} is not of {workers:?}");
        server.until_idle(2);
        assert_eq!(pids(&server), workers);
    }
    assert!(!server.log().contains("worker=2 "), "a third one was started: {}", server.log());
}

#[test]
fn a_worker_finishes_a_response_without_a_client_and_serves_on() {
    let server = serve(SLOW, TWO);
    let mut lost = server.connect();
    lost.raw("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the request runs", || !server.site.read("begun").is_empty());
    let slow: i32 = server.site.read("begun").parse().expect("a pid");
    kill_front(&server);
    lost.try_rest();
    let other: i32 = server.text("/").parse().expect("a pid");
    assert_ne!(other, slow, "it is busy");
    until("the new front knows it", || server.workers().contains(&(slow, "Busy".to_owned())));
    server.site.write("go", "");
    server.until_idle(2);
    assert_eq!(server.site.read("ended"), slow.to_string());
    assert!(pids(&server).contains(&slow));
    // These responses must contain no byte of the old response.
    let answers: BTreeSet<i32> = (0..20).map(|_| server.text("/").parse().expect("a pid")).collect();
    assert!(answers.is_subset(&pids(&server)), "{answers:?}");
}

#[test]
fn a_program_is_notified_that_its_client_was_lost_with_the_front() {
    let handler = "package Waits; sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print('begun'); $r->rflush; \
        open my $f, '>', '@DIR@/begun'; close $f; select undef, undef, undef, 0.01 until $r->connection->aborted; \
        open $f, '>', '@DIR@/told'; close $f; 0 } 1";
    let conf = "PerlRequire Waits.pm\n<Location />\nSetHandler perl-script\nPerlHandler Waits\n</Location>";
    let server = Site::new().file("Waits.pm", &handler.replace("\\\n", "")).serve(conf);
    let mut lost = server.connect();
    lost.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the request runs", || server.site.has("begun"));
    kill_front(&server);
    until("the program has noticed that its client left", || server.site.has("told"));
}

#[test]
fn a_worker_without_a_client_that_never_ends_is_killed() {
    let server = serve(HANGS, &format!("GracefulShutdownTimeout 1s\n{TWO}"));
    let mut lost = server.connect();
    lost.raw("GET /hang HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the worker hangs", || !server.site.read("hanging").is_empty());
    let hangs: i32 = server.site.read("hanging").parse().expect("a pid");
    kill_front(&server);
    until("the worker is killed", || !alive(hangs));
    server.logged("is still busy with a request of a front that died 1s ago");
    server.until_idle(1);
}

#[test]
fn a_stop_without_a_front_leaves_no_process() {
    let mut server = serve("sub { [200, [], [$$]] }", TWO);
    server.until_idle(2);
    signal(front(&server), Signal::SIGKILL);
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
    server.until_gone();
}

#[test]
fn a_reload_after_the_front_has_died_lets_the_adopted_workers_go() {
    let server = serve("sub { [200, [], [$$]] }", TWO);
    server.until_idle(2);
    let old = pids(&server);
    kill_front(&server);
    server.reload().succeeded();
    until("the old ones have left", || old.iter().all(|pid| !alive(*pid)));
    let answered: i32 = server.text("/").parse().expect("a pid");
    assert!(!old.contains(&answered));
}

#[test]
fn a_master_that_is_killed_ends_the_adopted_workers_too() {
    let mut server = serve(HANGS, TWO);
    let mut lost = server.connect();
    lost.raw("GET /hang HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the worker hangs", || !server.site.read("hanging").is_empty());
    let hangs: i32 = server.site.read("hanging").parse().expect("a pid");
    kill_front(&server);
    assert!(cpu_time(hangs) > std::time::Duration::ZERO);
    server.signal(Signal::SIGKILL);
    assert_eq!(server.wait(), -1);
    server.until_gone();
}
