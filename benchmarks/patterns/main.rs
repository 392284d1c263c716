//! Cost of patterns and rewrite rules: searches of usual patterns beside the crate regex, ten rules, and patterns with
//! exponential backtracking.
//!
//! `cargo run --release --locked --package config --example patterns`

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use config::pattern::{Budget, Case};
use config::response::expr::Expr;
use config::response::rewrite::*;

const CALLS: u32 = 20_000;
const ROUNDS: usize = 7;
const PATH: &str = "/wiki/Some_Page/with/parts.html";
const AGENT: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";

/// Nanoseconds of a call in the fastest round.
fn ns(mut call: impl FnMut()) -> f64 {
    let round = |_| {
        let begun = Instant::now();
        (0..CALLS).for_each(|_| call());
        begun.elapsed().as_nanos() as f64 / f64::from(CALLS)
    };
    (0..ROUNDS).map(round).fold(f64::MAX, f64::min)
}

struct Browser;

impl RuleSource for Browser {
    fn known(&self, _: RuleVariable) -> String {
        "x".to_owned()
    }
    fn header(&self, _: &str) -> String {
        AGENT.to_owned()
    }
    fn variable(&self, _: &str) -> Option<String> {
        None
    }
    fn tls(&self, _: &str) -> String {
        String::new()
    }
    fn found(&self, _: &Expr) -> Option<Vec<String>> {
        None
    }
    fn file(&self, _: &str, _: FileTest) -> bool {
        false
    }
    fn origin(&self) -> String {
        "http://example.org".to_owned()
    }
    fn answer(&self, _: &Question) -> Option<RuleAnswer> {
        None
    }
    fn trace_level(&self) -> u8 {
        0
    }
}

fn searches() {
    let cookie = "name=Mozilla/5.0 (X11; Linux); ".repeat(60);
    println!("{:42} {:>8} {:>8} {:>9}", "a search, ns", "regex", "main", "htaccess");
    for (source, text) in [
        ("^/wiki/(.*)$", PATH),
        ("^/old/(.*)$", PATH),
        (r"\.(gif|jpe?g|png|css|js)$", PATH),
        (r"^(.*)\.html$", PATH),
        ("(.*)", PATH),
        (r"^/([a-z]+)/([^/]+)/(.*)$", PATH),
        ("Firefox/([0-9]+)", AGENT),
        ("(archive.org|binlar|casper|checkpriv|diavol|nikto)", AGENT),
        ("bot|spider|crawl", AGENT),
        ("^SomeRobot12", AGENT),
        ("lang=(de|en)", &cookie),
    ] {
        let regex = regex::bytes::RegexBuilder::new(source).unicode(false).dot_matches_new_line(true).build();
        let regex = regex.expect("a pattern");
        let main = Budget::of_the_administrator().compile(source, Case::Exact).expect("a pattern");
        let htaccess = Budget::of_htaccess().compile(source, Case::Exact).expect("a pattern");
        println!(
            "{:42} {:8.0} {:8.0} {:9.0}",
            format!("{source:.25} / {} bytes", text.len()),
            ns(|| drop(black_box(regex.captures(black_box(text.as_bytes()))))),
            ns(|| drop(black_box(main.find(black_box(text))))),
            ns(|| drop(black_box(htaccess.find(black_box(text))))),
        );
    }
}

fn rules() {
    for (what, source) in [
        ("ten rules, ^/oldN/(.*)$, that do not match", "^/old@/(.*)$"),
        ("ten rules, \\.(phpN|asp)$, that do not match", r"\.(php@|asp)$"),
        ("ten rules, ^/wiki/(.*)$, that match and substitute nothing", "^/wiki/(.*)$"),
    ] {
        let budget = &mut Budget::of_the_administrator();
        let rule = |n: u32| {
            let source = source.replace('@', &n.to_string());
            Arc::new(Rule::parse(&source, "-", "", &Maps::default(), budget).expect("a rule"))
        };
        let place = Rewrite { engine: Some(true), rules: (0..10).map(rule).collect(), ..Rewrite::default() };
        let start = || RuleInput { path: PATH.to_owned(), ..RuleInput::default() };
        println!("{what}: {:.0} ns", ns(|| drop(black_box(run(&place, start(), &Browser)))));
    }
}

fn explosions() {
    let text = "a".repeat(8000);
    for source in [".{0,90}.{0,90}[xy]", "(?=(a+)+[bc])a", "(a+)+[bc]", "(a|aa)+[bc]", "a*a*a*a*[bc]", r"(a*)*\1[bc]"] {
        for (whose, mut budget) in [("main", Budget::of_the_administrator()), ("htaccess", Budget::of_htaccess())] {
            let pattern = budget.compile(source, Case::Exact).expect("a pattern");
            let begun = Instant::now();
            pattern.is_match(&text);
            println!("{source:20} {whose:9} against 8000 a: {:?}", begun.elapsed());
        }
    }
}

fn main() {
    searches();
    rules();
    explosions();
}
