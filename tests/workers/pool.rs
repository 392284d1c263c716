//! The number of workers, and their lifetime.

use std::collections::HashMap;

use nix::sys::signal::Signal;

use crate::support::{Connection, Load, Request, Server, Site, children, eventually, name, own_memory, until};

/// `/pid` returns the worker's pid; `/hold` waits for the file `go`.
const APP: &str = r#"sub { my $e = shift;
    if ($e->{PATH_INFO} eq '/hold') { select undef, undef, undef, 0.01 until -e '@DIR@/go' }
    [200, [], [$$]] }"#;

#[track_caller]
fn serve(conf: &str) -> Server {
    Site::new().file("app.psgi", APP).serve(&format!("<Location />\nPsgiApp app.psgi\n</Location>\n{conf}"))
}

/// Starts `count` requests that wait for the file `go`.
fn hold(server: &Server, count: usize) -> Vec<Connection> {
    let held: Vec<Connection> = (0..count)
        .map(|_| {
            let mut connection = server.connect();
            connection.raw("GET /hold HTTP/1.1\r\nHost: localhost\r\n\r\n");
            connection
        })
        .collect();
    held
}

fn release(server: &Server, held: Vec<Connection>) {
    server.site.write("go", "");
    for mut connection in held {
        assert_eq!(connection.response().status, 200);
    }
}

fn busy(server: &Server) -> usize {
    server.workers().iter().filter(|(_, state)| state == "Busy").count()
}

#[test]
fn max_requests_per_child_counts_requests_exactly() {
    let server = serve("MaxRequestsPerChild 5\nMaxClients 1\nStartServers 1");
    let mut connection = server.connect();
    let mut answers: HashMap<String, u32> = HashMap::new();
    for _ in 0..50 {
        *answers.entry(connection.ask(Request::get("/")).is(200).text()).or_default() += 1;
    }
    assert_eq!(answers.len(), 10, "{answers:?}");
    assert!(answers.values().all(|count| *count == 5), "{answers:?}");
}

#[test]
fn a_range_of_max_requests_spreads_the_ends() {
    let server = serve("MaxRequestsPerChild 5-15\nMaxClients 1\nStartServers 1");
    let mut connection = server.connect();
    let mut answers: HashMap<String, u32> = HashMap::new();
    for _ in 0..200 {
        *answers.entry(connection.ask(Request::get("/")).text()).or_default() += 1;
    }
    let full: Vec<u32> = answers.into_values().collect();
    assert!(full.iter().all(|count| *count <= 15), "{full:?}");
    assert!(full.iter().collect::<std::collections::HashSet<_>>().len() > 2, "{full:?}");
}

#[test]
fn start_servers_are_there_at_the_start() {
    serve("StartServers 3\nMinSpareServers 1\nMaxSpareServers 5\nMaxClients 5").until_idle(3);
}

#[test]
fn missing_spare_workers_are_forked_and_surplus_ones_leave() {
    let server = serve("StartServers 1\nMinSpareServers 2\nMaxSpareServers 3\nMaxClients 6");
    server.until_idle(2);
    let held = hold(&server, 4);
    until("four are busy and two wait", || busy(&server) == 4 && server.workers().len() == 6);
    release(&server, held);
    until("the surplus has left", || server.workers().len() == 3);
}

#[test]
fn max_clients_is_the_most_and_the_others_wait() {
    let server = serve("MaxClients 2");
    let held = hold(&server, 5);
    until("two work and three wait", || busy(&server) == 2 && server.status()["front"]["queued"] == 3);
    assert_eq!(server.workers().len(), 2);
    release(&server, held);
}

#[test]
fn reaching_max_clients_is_logged_once_with_apaches_words() {
    let server = serve("MaxClients 2\nMinSpareServers 1\nStartServers 2");
    let held = hold(&server, 6);
    server.logged("server reached MaxClients setting, consider raising the MaxClients setting");
    release(&server, held);
    std::fs::remove_file(server.site.path("go")).expect("it was there");
    let held = hold(&server, 6);
    until("the requests are queued again", || server.status()["front"]["queued"] == 4);
    release(&server, held);
    assert_eq!(server.log().matches("server reached MaxClients").count(), 1, "{}", server.log());
}

