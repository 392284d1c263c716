//! What it costs to let a client in that comes with its request: counted by strace on the front.

use crate::support::{Request, Server, Site, Trace};

/// Connections that are counted.
const N: usize = 20;

fn serve(conf: &str) -> Server {
    let site = Site::new().file("htdocs/page", "a page").file("app.psgi", "sub { [200, [], ['hello']] }");
    site.serve(&format!(
        "FrontThreads 1\n{conf}\n<Location /app>\nSetHandler psgi\nPSGIApp @DIR@/app.psgi\n</Location>\n"
    ))
}

/// The front's calls for [`N`] connections with a request each, after as many for what is only done at first.
fn calls(server: &Server, target: &str) -> Vec<String> {
    let round = || {
        for _ in 0..N {
            let mut connection = server.connect();
            connection.ask(Request::get(target).header("Connection", "close")).is(200);
            connection.is_closed();
        }
    };
    round();
    let trace = Trace::of(server, &[server.front()], "network,desc");
    round();
    trace.end_of_all()
}

fn count(calls: &[String], name: &str) -> usize {
    calls.iter().filter(|call| call.contains(&format!(" {name}("))).count()
}

#[test]
fn a_connection_that_is_answered_at_once_is_never_watched() {
    let server = serve("");
    let calls = calls(&server, "/page");
    assert_eq!(count(&calls, "epoll_ctl"), 0, "{calls:#?}");
    // Its request was there when it was let in, and once more it is looked whether something else has come.
    assert_eq!(count(&calls, "recvfrom"), 2 * N, "{calls:#?}");
}

#[test]
fn nor_is_one_that_waits_for_a_quick_program() {
    let server = serve("");
    let calls = calls(&server, "/app");
    // Added and removed: where the machine is busy an answer may take long.
    assert!(count(&calls, "epoll_ctl") < N, "{calls:#?}");
}

#[test]
fn one_that_says_nothing_is_let_in_all_the_same() {
    let server = serve("RequestReadTimeout header=1 body=20\n");
    let mut silent = server.connect();
    // Nothing but its timeout ends it: so it was counted, and watched.
    silent.is_closed();
    server.connect().ask(Request::get("/page")).is(200);
}
