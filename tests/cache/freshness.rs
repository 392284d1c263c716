//! RFC 9111, section 4.2: freshness lifetime and age of a response.

use std::time::Instant;

use super::serve;
use super::storing::date;
use crate::support::{Response, until};

fn age(response: &Response) -> u64 {
    response.header("age").and_then(|age| age.parse().ok()).unwrap_or_else(|| panic!("an Age: {response:?}"))
}

/// 4.2.1: s-maxage takes precedence over max-age, which takes precedence over Expires.
#[test]
fn the_more_exact_word_counts() {
    let site = serve("");
    let (past, future) = (date(-100), date(100));
    for (number, (answer, kept)) in [
        (format!("200|Cache-Control: s-maxage=60, max-age=0|Expires: {past}"), true),
        (format!("200|Cache-Control: max-age=60|Expires: {past}"), true),
        (format!("200|Cache-Control: max-age=0|Expires: {future}"), false),
        (format!("200|Expires: {future}"), true),
        (format!("200|Expires: {past}"), false),
        ("200|Expires: tomorrow".to_owned(), false),
        (format!("200|Expires: {}|Date: {}", date(-50), date(-100)), false),
        (format!("200|Expires: {}|Date: {}", date(50), date(-100)), true),
        ("200|Cache-Control: max-age=60, max-age=0".to_owned(), false),
        ("200|Cache-Control: max-age=\"60\"".to_owned(), true),
        ("200|Cache-Control: Max-Age=60, unknown=\"a, no-store\"".to_owned(), true),
        ("200|Cache-Control: max-age=99999999999999999999".to_owned(), true),
        ("200|Cache-Control: max-age=a60".to_owned(), false),
        ("200|Cache-Control: max-age=60|Pragma: no-cache".to_owned(), true),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(site.keeps(&format!("/{number}"), &answer), kept, "{answer}");
    }
}

/// 4.2.2: heuristic freshness, by mod_cache's rules.
#[test]
fn a_response_without_a_lifetime_is_fresh_by_its_age() {
    let site = serve("");
    let (old, new) = (format!("200|Last-Modified: {}", date(-100_000)), format!("200|Last-Modified: {}", date(60)));
    assert!(site.keeps("/old", &old) && site.keeps("/tag", "200|ETag: \"a\""));
    site.never_keeps("/new", &new);
    site.never_keeps("/query?a", &old);
    let cookie = || crate::support::Request::get("/cookie").header("Cookie", "a=b");
    let before = site.runs();
    site.send(cookie(), &old);
    site.send(cookie(), &old);
    assert_eq!(site.runs() - before, 2);
    let site = serve("CacheIgnoreNoLastMod On\nCacheIgnoreQueryString On");
    assert!(site.keeps("/a", "200") && site.keeps("/b?c", &old));
    let site = serve("CacheLastModifiedFactor 0\nCacheDefaultExpire 0");
    site.never_keeps("/old", &old);
    site.never_keeps("/tag", "200|ETag: \"a\"");
    let site = serve("CacheLastModifiedFactor 0\nCacheDefaultExpire 0\nCacheMinExpire 60");
    assert!(site.keeps("/old", &old) && site.keeps("/tag", "200|ETag: \"a\""));
}

#[test]
fn a_stale_response_is_requested_again() {
    let site = serve("CacheStaleOnError Off");
    let answer = "200|Cache-Control: max-age=1";
    site.ask("/a", answer);
    until("the program runs again", || site.ask("/a", answer).text() == "run 2");
    let site = serve("CacheMaxExpire 1s");
    site.ask("/a", "200|Cache-Control: max-age=600");
    until("the program runs again", || site.ask("/a", "200|Cache-Control: max-age=600").text() == "run 2");
}

/// 4.2.3: the Age of a received response counts.
#[test]
fn the_age_of_a_response_on_arrival_counts_toward_its_freshness() {
    let site = serve("");
    // The age counts whole seconds from a moment within the first one, and grows while the test waits.
    let has_age = |expected: u64, target: &str, answer: &str| {
        let begun = Instant::now();
        site.ask(target, answer);
        let age = age(&site.ask(target, answer));
        assert!((expected..=expected + begun.elapsed().as_secs() + 1).contains(&age), "{target}: {age}");
    };
    has_age(40, "/age", "200|Cache-Control: max-age=600|Age: 40");
    has_age(30, "/date", &format!("200|Cache-Control: max-age=600|Date: {}", date(-30)));
    has_age(0, "/none", "200|Cache-Control: max-age=600");
    site.never_keeps("/old", "200|Cache-Control: max-age=60|Age: 60");
    site.never_keeps("/nonsense", "200|Cache-Control: max-age=60|Age: x");
    let grows = site.ask("/none", "200");
    until("the Age grows", || age(&site.ask("/none", "200")) > age(&grows));
    assert_eq!(site.ask("/none", "200").header("date"), grows.header("date"), "Date is that of its making");
}
