//! The cost of a limit that servers share, in instructions of a debug build, on the server that asks.

use crate::support::{Counter, PATIENCE, Redis, Request, Site};

const REQUESTS: u64 = 60;
const ROUNDS: usize = 6;

const HELLO: &str = "package Hello; sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print('Hello, World\n'); 0 } 1;";

/// Instructions of a request under a limit, with these directives.
fn cost(directives: &str) -> u64 {
    let counter = Counter::serve(
        Site::new().file("lib/Hello.pm", HELLO),
        &format!(
            "LogLevel notice\nPerlLib lib\nPerlModule Hello\nMaxKeepAliveRequests 0\nTimeout 300\nStoreTimeout 10s\n{directives}\n\
             <Location /hello>\nSetHandler perl-script\nPerlHandler Hello\nSpeedLimit requests=100000/1s\n</Location>"
        ),
    );
    if !directives.is_empty() {
        counter.server.logged(": connected");
    }
    let mut connection = counter.server.connect();
    connection.patience(PATIENCE);
    let mut round = || (0..REQUESTS).for_each(|_| drop(connection.ask(Request::get("/hello")).is(200)));
    counter.of(&mut round);
    (0..ROUNDS).map(|_| counter.of(&mut round) / REQUESTS).min().unwrap_or_default()
}

#[test]
#[ignore = "measures time: `make timing`"]
fn a_shared_limit_costs_less_than_the_request_that_it_admits() {
    let site = Site::new();
    let store = Redis::start(&site, &[]);
    let (alone, shared) = (cost(""), cost(&format!("LimitStore redis://127.0.0.1:{}", store.port)));
    println!("{alone} instructions with the limit of one server, {shared} with that of several");
    assert!(shared < 2 * alone, "{alone} and {shared} instructions");
}