#[test]
fn a_request_that_waited_too_long_is_a_503_with_retry_after() {
    let server = serve("MaxClients 1\nStartServers 1\nQueueTimeout 300ms");
    let held = hold(&server, 1);
    until("the worker is busy", || busy(&server) == 1);
    let response = server.get("/").is(503);
    assert!(response.header("retry-after").is_some_and(|s| s.parse::<u32>().is_ok()), "{response:?}");
    release(&server, held);
    assert_eq!(server.status()["front"]["shed"]["queue_timeout"], 1);
}

#[test]
fn a_full_queue_refuses_at_once() {
    let server = serve("MaxClients 1\nStartServers 1\nQueueLength 1\nQueueTimeout 60s");
    let mut held = hold(&server, 1);
    until("the worker is busy", || busy(&server) == 1);
    held.extend(hold(&server, 1));
    until("one waits", || server.status()["front"]["queued"] == 1);
    server.get("/").is(503);
    release(&server, held);
}

#[test]
fn a_queued_request_whose_client_left_is_never_run() {
    let server = Site::new()
        .file(
            "app.psgi",
            "sub { my $p = $_[0]{PATH_INFO}; open my $f, '>>', '@DIR@/ran'; print $f \"$p\\n\"; close $f;
                   if ($p eq '/hold') { select undef, undef, undef, 0.01 until -e '@DIR@/go' } [200, [], [$$]] }",
        )
        .serve("MaxClients 1\nStartServers 1\n<Location />\nPsgiApp app.psgi\n</Location>");
    let held = hold(&server, 1);
    until("the request runs", || server.site.read("ran") == "/hold\n");
    let mut leaves = server.connect();
    leaves.raw("GET /left HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the request is queued", || server.status()["front"]["queued"] == 1);
    drop(leaves);
    until("the queued request is dropped", || server.status()["front"]["queued"] == 0);
    release(&server, held);
    server.text("/after");
    assert_eq!(server.site.read("ran"), "/hold\n/after\n");
}

#[test]
fn ttin_and_ttou_change_the_number_of_workers_by_one() {
    let server = serve("MaxClients 2\nStartServers 2\nMinSpareServers 2\nMaxSpareServers 2");
    server.until_idle(2);
    server.signal(Signal::SIGTTIN);
    until("there is one more", || server.workers().len() == 3);
    server.signal(Signal::SIGTTOU);
    until("there are as many as at the start", || server.workers().len() == 2);
    server.signal(Signal::SIGTTOU);
    until("there is one fewer than at the start", || server.workers().len() == 1);
    assert_eq!(server.get("/").status, 200);
}

#[test]
fn quick_and_slow_requests_on_few_workers_that_come_and_go_all_get_their_own_answer() {
    let app = "sub { my $p = $_[0]{PATH_INFO}; select undef, undef, undef, 0.003 if $p eq '/slow'; [200, [], [$p]] }";
    let site = Site::new().file("app.psgi", app);
    let server = site.serve("<Location />\nPsgiApp app.psgi\n</Location>\nMaxRequestsPerChild 20-60");
    let loads = [
        Load::start(&server, 10, "/quick", |response| response.status == 200 && response.text() == "/quick"),
        Load::start(&server, 2, "/slow", |response| response.status == 200 && response.text() == "/slow"),
    ];
    loads[0].until_answered(3000);
    let failures: Vec<String> = loads.into_iter().flat_map(Load::failures).collect();
    assert_eq!(failures, Vec::<String>::new());
}

