//! The server's cost of client input is linear in its length. Four times the length costs at most six times the
//! instructions, after subtraction of the shortest input's cost. A quadratic cost would be sixteen times as high.
//!
//! [`Counter`] counts the instructions of the whole server including Perl. Each kind is sent once before the
//! measurement, so that one-time work does not count. In debug builds the crate http walks all further values of a
//! field to check that none is lost. Kinds with such fields therefore stay within the default of LimitRequestFields.

mod front;
mod http2;
mod libapreq;
mod places;
mod programs;

use crate::support::{Counter, PATIENCE, Site};

/// A difference of this many instructions is noise: tables are resized, timers expire.
const SLACK: u64 = 1_000_000;

/// Client input of variable length.
struct Kind {
    name: &'static str,
    /// Number of pieces of the smaller input. The larger input has four times as many.
    pieces: usize,
    /// Builds the input from a number of pieces.
    send: fn(usize) -> Vec<u8>,
}

/// The measurements of a kind whose cost grows too fast; `None`: the growth is linear.
type Steep = Option<String>;

/// Sends each input of `kinds` on a connection of its own, and fails the test on super-linear cost.
#[track_caller]
fn costs_by_its_length(counter: &Counter, kinds: &[Kind]) {
    costs_by_its_length_with(|bytes| cost(counter, &bytes), kinds);
}

/// Measures `kinds` with a `cost` function of the caller.
#[track_caller]
fn costs_by_its_length_with(cost: impl Fn(Vec<u8>) -> u64, kinds: &[Kind]) {
    let steep: Vec<String> = kinds.iter().filter_map(|kind| measure(kind, &cost)).collect();
    assert!(steep.is_empty(), "{steep:#?}");
}

/// Measures one kind. A result that is too steep is measured again, and the lowest value of each size counts, because
/// an expiring timer only adds instructions.
fn measure(kind: &Kind, cost: impl Fn(Vec<u8>) -> u64) -> Steep {
    cost((kind.send)(2));
    let mut least = [u64::MAX; 3];
    for _ in 0..6 {
        let costs = [1, kind.pieces, 4 * kind.pieces].map(|pieces| cost((kind.send)(pieces)));
        least = std::array::from_fn(|at| least[at].min(costs[at]));
        let (small, large) = (least[1].saturating_sub(least[0]), least[2].saturating_sub(least[0]));
        println!("{}: {}, +{small}, +{large}: {:.1}", kind.name, least[0], large as f64 / small.max(1) as f64);
        if large <= 6 * small + SLACK {
            return None;
        }
    }
    Some(format!("{}: 1, {} and {} pieces cost {least:?}", kind.name, kind.pieces, 4 * kind.pieces))
}

fn cost(counter: &Counter, bytes: &[u8]) -> u64 {
    counter.of(|| {
        let mut connection = counter.server.connect();
        connection.patience(PATIENCE);
        connection.raw(bytes);
        let status = connection.response().status;
        assert!([200, 206, 302, 304, 401, 404].contains(&status), "{status}: {}", shown(bytes));
        // Work after the response counts too, so wait for the close.
        connection.rest();
    })
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned()
}

/// A GET request with `lines` after its Host header.
fn get(target: &str, lines: &str) -> Vec<u8> {
    format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{lines}\r\n").into_bytes()
}

/// A POST request with a body of the media type `kind`.
fn post(target: &str, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Concatenates `make(0)`, `make(1)` and so on.
fn each(pieces: usize, make: impl Fn(usize) -> String) -> String {
    (0..pieces).map(make).collect()
}

#[test]
fn a_cost_that_grows_with_the_square_is_found() {
    let square = Kind { name: "square", pieces: 500, send: |pieces| vec![b'x'; pieces] };
    let line = Kind { name: "line", pieces: 100_000, send: |pieces| vec![b'x'; pieces] };
    assert!(measure(&square, |bytes| (bytes.len() * bytes.len()) as u64).is_some());
    assert!(measure(&line, |bytes| 5 * bytes.len() as u64 + 1_000_000).is_none());
}

#[track_caller]
fn counter(site: Site, conf: &str) -> Counter {
    let counter = Counter::serve(
        site,
        &format!(
            "LimitRequestLine 262144\nLimitRequestFieldSize 262144\nLimitRequestFields 20000\nMaxRanges unlimited\n\
             MaxRangeOverlaps unlimited\nMaxRangeReversals unlimited\nTimeout 300\nRequestTimeout 300\nQueueTimeout 300\n{conf}"
        ),
    );
    let idle = counter.of(|| {});
    let busy = counter.of(|| drop(counter.server.get("/")));
    assert!(busy > idle + 10_000, "it is counted: {idle} instructions without a request, {busy} with one");
    counter
}
