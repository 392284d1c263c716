//! RFC 9111, section 4.3: conditional requests from clients, and to workers.

use super::serve;
use super::storing::date;
use crate::support::{Request, until};

const TAGGED: &str = "200|Cache-Control: max-age=60|ETag: \"a\"";

#[test]
fn a_client_that_has_the_answer_gets_a_304() {
    let site = serve("");
    let modified = date(-1000);
    let answer = format!("{TAGGED}|Last-Modified: {modified}|X-Own: 1");
    site.ask("/a", &answer);
    for (name, value) in [
        ("If-None-Match", "\"a\""),
        ("If-None-Match", "W/\"a\""),
        ("If-None-Match", "\"b,\", \"a\""),
        ("If-None-Match", "*"),
        ("If-Modified-Since", &modified),
        ("If-Modified-Since", &date(0)),
    ] {
        let response = site.send(Request::get("/a").header(name, value), &answer).is(304);
        assert_eq!(
            (response.header("etag").as_deref(), response.header("age").is_some()),
            (Some("\"a\""), true),
            "{name}"
        );
        assert_eq!((response.header("content-type"), response.body.len()), (None, 0));
        assert!(response.header("date").is_some() && response.header("cache-control").is_some());
    }
    for (name, value) in [("If-None-Match", "\"b\""), ("If-Modified-Since", &date(-2000)), ("If-Modified-Since", "x")] {
        assert_eq!(site.send(Request::get("/a").header(name, value), &answer).is(200).text(), "run 1", "{name}");
    }
    assert_eq!(site.runs(), 1);
}

/// The cache drops a client's conditions from the request to the worker, so that a whole response can be stored.
#[test]
fn a_worker_gets_no_conditions_while_its_response_can_be_stored() {
    let site = serve("");
    let conditional = || Request::get("/a").header("If-None-Match", "\"a\"");
    site.send(conditional(), TAGGED).is(304);
    assert_eq!(site.ask("/a", TAGGED).is(200).text(), "run 1");
    assert_eq!(site.requests(), ["GET /a [] []"]);
    // While recent responses of an address were not storable, the program gets the conditions. A storable response is
    // stored again.
    let uncached = |target: &str, control: &str| {
        let request = Request::get(target).header("If-None-Match", "\"b\"");
        site.send(request, &format!("200|Cache-Control: {control}|ETag: \"b\"")).is(304)
    };
    uncached("/b", "no-store");
    uncached("/b", "no-store");
    assert_eq!(site.requests()[1..], ["GET /b [] []", "GET /b [\"b\"] []"]);
    assert!(site.keeps("/b", TAGGED));
}

#[test]
fn a_stale_response_is_revalidated_with_its_validators() {
    let site = serve("");
    let modified = date(-1000);
    let answer = format!("200|Cache-Control: max-age=1|ETag: \"a\"|Last-Modified: {modified}|X-Own: same");
    site.ask("/a", &answer.replace("same", "old"));
    until("the program is asked again", || {
        site.ask("/a", &answer.replace("same", "new"));
        site.runs() == 2
    });
    assert_eq!(site.requests()[1], format!("GET /a [\"a\"] [{modified}]"));
    let renewed = site.ask("/a", &answer).is(200);
    assert_eq!(
        (renewed.text().as_str(), renewed.header("x-own").as_deref()),
        ("run 1", Some("new")),
        "3.2: a 304 renews headers"
    );
    assert_eq!(renewed.header("content-type").as_deref(), Some("text/plain"));
    until("the program has another answer", || {
        site.ask("/a", &answer.replace("\"a\"", "\"b\"")).text().starts_with("run 3")
    });
}

