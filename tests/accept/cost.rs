//! System calls that accept a client whose request is already there, counted by strace on the front.

use crate::support::{Request, Server, Site, Trace};

/// Number of counted connections.
const N: usize = 20;

fn serve(conf: &str) -> Server {
    let site = Site::new().file("htdocs/page", "a page").file("app.psgi", "sub { [200, [], ['hello']] }");
    site.serve(&format!(
        "FrontThreads 1\n{conf}\n<Location /app>\nSetHandler psgi\nPSGIApp @DIR@/app.psgi\n</Location>\n"
    ))
}

/// The front's calls for [`N`] connections with one request each. A first round absorbs one-time work.
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
    // One recvfrom reads the request, a second checks for further data.
    assert_eq!(count(&calls, "recvfrom"), 2 * N, "{calls:#?}");
}

#[test]
fn a_client_of_a_quick_program_is_not_registered_with_epoll() {
    let server = serve("");
    let calls = calls(&server, "/app");
    // A busy machine may delay some responses; those connections are added to epoll and removed.
    assert!(count(&calls, "epoll_ctl") < N, "{calls:#?}");
}

#[test]
fn a_silent_client_is_accepted() {
    let server = serve("RequestReadTimeout header=1 body=20\n");
    let mut silent = server.connect();
    // Only the read timeout ends this connection, so the front has accepted it.
    silent.is_closed();
    server.connect().ask(Request::get("/page")).is(200);
}
