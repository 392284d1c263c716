//! `cameleer purge`: an administrator removes responses from a running server's cache.

use super::{Counting, serve};
use crate::support::{Request, Site};

const MINUTE: &str = "200|Cache-Control: max-age=60";

impl Counting {
    /// Requests all `urls`, and returns the number that went to a worker.
    #[track_caller]
    fn misses(&self, urls: &[&str]) -> usize {
        let before = self.runs();
        for url in urls {
            let (host, target) = url.find('/').map_or((*url, "/"), |at| url.split_at(at));
            let host = if host.is_empty() { "localhost" } else { host };
            self.send(Request::get(target).header("Host", host), MINUTE).is(200);
        }
        self.runs() - before
    }

    /// Asserts that each purge removes the given number of responses from those of `all`.
    #[track_caller]
    fn forgets(&self, all: &[&str], purges: &[(&str, usize)]) {
        for (url, gone) in purges {
            self.misses(all);
            assert_eq!(self.purge([*url]), format!("{gone} purged\n"), "{url}");
            assert_eq!(self.misses(all), *gone, "{url}");
        }
    }

    #[track_caller]
    fn purge<const N: usize>(&self, what: [&str; N]) -> String {
        let words: Vec<&str> = ["purge"].into_iter().chain(what).collect();
        match words[..] {
            [a, b] => self.0.control([a, b]).succeeded().out,
            [a, b, c] => self.0.control([a, b, c]).succeeded().out,
            _ => panic!("{words:?}"),
        }
    }
}

#[test]
fn an_address_is_forgotten_with_all_its_variants_and_nothing_else() {
    let site = serve("FrontThreads 2\nCacheEnable memory /other");
    let all = ["/a?b", "other/a?b", "/a", "/a?bc", "/a%20b"];
    assert_eq!((site.misses(&all), site.misses(&all)), (5, 0));
    assert_eq!(site.purge(["https://localhost:444/x/../a?b"]), "2 purged\n");
    assert_eq!(site.purge(["/a?b"]), "0 purged\n");
    assert_eq!(site.misses(&all[2..]), 0);
    assert_eq!(site.misses(&all), 2);
    assert_eq!(site.purge(["/a%20b", "/a"]), "2 purged\n");
    assert_eq!(site.misses(&all), 2);
}

#[test]
fn urls_with_a_common_beginning_are_purged_together() {
    let site = serve("");
    let all = ["/news", "/news?page=1", "/news?page=2", "/news?q=1", "/news/a", "/newsletter", "/", "/%6eews/b"];
    let purges = [
        ("/news*", 7),
        ("/n%65ws/*", 2),
        ("/news?page=*", 2),
        ("/news?*", 3),
        ("http://localhost/*", 8),
        ("/nothing*", 0),
        ("*", 8),
        ("--all", 8),
    ];
    site.forgets(&all, &purges);
}

#[test]
fn more_answers_than_are_looked_at_in_one_go_are_all_found() {
    let site = serve("");
    for number in 0..1100 {
        site.ask(&format!("/{}/{number}", number % 2), MINUTE);
    }
    assert_eq!(site.purge(["/0/*"]), "550 purged\n");
    assert_eq!(site.purge(["--all"]), "550 purged\n");
}

#[test]
fn a_purge_selects_a_host_by_its_names_and_without_one_all_hosts() {
    let host = |names: &str| {
        format!("<VirtualHost *>\n{names}\n<Location />\nPsgiApp app.psgi\n</Location>\n</VirtualHost>\n")
    };
    let site = serve(&[host("ServerName first"), host("ServerName second\nServerAlias *.second")].concat());
    let all = ["first/a", "second/a", "www.second/a", "unknown/a"];
    let purges = [
        ("http://second/a", 2),
        ("http://www.second/*", 2),
        ("http://first/a", 2),
        ("http://whoever/a", 2),
        ("/a", 4),
        ("/*", 4),
    ];
    site.forgets(&all, &purges);
}

/// Directives that shorten the cache key of a response apply to the address in a purge, too.
#[test]
fn equivalent_spellings_of_a_url_are_purged_together() {
    let site = serve("<Location /one>\nCacheIgnoreQueryString On\n</Location>\nCacheIgnoreURLSessionIdentifiers sid");
    let all = ["/one?a", "/two?a=b&sid=1"];
    assert_eq!(site.misses(&all), 2);
    assert_eq!(site.purge(["/one?whatever", "/two?sid=2&a=b"]), "2 purged\n");
    assert_eq!(site.misses(&all), 2);
}

#[test]
fn a_purge_without_a_url_names_the_expected_form() {
    let site = serve("");
    site.0.control(["purge"]).failed(2, "--all");
    site.0.control(["purge", "--all", "/a"]).failed(2, "--all");
    for url in ["a", "ftp://localhost/a", "http://", "http://local*", "/a b", ""] {
        site.0.control(["purge", url]).failed(1, "expected http://host/path");
    }
    let other = Site::new().file("htdocs/file.txt", "a").serve("");
    assert_eq!(other.control(["purge", "/file.txt"]).succeeded().out, "0 purged\n", "where nothing is kept");
}