#[test]
fn a_response_with_no_cache_is_requested_each_time() {
    let site = serve("");
    let answer = "200|Cache-Control: no-cache|ETag: \"a\"";
    for run in 1..4 {
        let response = site.ask("/a", answer).is(200);
        assert_eq!((response.text().as_str(), site.runs()), ("run 1", run));
        let word = if run == 1 { "MISS from localhost" } else { "REVALIDATE from localhost" };
        assert_eq!(response.header("x-cache").as_deref(), Some(word));
    }
    assert_eq!(site.ask("/a", "200|Cache-Control: no-cache|ETag: \"b\"").text(), "run 4");
    let site = serve("CacheStoreExpired On");
    let answer = "200|Cache-Control: max-age=0|ETag: \"a\"";
    assert_eq!([site.ask("/a", answer).text(), site.ask("/a", answer).text()], ["run 1", "run 1"]);
    assert_eq!(site.runs(), 2);
}

/// A 304 may restrict its response to one client; a cookie in the 304 belongs to that client.
#[test]
fn a_304_with_no_store_removes_the_stored_response() {
    let site = serve("");
    let answer = |control: &str| format!("200|Cache-Control: {control}|ETag: \"a\"");
    site.ask("/a", &answer("no-cache"));
    let own = site.ask("/a", &format!("{}|Set-Cookie: a=b", answer("no-cache")));
    assert_eq!((own.text().as_str(), own.header("set-cookie").as_deref()), ("run 1", Some("a=b")));
    let others = site.ask("/a", &answer("no-cache"));
    assert_eq!((others.text().as_str(), others.header("set-cookie")), ("run 1", None));
    assert_eq!(site.ask("/a", &answer("no-store")).is(200).text(), "run 1");
    assert_eq!(site.ask("/a", &answer("no-cache")).text(), "run 5");
}

/// 4.3.4: a 304 with another ETag does not update the stored response.
#[test]
fn a_304_about_another_answer_renews_nothing() {
    let site = serve("");
    site.ask("/a", "200|Cache-Control: no-cache|ETag: \"a\"");
    assert_eq!(site.ask("/a", "304|ETag: \"b\"|Cache-Control: no-cache").status, 304);
    assert_eq!(site.requests(), ["GET /a [] []", "GET /a [\"a\"] []", "GET /a [] []"]);
}

/// 3.3, RFC 9110 14.2: a range is cut from the whole stored response.
#[test]
fn a_range_is_cut_from_a_stored_response() {
    let site = serve("");
    let ranged = |range: &str| Request::get("/a").header("Range", range);
    assert_eq!(site.send(ranged("bytes=0-2"), TAGGED).is(200).text(), "run 1", "the program knows no ranges");
    site.ask("/a", TAGGED);
    let part = site.send(ranged("bytes=0-2"), TAGGED).is(206);
    assert_eq!((part.text().as_str(), part.header("content-range").as_deref()), ("run", Some("bytes 0-2/5")));
    assert_eq!(site.send(ranged("bytes=-1"), TAGGED).is(206).text(), "2");
    let beyond = site.send(ranged("bytes=10-"), TAGGED).is(416);
    assert_eq!(beyond.header("content-range").as_deref(), Some("bytes */5"));
    assert_eq!(site.send(ranged("lines=1"), TAGGED).is(200).text(), "run 2");
    assert_eq!(site.send(ranged("bytes=0-1,3-4"), TAGGED).is(200).text(), "run 2");
    for (tag, status) in [("\"a\"", 206), ("\"b\"", 200), ("W/\"a\"", 200)] {
        site.send(ranged("bytes=0-2").header("If-Range", tag), TAGGED).is(status);
    }
    assert_eq!(site.runs(), 2);
    site.send(
        Request::get("/b").header("Range", "bytes=0-1"),
        "206|Cache-Control: max-age=60|Content-Range: bytes 0-4/9",
    )
    .is(206);
    assert_eq!(site.ask("/b", TAGGED).is(200).text(), "run 4");
}

/// 4.3.2: If-Match and If-Unmodified-Since are left to the program.
#[test]
fn conditions_of_changes_are_left_to_the_program() {
    let site = serve("");
    site.ask("/a", TAGGED);
    site.send(Request::get("/a").header("If-Match", "\"x\""), TAGGED);
    site.send(Request::get("/a").header("If-Unmodified-Since", &date(0)), TAGGED);
    assert_eq!(site.runs(), 3);
}
