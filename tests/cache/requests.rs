//! RFC 9111, sections 5.2.1 and 4.4: cache directives of requests, and requests that invalidate.

use super::{serve, serve_with};
use crate::support::{Request, until};

const MINUTE: &str = "200|Cache-Control: max-age=60";

fn asking(control: &str) -> Request {
    Request::get("/a").header("Cache-Control", control)
}

#[test]
fn a_client_may_want_a_newer_answer() {
    let site = serve("");
    site.ask("/a", "200|Cache-Control: max-age=60|Age: 20");
    for control in ["no-cache", "max-age=0", "max-age=5", "min-fresh=50", "max-age=x"] {
        let before = site.runs();
        let newer = site.send(asking(control), "200|Cache-Control: max-age=60|Age: 20");
        assert_eq!((site.runs() - before, newer.text()), (1, format!("run {}", before + 1)), "{control}");
        assert_eq!(site.ask("/a", MINUTE).text(), newer.text(), "the newer one is kept");
    }
    let before = site.runs();
    for control in ["max-age=50", "min-fresh=5", "max-stale=5", "only-if-cached", "no-transform"] {
        site.send(asking(control), MINUTE).is(200);
    }
    site.send(Request::get("/a").header("Pragma", "x"), MINUTE);
    assert_eq!(site.runs(), before);
    site.send(Request::get("/a").header("Pragma", "no-cache"), MINUTE);
    assert_eq!(site.runs(), before + 1);
}

#[test]
fn a_request_with_no_store_is_not_stored() {
    let site = serve("");
    assert_eq!(site.send(asking("no-store"), MINUTE).header("x-cache"), None);
    assert_eq!(site.ask("/a", MINUTE).text(), "run 2");
    assert_eq!(site.send(asking("no-store"), MINUTE).text(), "run 3");
    assert_eq!(site.ask("/a", MINUTE).text(), "run 2");
}

#[test]
fn only_if_cached_sends_no_request_to_a_worker() {
    let site = serve("CustomLog cache.log %{cache-status}e");
    site.send(asking("only-if-cached"), MINUTE).is(504);
    until("the log says why", || {
        site.0.site.read("cache.log") == "cache miss: the client accepts only a stored response (only-if-cached)\n"
    });
    site.ask("/a", "200|Cache-Control: no-store");
    site.send(asking("only-if-cached"), MINUTE).is(504);
    assert_eq!(site.runs(), 1);
    site.ask("/a", MINUTE);
    assert_eq!(site.send(asking("only-if-cached"), MINUTE).is(200).text(), "run 2");
}

#[test]
fn cache_directives_of_clients_are_ignored_where_configured() {
    let site = serve("CacheIgnoreCacheControl On");
    for control in ["no-cache", "max-age=0", "no-store"] {
        site.send(asking(control), MINUTE);
    }
    assert_eq!(site.runs(), 1);
}

/// 4.4: invalidates the request's own address, and Location and Content-Location on the same host.
#[test]
fn a_successful_unsafe_request_invalidates_the_stored_response() {
    let site = serve("");
    let kept = |target: &str| {
        let before = site.runs();
        site.ask(target, MINUTE);
        site.runs() == before
    };
    for (number, method) in ["POST", "PUT", "DELETE", "PATCH"].into_iter().enumerate() {
        let target = format!("/{number}?a=b");
        site.ask(&target, MINUTE);
        assert!(kept(&target));
        // A different spelling of the same address.
        let response = site.send(Request::new(method, &format!("/x/..//%3{number}?a=b")).body("x"), "204");
        assert_eq!(response.status, 204);
        assert!(!kept(&target), "{method}");
        site.send(Request::new(method, &target).body("x"), "404");
        site.send(Request::new(method, &target).body("x"), "500");
        assert!(kept(&target), "{method} that has failed");
    }
    let named = ["/named", "/named/too"];
    named.iter().for_each(|target| drop(site.ask(target, MINUTE)));
    site.send(Request::post("/other", ""), "303|Location: http://localhost/named|Content-Location: /named/too");
    assert!(!kept("/named") && !kept("/named/too"));
    site.send(Request::post("/other", ""), "303|Location: http://elsewhere.example/named");
    assert!(kept("/named"), "what another host is said to have changed");
    let before = site.runs();
    site.send(Request::new("OPTIONS", "/named"), "200");
    assert!(kept("/named") && site.runs() == before + 1, "a safe method");
}

