//! Instructions that five kinds of request cost the whole server, front and worker, in a debug build. The committed
//! figures are in `tests/limits/instructions_per_request.txt`. A request that costs 5 % more fails the test.
//! `CAMELEER_BLESS=1` writes new figures.
//!
//! On a busy machine, processes sleep between two requests, which adds instructions. Therefore `make timing` runs this
//! test alone, and `make test` does not run it. Another compiler produces other instructions for the same code: the
//! test then allows a quarter more.

use std::process::Command;

use crate::support::{Counter, PATIENCE, Request, Site};

const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/limits/instructions_per_request.txt");
const REQUESTS: u64 = 60;
const ROUNDS: usize = 10;

const KINDS: [(&str, &str); 5] = [
    ("a file of 13 bytes", "/file.txt"),
    ("a handler that says hello", "/hello"),
    ("an application that says hello", "/app/"),
    ("a Registry script that says hello", "/perl/hello.pl"),
    ("a handler with a page of 100 kB", "/page"),
];

const HELLO: &str = "package Hello; sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print('Hello, World\n'); 0 } 1;";
const PAGE: &str = "package Page; my $page = 'x' x 100_000;
    sub handler { my $r = shift; $r->send_http_header('text/html'); $r->print($page); 0 } 1;";

#[test]
#[ignore = "measures time: `make timing`"]
fn no_kind_of_request_costs_more_instructions_than_is_committed() {
    let site = Site::new()
        .file("htdocs/file.txt", "Hello, World\n")
        .file("lib/Hello.pm", HELLO)
        .file("lib/Page.pm", PAGE)
        .file("app.psgi", "sub { [200, ['Content-Type', 'text/plain', 'Content-Length', 13], [\"Hello, World\\n\"]] }")
        .script("scripts/hello.pl", "print \"Content-Type: text/plain\\n\\nHello, World\\n\";\n");
    let counter = Counter::serve(
        site,
        "PerlLib lib\nPerlModule Apache::Registry Hello Page\nMaxKeepAliveRequests 0\nTimeout 300\n\
         <Location /hello>\nSetHandler perl-script\nPerlHandler Hello\n</Location>\n\
         <Location /page>\nSetHandler perl-script\nPerlHandler Page\n</Location>\n\
         <Location /app>\nPsgiApp app.psgi\n</Location>\n\
         Alias /perl/ @DIR@/scripts/\n\
         <Location /perl>\nSetHandler perl-script\nPerlHandler Apache::Registry\nPerlSendHeader On\nOptions +ExecCGI\n</Location>",
    );
    let compiler = compiler();
    let committed = std::fs::read_to_string(COMMITTED).expect("committed");
    let is_known = committed.starts_with(&compiler);
    let is_blessed = std::env::var_os("CAMELEER_BLESS").is_some();
    let allowed = |name| if is_blessed { 0 } else { figure(&committed, name) * 105 / 100 };
    let counted: Vec<(&str, u64)> =
        KINDS.iter().map(|(name, target)| (*name, cost(&counter, target, allowed(name)))).collect();
    let lines: String = counted.iter().map(|(name, cost)| format!("{cost:>9}  {name}\n")).collect();
    let text = format!("{compiler}\n{lines}");
    if is_blessed {
        return std::fs::write(COMMITTED, &text).expect("written");
    }
    let bound = |name| if is_known { allowed(name) } else { figure(&committed, name) * 5 / 4 };
    let dearer: Vec<String> = counted
        .iter()
        .filter(|(name, cost)| *cost > bound(name))
        .map(|(name, cost)| format!("{name}: {cost} instructions, {} are committed", figure(&committed, name)))
        .collect();
    assert!(dearer.is_empty(), "{dearer:#?}\nall of them:\n{text}");
}

/// The lowest of at most [`ROUNDS`] rounds: a timer that expires during a round adds instructions that belong to no
/// request.
fn cost(counter: &Counter, target: &str, allowed: u64) -> u64 {
    let mut connection = counter.server.connect();
    connection.patience(PATIENCE);
    let mut round = || (0..REQUESTS).for_each(|_| drop(connection.ask(Request::get(target)).is(200)));
    counter.of(&mut round);
    let mut least = u64::MAX;
    for _ in 0..ROUNDS {
        least = least.min(counter.of(&mut round) / REQUESTS);
        if least <= allowed {
            break;
        }
    }
    least
}

fn compiler() -> String {
    let version =
        Command::new(option_env!("RUSTC").unwrap_or("rustc")).arg("--version").output().expect("it compiled this");
    String::from_utf8_lossy(&version.stdout).trim().to_owned()
}

fn figure(committed: &str, name: &str) -> u64 {
    let line = committed.lines().find_map(|line| line.trim().strip_suffix(name)).expect("each kind has its line");
    line.trim().parse().expect("a number")
}