#[test]
fn requests_are_spread_fairly_over_busy_connections() {
    let server = serve("");
    let clients: Vec<_> = (0..16)
        .map(|_| {
            let mut connection = server.connect();
            std::thread::spawn(move || (0..100).filter(|_| connection.ask(Request::get("/")).status == 200).count())
        })
        .collect();
    for client in clients {
        assert_eq!(client.join().expect("a client"), 100);
    }
}

#[test]
fn the_process_tree_is_master_front_sampler_mold_and_workers() {
    let server = serve("MaxSpareServers 2");
    server.until_idle(2);
    let status = server.status();
    let front = status["front_pid"].as_i64().expect("a front") as i32;
    let mold = status["generations"][0]["mold_pid"].as_i64().expect("a mold") as i32;
    let mut of_master = eventually("the sampler is there", || {
        let children = children(server.pid());
        children.iter().any(|pid| name(*pid) == "cameleer-sample").then_some(children)
    });
    of_master.retain(|pid| name(*pid) != "cameleer-sample");
    of_master.sort_unstable();
    let mut expected = vec![front, mold];
    expected.sort_unstable();
    assert_eq!(of_master, expected);
    let mut of_mold = children(mold);
    of_mold.sort_unstable();
    let mut workers: Vec<i32> = server.workers().into_iter().map(|(pid, _)| pid).collect();
    workers.sort_unstable();
    assert_eq!(of_mold, workers);
}

#[test]
fn workers_hold_no_client_and_no_listening_socket() {
    let server = serve("MaxClients 1\nStartServers 1\nFrontThreads 3");
    let _client = server.connect();
    // A newly forked worker still closes the mold's descriptors.
    server.until_idle(1);
    let (worker, _) = server.workers()[0];
    let open = std::fs::read_dir(format!("/proc/{worker}/fd")).expect("it lives").flatten();
    let open: Vec<_> = open.filter_map(|fd| std::fs::read_link(fd.path()).ok()).collect();
    let count = |kind| open.iter().filter(|to| to.to_string_lossy().starts_with(kind)).count();
    let ways = ["socket:", "anon_inode:[eventfd]"].map(count);
    assert_eq!(ways, [1, 3], "only the ways to the threads of the front");
}

/// A module that leaves free memory between allocated blocks. A worker that allocated from these holes would copy
/// pages.
const HOLES: &str = "package Holes; our @all = map { 'x' x ($_ % 400) } 1 .. 40_000;\n\
    undef $all[$_ * 2] for 0 .. 19_999;\nsub handler { my $r = shift; $r->send_http_header('text/plain');\n\
    my @own = map { \"a$_\" x ($_ % 30) } 1 .. 1000; $r->print(scalar @own); 0 }\n1;\n";

#[test]
fn a_worker_shares_what_the_mold_has_loaded() {
    let site = Site::new().file("lib/Holes.pm", HOLES);
    let server = site.serve(
        "PerlLib lib\nPerlModule Holes CGI POSIX\nMaxClients 1\nStartServers 1\n\
         <Location />\nSetHandler perl-script\nPerlHandler Holes\n</Location>",
    );
    let of_worker = || own_memory(server.workers()[0].0);
    let fresh = of_worker();
    assert_eq!(server.text("/"), "1000");
    let used = of_worker();
    assert!(fresh < MANY && used < MANY + MANY / 2, "own memory: {fresh} B when fresh, {used} B after a request");
}

/// An administrator may preload another allocator. Blocks of that allocator may lie below the C library's heap, where
/// the mold looks for holes to fill.
#[test]
fn with_another_allocator_preloaded_the_mold_takes_no_more_memory() {
    let site = Site::new();
    site.configure("MaxClients 1\nStartServers 1");
    let mut command = site.serve_command();
    command.env("LD_PRELOAD", "libmimalloc.so.2");
    let server = Server::start(site, command);
    server.until_idle(1);
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", server.pid())).expect("it lives");
    assert!(maps.contains("libmimalloc"), "it was not preloaded");
    assert_eq!(server.get("/none").status, 404);
}

/// Bytes: far more than a worker's own memory, far less than it would copy.
const MANY: u64 = 800_000;
