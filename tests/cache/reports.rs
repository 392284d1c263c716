//! `X-Cache`, mod_cache's variables in the log, the memory limit, and messages of `check` about the directives.

use super::{serve, serve_with};
use crate::support::{Request, Site, until};

const MINUTE: &str = "200|Cache-Control: max-age=60";

#[test]
fn headers_and_log_report_the_caches_decision() {
    let site = serve(
        "CacheDetailHeader On\nCustomLog cache.log \"%m %U|%{cache-status}e|%{cache-hit}e|%{cache-miss}e|%{cache-revalidate}e|%{cache-invalidate}e|%{cameleer:worker}x\"\n\
         CustomLog hits.log %U env=cache-hit",
    );
    site.ask("/a", MINUTE);
    let hit = site.ask("/a", MINUTE);
    assert_eq!(hit.header("x-cache-detail").as_deref(), Some("cache hit from localhost"));
    site.ask("/b", "200|Cache-Control: no-store");
    site.ask("/c", "200|Cache-Control: no-cache|ETag: \"a\"");
    site.ask("/c", "200|Cache-Control: no-cache|ETag: \"a\"");
    site.send(Request::post("/a", "x"), "200");
    let lines = || site.0.site.read("cache.log").lines().map(str::to_owned).collect::<Vec<_>>();
    until("all is logged", || lines().len() == 6);
    let kept = "cache miss: the response is stored";
    let still = "conditional cache hit: the program confirmed the stored response";
    let forgot = "cache invalidated by the request's method";
    let expected = [
        format!("GET /a|{kept}|-|{kept}|-|-"),
        "GET /a|cache hit|cache hit|-|-|-".to_owned(),
        "GET /b|the response has no-store|-|the response has no-store|-|-".to_owned(),
        format!("GET /c|{kept}|-|{kept}|-|-"),
        format!("GET /c|{still}|-|-|{still}|-"),
        format!("POST /a|{forgot}|-|-|-|{forgot}"),
    ];
    for (line, expected) in lines().iter().zip(&expected) {
        assert_eq!(line.rsplit_once('|').map(|(rest, _)| rest), Some(expected.as_str()));
        assert_eq!(line.ends_with("|-"), expected.contains("|cache hit|"), "a worker where one was asked: {line}");
    }
    assert_eq!(site.0.site.read("hits.log"), "/a\n");
    let silent = serve("CacheHeader Off");
    silent.ask("/a", MINUTE);
    assert_eq!(silent.ask("/a", MINUTE).header("x-cache"), None);
}

#[test]
fn the_least_recently_used_response_is_evicted() {
    let site = serve("CacheSize 64K\nCacheSocacheMaxSize 60K");
    let page = |number: usize| site.ask(&format!("/{number}"), MINUTE);
    page(0);
    for number in 1..100 {
        page(number);
        assert_eq!(page(0).text(), "run 1", "what is in use stays");
    }
    let before = site.runs();
    page(99);
    assert_eq!(site.runs(), before);
    page(1);
    assert_eq!(site.runs(), before + 1, "the first to go");
    let large = serve("CacheSocacheMaxSize 2000");
    assert!(large.keeps("/small", MINUTE));
    large.never_keeps("/large", &format!("{MINUTE}|X-Own: {}", "x".repeat(2000)));
}

/// The front's memory stays within the limit, whatever the number of requested addresses.
#[test]
fn a_flood_of_addresses_stays_within_the_bound() {
    let site = serve("CacheSize 256K");
    let mut connection = site.0.connect();
    let value = "y".repeat(7000);
    let front = crate::support::children(site.0.pid())
        .into_iter()
        .find(|pid| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains("front")))
        .expect("a front");
    let mut ask = |number: usize| {
        let request = Request::get(&format!("/{number}?{value}")).header("X-Answer", MINUTE);
        connection.ask(request.header("X-Forwarded-Host", &number.to_string())).is(200);
    };
    (0..200).for_each(&mut ask);
    let before = crate::support::own_memory(front);
    (200..1200).for_each(&mut ask);
    let after = crate::support::own_memory(front);
    assert!(after < before + (4 << 20), "{before} bytes have become {after}");
}

#[test]
fn a_mistake_in_a_directive_is_reported() {
    let site = Site::new();
    for (line, expected) in [
        ("CacheEnable memory", "expected a path, for instance `CacheEnable memory /`"),
        ("CacheEnable http://www.example.com/", "expected memory, or a path that begins with a slash"),
        ("CacheEnable memory http://www.example.com/", "other servers are not cached"),
        ("CacheDisable on", "On is allowed only in a section"),
        ("CacheSize 5", "expected at least 64K"),
        ("CacheLastModifiedFactor 2", "expected a number from 0 to 1"),
    ] {
        site.configure(line);
        let checked = site.cameleer(["check", "-f", &site.filled("@DIR@/site.conf")]);
        assert!(
            checked.code != 0 && (checked.err.contains(expected) || checked.out.contains(expected)),
            "{line}: {checked:?}"
        );
    }
    let served = serve_with("CacheEnable disk /\nCacheRoot /var/cache\nCacheQuickHandler Off", "");
    served.0.logged("CacheRoot: is not supported");
    served.0.logged("type is ignored: responses are stored in memory");
    assert!(served.keeps("/a", MINUTE));
}
