//! `LimitStore`: a place has one number of concurrent requests on all servers.

use nix::sys::signal::Signal;

use super::{state, until_connected};
use crate::support::{Connection, Redis, Request, Server, Site, until};

/// `/work/hold` creates a file and waits for the file `go`.
const APP: &str = "my $n = 0;
sub { if ($_[0]{PATH_INFO} =~ /hold/) {
        open my $f, '>', \"@DIR@/tmp/begun-$$-\" . ++$n or die $!;
        close $f;
        select undef, undef, undef, 0.01 until -e '@DIR@/go' }
    [200, [], ['ok']] }";

#[track_caller]
fn node(store: &Redis, most: u32, directives: &str) -> Server {
    let server = Site::new().file("app.psgi", APP).serve(&format!(
        "LogLevel notice\nMaxClients 4\nMinSpareServers 4\nMaxSpareServers 4\nStartServers 4\nStoreTimeout 10s\n\
         LimitStore redis://127.0.0.1:{}\n<Location />\nPsgiApp app.psgi\n</Location>\n\
         <Location /work>\nMaxConcurrentReqs {most}\n</Location>\n{directives}",
        store.port
    ));
    until_connected(&[&server], "LimitStore");
    server
}

/// Requests that run until [`release`].
#[track_caller]
fn hold(server: &Server, count: usize) -> Vec<Connection> {
    let begun = || std::fs::read_dir(server.site.path("tmp")).map(|files| files.count()).unwrap_or_default();
    let before = begun();
    let one = |_| {
        let mut connection = server.connect();
        connection.raw("GET /work/hold HTTP/1.1\r\nHost: localhost\r\n\r\n");
        connection
    };
    let held = (0..count).map(one).collect();
    until("the requests are at work", || begun() == before + count);
    held
}

fn release(server: &Server) {
    server.site.write("go", "");
}

fn status(server: &Server) -> u16 {
    server.send(Request::get("/work/x")).status
}

#[test]
fn the_running_requests_of_all_servers_count() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let servers = [node(&store, 3, "FrontThreads 2"), node(&store, 3, "")];
    let _held = [hold(&servers[0], 2), hold(&servers[1], 1)];
    for server in &servers {
        assert_eq!(status(server), 503);
        server.logged("MaxConcurrentReqs 3 reached");
        server.get("/elsewhere").is(200);
    }
    release(&servers[0]);
    until("there is room", || status(&servers[1]) == 200);
    // Each request ends its count, also one that was refused.
    (0..20).for_each(|number| until("the request is admitted", || status(&servers[number % 2]) == 200));
    release(&servers[1]);
    until("no count is left", || store.ask("KEYS cameleer:turns:*") == "*0\r\n");
    assert_eq!(state(&servers[0], "LimitStore", "alone"), 0);
}

#[test]
fn the_requests_of_a_server_that_was_killed_count_for_a_limited_time() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let (mut first, second) = (node(&store, 2, ""), node(&store, 2, ""));
    let _held = hold(&first, 2);
    assert_eq!(status(&second), 503);
    first.signal(Signal::SIGKILL);
    first.wait();
    first.until_gone();
    until("its lease has ended", || status(&second) == 200);
}

#[test]
fn a_busy_line_does_not_keep_the_lease_of_another_from_its_renewal() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let server = node(&store, 2, "<Location /busy>\nMaxConcurrentReqs 3\n</Location>");
    let _held = hold(&server, 1);
    let keys = store.ask("KEYS cameleer:turns:*work*");
    let key = keys.lines().find(|key| key.starts_with("cameleer")).expect("the line of /work");
    let lease = || store.command(&[b"HVALS", key.as_bytes()]);
    let first = lease();
    until("the lease is renewed", || {
        server.get("/busy/x").is(200);
        lease() != first
    });
    release(&server);
}

#[test]
fn without_the_store_each_server_has_the_limit_for_itself() {
    let site = Site::new();
    let mut store = Redis::start(&site, &[]);
    let servers = [node(&store, 2, ""), node(&store, 2, "")];
    let _held = hold(&servers[0], 2);
    assert_eq!(status(&servers[1]), 503);
    store.stop();
    until("the store is away", || state(&servers[1], "LimitStore", "connected") == false);
    assert_eq!((status(&servers[0]), status(&servers[1])), (503, 200));
    store.restart();
    until_connected(&servers.iter().collect::<Vec<_>>(), "LimitStore");
    until("the running requests are reported again", || status(&servers[1]) == 503);
    release(&servers[0]);
    until("there is room", || status(&servers[1]) == 200);
}
