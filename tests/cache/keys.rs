//! Cache keys (RFC 9111, section 4.1) and cache poisoning: no part of a request may change another client's response.

use super::{serve, serve_with};
use crate::support::{Request, Response};

const MINUTE: &str = "200|Cache-Control: max-age=60";

#[test]
fn vary_stores_a_response_for_each_value() {
    let site = serve("");
    let ask = |language: Option<&str>, more: &str| {
        let request = Request::get("/a").header("X-More", more);
        let request = language.map_or(request.clone(), |language| request.header("Accept-Language", language));
        site.send(request, "200|Cache-Control: max-age=60|Vary: accept-language").text()
    };
    assert_eq!(
        [ask(Some("de"), "1"), ask(Some("en"), "2"), ask(None, "3"), ask(Some(""), "4")],
        ["run 1", "run 2", "run 3", "run 4"]
    );
    assert_eq!(
        [ask(Some("de"), "5"), ask(Some("en"), "6"), ask(None, "7"), ask(Some(""), "8")],
        ["run 1", "run 2", "run 3", "run 4"]
    );
}

#[test]
fn vary_may_name_several_headers_and_grow() {
    let site = serve("");
    let ask = |a: &str, b: &str, vary: &str| {
        let request = Request::get("/a").header("X-A", a).header("X-B", b);
        site.send(request, &format!("{MINUTE}|Vary: {vary}")).text()
    };
    assert_eq!(ask("1", "1", "X-A"), "run 1");
    assert_eq!(ask("1", "2", "X-A"), "run 1");
    assert_eq!(ask("2", "1", "X-A, X-B"), "run 2");
    assert_eq!(ask("2", "2", "X-A, X-B"), "run 3");
    assert_eq!(ask("2", "1", "X-A, X-B"), "run 2");
}

/// Programs build links from these headers: each value has its own cached response.
#[test]
fn headers_that_name_the_request_cannot_poison_the_cache() {
    let site = serve("UseCanonicalName Off");
    let ask = |request: Request| site.send(request.header("X-Do", "env"), MINUTE);
    let plain = || Request::get("/a");
    for (name, value) in [
        ("X-Forwarded-Host", "evil.example"),
        ("X-Forwarded-Proto", "https"),
        ("X-Forwarded-Scheme", "nothttps"),
        ("X-Forwarded-Port", "1"),
        ("X-Forwarded-Prefix", "/evil"),
        ("X-Forwarded-Server", "evil.example"),
        ("X-Forwarded-Whatever", "evil"),
        ("X-Host", "evil.example"),
        ("X-Original-URL", "/evil"),
        ("X-Rewrite-URL", "/evil"),
        ("X-HTTP-Method-Override", "POST"),
        ("Forwarded", "for=192.0.2.1;host=evil.example"),
        ("Host", "evil.example"),
        ("Host", "localhost:1"),
        ("Host", "LOCALHOST"),
    ] {
        let before = site.runs();
        let evil = ask(plain().header(name, value));
        assert_eq!(site.runs(), before + 1, "{name} is not given what others get");
        let others = ask(plain());
        assert!(!others.text().contains("evil") && others.text() != evil.text(), "{name}: {others:?}");
        assert_eq!(ask(plain().header(name, value)).text(), evil.text(), "{name}");
    }
    assert_eq!(site.runs(), 16, "one for all who send nothing of that");
}

#[test]
fn the_client_is_no_part_of_the_key() {
    let site = serve("");
    for (name, value) in [
        ("X-Forwarded-For", "192.0.2.1"),
        ("Forwarded", "for=192.0.2.1"),
        ("User-Agent", "x"),
        ("Referer", "http://evil.example/"),
        ("Cookie", "a=b"),
    ] {
        site.send(Request::get("/a").header(name, value), MINUTE);
    }
    assert_eq!(site.runs(), 1);
}

#[test]
fn the_target_as_it_was_written_is_the_clients_own() {
    let site = serve("");
    let ask = |target: &str| site.send(Request::get(target).header("X-Do", "env"), MINUTE).is(200).text();
    let plain = ask("/a?b");
    for target in ["/x/../a?b", "/%61?b", "//a?b", "http://localhost/a?b", "http://evil.example/a?b"] {
        let own = ask(target);
        assert!(own != plain && own == ask(target), "{target}");
    }
    assert_eq!((ask("/a?b"), site.runs()), (plain, 6));
}

#[test]
fn hosts_have_answers_of_their_own() {
    let site = serve(
        "<VirtualHost *:@PORT@>\nServerName one\nServerAlias uno\n<Location />\nPsgiApp app.psgi\n</Location>\n</VirtualHost>\n\
         <VirtualHost *:@PORT@>\nServerName two\n</VirtualHost>",
    );
    let ask = |host: &str| site.send(Request::get("/a").header("Host", host), MINUTE).text();
    let answers: Vec<String> = ["one", "two", "uno", "unknown"].map(ask).into();
    assert_eq!(answers, ["run 1", "run 2", "run 3", "run 4"]);
    assert_eq!(["one", "two", "uno", "unknown"].map(ask).to_vec(), answers);
    // A POST invalidates the address under every name of its virtual host.
    site.send(Request::post("/a", "x").header("Host", "uno"), "200");
    let again: Vec<String> = ["one", "two", "uno"].map(ask).into();
    assert_eq!(again, ["run 6", "run 2", "run 7"]);
}

/// Programs see the variables of SetEnvIf, so responses differ by them.
#[test]
fn variables_are_part_of_the_question() {
    let site = serve("SetEnvIf User-Agent Phone MOBILE=yes");
    let ask =
        |agent: &str| site.send(Request::get("/a").header("User-Agent", agent).header("X-Do", "env"), MINUTE).text();
    assert!(ask("Phone/1").contains("MOBILE=yes") && !ask("Desk/1").contains("MOBILE=yes"));
    assert!(ask("Phone/2").contains("MOBILE=yes") && site.runs() == 2);
}

#[test]
fn parameters_of_cache_ignore_url_session_identifiers_are_ignored() {
    let site = serve("CacheIgnoreURLSessionIdentifiers sid jsessionid");
    let ask = |target: &str| site.ask(target, MINUTE).text();
    assert_eq!(ask("/a?sid=1&b=2"), "run 1");
    for target in ["/a?b=2&sid=2", "/a;jsessionid=7?b=2", "/a?b=2", "/a?sid=3&sid=4&b=2"] {
        assert_eq!(ask(target), "run 1", "{target}");
    }
    assert_eq!([ask("/a?b=3"), ask("/a?xsid=1&b=2"), ask("/a")], ["run 2", "run 3", "run 4"]);
    let site = serve("CacheIgnoreQueryString On");
    assert_eq!([site.ask("/a?b", MINUTE).text(), site.ask("/a", MINUTE).text()], ["run 1", "run 1"]);
}

/// An error page and a program's redirect may print the address that the client requested.
#[test]
fn a_response_to_a_different_request_is_not_reused() {
    let site = serve_with(
        "CacheEnable memory /",
        "ErrorDocument 403 /denied\n<Location /closed>\nOrder deny,allow\nDeny from all\n</Location>",
    );
    let denied = |target: &str| site.send(Request::get(target).header("X-Do", "env"), MINUTE).is(403).text();
    assert!(denied("/closed/one").contains("/closed/one"));
    assert!(denied("/closed/two").contains("/closed/two"));
    let direct: Response = site.send(Request::get("/denied").header("X-Do", "env"), MINUTE);
    assert!(!direct.text().contains("/closed"), "{direct:?}");
}
