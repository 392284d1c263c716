//! RFC 9111, section 4.2.4, and RFC 5861: when a response is stale, and when the cache may send it.

use super::{Counting, serve};
use crate::support::{Connection, Request, Response, until};

/// Waits until the stored response of `/a` is stale.
#[track_caller]
fn until_stale(site: &Counting) {
    let age = |answer: Response| answer.header("age").and_then(|age| age.parse::<u32>().ok());
    let request = || Request::get("/a").header("Cache-Control", "only-if-cached, max-stale");
    until("the stored response is stale", || age(site.0.send(request())).is_none_or(|age| age >= 1));
}

#[test]
fn a_client_with_max_stale_gets_a_stale_response() {
    let site = serve("");
    let answer = "200|Cache-Control: max-age=1";
    site.ask("/a", answer);
    until_stale(&site);
    let stale = |control: &str| site.send(Request::get("/a").header("Cache-Control", control), answer);
    assert_eq!(stale("max-stale").text(), "run 1");
    assert_eq!(stale("max-stale=600").text(), "run 1");
    assert_eq!(site.runs(), 1);
    assert_eq!(stale("max-stale=0, max-age=600").is(200).text(), "run 2");
}

/// 4.2.4: "prohibited by an explicit in-protocol directive".
#[test]
fn a_response_with_must_revalidate_is_never_sent_stale() {
    for control in ["must-revalidate", "proxy-revalidate", "s-maxage=1"] {
        let site = serve("");
        let answer = format!("200|Cache-Control: max-age=1, stale-if-error=0, {control}");
        site.ask("/a", &answer);
        until("the stored response is stale and not served", || {
            let request = Request::get("/a").header("Cache-Control", "only-if-cached, max-stale");
            site.0.send(request).status == 504
        });
        site.answers("500|X-Own: error");
        site.ask("/a", &answer).is(500);
    }
}

#[test]
fn a_stale_answer_is_better_than_an_error() {
    let site = serve("");
    site.ask("/a", "200|Cache-Control: max-age=1");
    until_stale(&site);
    for status in [500, 502, 503, 504] {
        site.answers(&format!("{status}|Cache-Control: no-store"));
        let stale = site.ask("/a", "").is(200);
        assert_eq!((stale.text().as_str(), stale.header("x-cache").as_deref()), ("run 1", Some("HIT from localhost")));
    }
    site.answers("");
    // A worker's death is a 502.
    let dies = Request::get("/a").header("X-Do", "die");
    assert_eq!(site.send(dies, "200").is(200).text(), "run 1");
    site.answers("404|Cache-Control: no-store");
    site.ask("/a", "").is(404);
    site.answers("500");
    site.ask("/a", "").is(500);
}

/// Clients that waited for a failed program do not all repeat the request.
#[test]
fn a_program_that_fails_is_requested_once() {
    let site = serve("CacheLockMaxAge 60");
    site.ask("/a", "200|Cache-Control: max-age=1");
    until_stale(&site);
    site.answers("503");
    let before = site.0.status()["front"]["requests"].as_u64().expect("a number");
    let client = |_| {
        let (address, request) = (site.0.address.clone(), Request::get("/a").header("X-Do", "wait"));
        std::thread::spawn(move || Connection::open(&address).expect("it listens").ask(request).text())
    };
    let clients: Vec<_> = (0..5).map(client).collect();
    until("all are there", || {
        site.0.status()["front"]["requests"].as_u64().is_some_and(|requests| requests >= before + 5)
    });
    site.0.site.write("go", "");
    for client in clients {
        assert_eq!(client.join().expect("an answer"), "run 1");
    }
    assert_eq!(site.runs(), 2);
}

#[test]
fn stale_if_error_limits_the_time_of_stale_responses() {
    let site = serve("CacheStaleOnError Off");
    site.ask("/a", "200|Cache-Control: max-age=1, stale-if-error=600");
    until_stale(&site);
    site.answers("503");
    site.ask("/a", "").is(200);
    for (conf, control) in [("", "max-age=1, stale-if-error=0"), ("CacheStaleOnError Off", "max-age=1")] {
        let site = serve(conf);
        site.ask("/a", &format!("200|Cache-Control: {control}"));
        until_stale(&site);
        site.answers("503");
        site.ask("/a", "").is(503);
    }
}

/// RFC 5861, section 3: stale-while-revalidate.
#[test]
fn a_stale_response_is_sent_during_its_revalidation() {
    let site = serve("");
    let answer = "200|Cache-Control: max-age=1, stale-while-revalidate=600";
    site.ask("/a", answer);
    until_stale(&site);
    // With `X-Do: wait` the program blocks until `go` exists; clients get the stale response meanwhile.
    let waits = || Request::get("/a").header("X-Do", "wait");
    let stale = site.send(waits(), answer).is(200);
    assert_eq!(stale.text(), "run 1");
    until("the program is asked", || site.runs() == 2);
    for _ in 0..5 {
        assert_eq!(site.send(waits(), answer).text(), "run 1");
    }
    assert_eq!(site.runs(), 2, "once is enough");
    site.answers("200|Cache-Control: max-age=600");
    site.0.site.write("go", "");
    until("the new one is there", || site.ask("/a", answer).text() == "run 2");
}

#[test]
fn a_failure_behind_the_answer_changes_nothing() {
    let site = serve("");
    site.ask("/a", "200|Cache-Control: max-age=1, stale-while-revalidate=600");
    until_stale(&site);
    site.answers("500");
    assert_eq!(site.ask("/a", "").is(200).text(), "run 1");
    until("the program was asked", || site.runs() == 2);
    until("the program runs again", || {
        assert_eq!(site.ask("/a", "").is(200).text(), "run 1");
        site.runs() > 2
    });
}

/// SIGTERM during a background revalidation still ends the server with status 0.
#[test]
fn the_server_stops_during_a_revalidation() {
    let mut site = serve("");
    let answer = "200|Cache-Control: max-age=1, stale-while-revalidate=600";
    site.ask("/a", answer);
    until_stale(&site);
    site.send(Request::get("/a").header("X-Do", "wait"), answer);
    until("the program is asked", || site.runs() == 2);
    site.0.signal(nix::sys::signal::Signal::SIGTERM);
    site.0.site.write("go", "");
    assert_eq!(site.0.wait(), 0);
}

/// A HEAD or a range request may start the revalidation, which requests the whole response.
#[test]
fn a_refresh_in_the_background_requests_the_whole_response() {
    for request in [Request::new("HEAD", "/a"), Request::get("/a").header("Range", "bytes=0-1")] {
        let site = serve("");
        let answer = "200|Cache-Control: max-age=1, stale-while-revalidate=600";
        site.ask("/a", answer);
        until_stale(&site);
        site.answers("200|Cache-Control: max-age=600");
        site.0.connect().ask(request.header("X-Answer", answer));
        until("the new one is there", || site.ask("/a", answer).text() == "run 2");
        assert_eq!(site.requests()[1], "GET /a [] []");
    }
}