/// A form's own place need not have a cache for its response to invalidate a cached page.
#[test]
fn a_form_in_a_place_without_cache_changes_what_others_show() {
    let site = serve_with("CacheEnable memory /shown", "");
    let answer = "303|Location: /shown";
    site.ask("/shown", MINUTE);
    site.send(Request::post("/form", "a=b"), answer);
    assert_eq!(site.ask("/shown", MINUTE).text(), "run 3");
}

#[test]
fn allowed_clients_can_purge_the_cache() {
    let site = serve("CachePurgeFrom 127.0.0.2 10.0.0.0/8");
    site.ask("/a?b", MINUTE);
    site.send(Request::get("/a?b").header("Host", "other"), MINUTE);
    site.ask("/c", MINUTE);
    let purge = || Request::new("PURGE", "/./a?b");
    let forgotten = |request: Request| site.0.send_as("127.0.0.2", request);
    site.0.send_as("127.0.0.3", purge()).is(403);
    site.0.logged("PURGE denied by CachePurgeFrom");
    for name in ["X-Forwarded-For", "Forwarded", "Via"] {
        forgotten(purge().header(name, "x")).is(403);
    }
    assert_eq!(site.ask("/a?b", MINUTE).text(), "run 1");
    assert_eq!(forgotten(purge()).is(200).text(), "forgotten: 2\n");
    assert_eq!(forgotten(purge()).is(200).text(), "forgotten: 0\n");
    assert_eq!([site.ask("/a?b", MINUTE).text(), site.ask("/c", MINUTE).text()], ["run 4", "run 3"]);
    // Without CachePurgeFrom, PURGE is passed to the program, and invalidates like any unknown method.
    let site = serve("");
    site.ask("/a", MINUTE);
    assert_eq!(site.send(Request::new("PURGE", "/a"), "200").is(200).text(), "run 2");
    assert_eq!(site.requests()[1], "PURGE /a [] []");
}

/// Access rules apply to PURGE, too.
#[test]
fn a_purge_obeys_the_rules_of_its_place() {
    let site = serve("CachePurgeFrom 127.0.0.0/8\n<Location /closed>\nOrder deny,allow\nDeny from all\n</Location>");
    site.0.send(Request::new("PURGE", "/closed")).is(403);
    site.0.send(Request::new("PURGE", "/open")).is(200);
}

/// 4.3.5: a HEAD response that differs from the stored response invalidates it.
#[test]
fn a_head_with_other_validators_invalidates_the_stored_response() {
    let site = serve("");
    let head = |tag: &str| {
        let request = Request::new("HEAD", "/a").header("Cache-Control", "no-cache");
        let answer = format!("200|Cache-Control: max-age=60|ETag: \"{tag}\"");
        site.0.connect().ask(request.header("X-Answer", &answer)).is(200);
    };
    site.ask("/a", "200|Cache-Control: max-age=60|ETag: \"a\"");
    head("a");
    assert_eq!(site.ask("/a", MINUTE).text(), "run 1");
    head("b");
    assert_eq!(site.ask("/a", MINUTE).text(), "run 4");
}

/// A cache hit uses no worker, so SpeedLimit does not count it.
#[test]
fn a_hit_is_not_too_fast() {
    let site = serve("SpeedLimit requests=3/600s");
    for _ in 0..20 {
        site.ask("/a", MINUTE).is(200);
    }
    site.ask("/b", MINUTE).is(200);
    site.ask("/c", MINUTE).is(200);
    site.ask("/d", MINUTE).is(429);
    site.ask("/a", MINUTE).is(200);
}
