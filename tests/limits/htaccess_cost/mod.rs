//! The cost of `.htaccess` files for the front with any content: every allowed directive at 10, 100 and 1,000 times its
//! size, files in nested folders, and listings of folders that contain such files.
//!
//! Clients of another host get responses meanwhile. The front survives, and its memory grows by at most 64 MB.

mod directives;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::support::{Request, Server, Site, let_pass, peak_memory};
use config::table;
use directives::{DIRECTIVES, Grown};

/// The limit on the growth of the front's memory, in bytes.
const MORE: u64 = 64 << 20;
/// The largest `.htaccess` file in bytes. The front rejects a longer file without reading it.
const MAX_BYTES: usize = 64 << 10;

const SHOW: &str = "package Show;\nsub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print('ok'); 0 }\n\
                    sub none { -1 }\n1;\n";

fn site() -> Site {
    Site::new().file("lib/Show.pm", SHOW).file("other/open.html", "open").file("app.psgi", "sub { [200, [], ['ok']] }")
}

#[track_caller]
fn serve(site: Site) -> Server {
    site.serve(
        "PerlLib lib\nPerlModule Show\nFrontThreads 1\n<Directory @DIR@/htdocs>\nAllowOverride All\nOptions Indexes\n</Directory>\n\
         NameVirtualHost *\n<VirtualHost *>\nServerName localhost\nDocumentRoot @DIR@/htdocs\n</VirtualHost>\n\
         <VirtualHost *>\nServerName other\nDocumentRoot @DIR@/other\n</VirtualHost>\n",
    )
}

/// The text up to the last whole line that fits into [`MAX_BYTES`].
fn cut(text: &str) -> &str {
    let end = text.get(..MAX_BYTES).and_then(|most| most.rfind('\n'));
    if text.len() > MAX_BYTES { text.get(..end.map_or(0, |end| end + 1)).unwrap_or_default() } else { text }
}

fn text_of(name: &str, grown: &Grown, number: usize) -> String {
    match grown {
        Grown::By(make) => cut(&make(number)).to_owned(),
        Grown::Line(words) => cut(&format!("{name} {words}\n").repeat(number)).to_owned(),
    }
}

fn open() -> Request {
    Request::get("/open.html").header("Host", "other")
}

/// Does `work` while a client of another host sends requests, then sends one more. Its pauses leave the processors to
/// the work.
fn beside_another<T>(server: &Server, work: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let bystander = scope.spawn(|| {
            let mut connection = server.connect();
            while !is_over.load(Ordering::SeqCst) {
                assert_eq!(connection.ask(open()).is(200).text(), "open");
                let_pass(Duration::from_millis(5));
            }
            assert_eq!(connection.ask(open()).is(200).text(), "open");
        });
        let done = work();
        is_over.store(true, Ordering::SeqCst);
        bystander.join().expect("the bystander was answered");
        done
    })
}

/// Requests each of `targets`, and checks that the front survives within its memory limit. Returns the statuses.
#[track_caller]
fn bears(server: &Server, targets: &[String]) -> Vec<u16> {
    server.send(open()).is(200);
    let front = server.front();
    let before = peak_memory(front);
    let (long, mut grown, mut report) = ("a".repeat(7000), before, String::new());
    let statuses = beside_another(server, || {
        let (mut connection, mut statuses) = (server.connect(), Vec::new());
        for target in targets {
            let request = Request::get(target).header("X", &long).header("User-Agent", &long[..4000]);
            let status = match connection.try_ask(&request) {
                Ok(answer) => answer.status,
                Err(_) => {
                    connection = server.connect();
                    connection.ask(request).status
                }
            };
            statuses.push(status);
            let now = peak_memory(front);
            if now > grown + (4 << 20) {
                let _ = writeln!(report, "{target}: {status}, {} MB more", (now - before) >> 20);
                grown = now;
            }
        }
        statuses
    });
    assert_eq!(server.front(), front, "the front lives");
    let peak = peak_memory(front) - before;
    println!("{peak} bytes more at the most\n{report}");
    assert!(peak < MORE, "the front has needed {peak} bytes more:\n{report}");
    statuses
}

#[test]
fn every_directive_of_the_table_is_made_large() {
    let known: BTreeSet<&str> = DIRECTIVES.iter().map(|(name, _)| *name).collect();
    let table: BTreeSet<&str> =
        table::all().filter(|row| !row.contexts.override_words().is_empty()).map(|row| row.name).collect();
    assert_eq!(known, table, "say in tests/limits/htaccess_cost/directives.rs how a new one becomes large");
    assert_eq!(known.len(), DIRECTIVES.len());
}

#[test]
fn no_directive_of_any_size_delays_others_or_fills_the_memory() {
    let (mut site, mut targets) = (site(), Vec::new());
    for (name, grown) in DIRECTIVES {
        for number in [10, 100, 1000] {
            site = site
                .file(&format!("htdocs/{name}/{number}/.htaccess"), &text_of(name, grown, number))
                .file(&format!("htdocs/{name}/{number}/page"), "page");
            targets.push(format!("/{name}/{number}/page"));
        }
    }
    let server = serve(site);
    bears(&server, &targets);
    // The texts of size 10 must contain no error; otherwise the server would skip them.
    let is_mistake = |line: &&str| {
        let place =
            line.split_once("/10/.htaccess:").filter(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()));
        place.is_some()
            && !line.contains("belongs to mod_perl 2")
            && !line.contains("is not in the server's environment")
    };
    let log = server.log();
    let mistakes: Vec<&str> = log.lines().filter(is_mistake).collect();
    assert!(mistakes.is_empty(), "{mistakes:#?}");
}

/// Lines numbered from 0, as many as fit into [`MAX_BYTES`].
fn full(line: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for number in 0.. {
        let line = line(number) + "\n";
        if text.len() + line.len() > MAX_BYTES {
            break;
        }
        text.push_str(&line);
    }
    text
}

/// Nested folders, `depth` deep, with the same `.htaccess` file in each. Returns the site and the URL path of a page in
/// the deepest.
fn nested(mut site: Site, name: &str, depth: usize, text: &str) -> (Site, String) {
    let mut folder = format!("htdocs/{name}");
    for _ in 0..depth {
        folder.push_str("/a");
        site = site.file(&format!("{folder}/.htaccess"), text);
    }
    let target = format!("/{name}{}/page", "/a".repeat(depth));
    (site.file(&format!("{folder}/page"), "page"), target)
}

#[test]
fn files_of_folders_in_one_another_have_a_limit_together() {
    let (mut site, mut targets) = (site(), Vec::new());
    for (name, text) in [
        ("variables", full(|n| format!("SetEnv A{n} b"))),
        ("types", full(|n| format!("AddType a/b .e{n}"))),
        ("redirects", full(|n| format!("Redirect /r{n} http://a/"))),
        ("sections", full(|n| format!("<Files a{n}>\n</Files>"))),
        ("addresses", full(|n| format!("Deny from 10.0.{}.{}", n / 250 % 250, n % 250))),
        ("nothing", full(|_| "#".to_owned())),
    ] {
        let nested = nested(site, name, 200, &text);
        site = nested.0;
        targets.push(nested.1);
    }
    let server = serve(site);
    assert_eq!(bears(&server, &targets), vec![500; targets.len()]);
    server.logged("the .htaccess files from the root folder down to here exceed the limits together");
}

#[test]
fn many_folders_with_large_files_do_not_fill_the_memory() {
    let (mut site, mut targets) = (site(), Vec::new());
    for number in 0..200 {
        let text = match number % 4 {
            0 => full(|n| format!("Header set A{n} {number}")),
            1 => full(|n| format!("AddType a/b .e{n}-{number}")),
            2 => full(|n| format!("<Files a{n}>\n</Files>")),
            _ => full(|n| format!("SetEnvIf X r{n} a{number}")),
        };
        let text: String =
            text.lines().take(if number % 2 == 0 { 900 } else { 9000 }).map(|line| format!("{line}\n")).collect();
        site = site.file(&format!("htdocs/{number}/.htaccess"), &text).file(&format!("htdocs/{number}/page"), "page");
        targets.push(format!("/{number}/page"));
    }
    bears(&serve(site), &targets);
}

#[test]
fn a_listing_below_large_htaccess_files_delays_no_other_request() {
    let text = full(|n| format!("<FilesMatch \"x{n}[0-9]\">\nDeny from all\n</FilesMatch>"));
    let text: String = text.lines().take(3 * 500).map(|line| format!("{line}\n")).collect();
    let mut site = site().file("htdocs/list/.htaccess", &text);
    for number in 0..2000 {
        site = site.file(&format!("htdocs/list/file{number}"), "");
    }
    let server = serve(site);
    assert_eq!(bears(&server, &["/list/".to_owned(), "/list/".to_owned()]), [200, 200]);
}

/// `make timing` prints the measured times.
#[test]
#[ignore = "measures time: `make timing`"]
fn other_clients_are_answered_within_50_ms_with_any_htaccess_files() {
    let (mut site, mut targets) = (site(), Vec::new());
    for (name, grown) in DIRECTIVES {
        site = site
            .file(&format!("htdocs/{name}/.htaccess"), &text_of(name, grown, 1000))
            .file(&format!("htdocs/{name}/page"), "page");
        targets.push(format!("/{name}/page"));
    }
    let server = serve(site);
    let is_over = AtomicBool::new(false);
    let mut times = std::thread::scope(|scope| {
        let bystander = scope.spawn(|| {
            let (mut connection, mut times) = (server.connect(), Vec::new());
            while !is_over.load(Ordering::SeqCst) {
                let watch = Instant::now();
                connection.ask(open()).is(200);
                times.push(watch.elapsed());
            }
            times
        });
        let long = "a".repeat(7000);
        for target in targets.iter().chain(&targets) {
            server.send(Request::get(target).header("X", &long));
        }
        is_over.store(true, Ordering::SeqCst);
        bystander.join().expect("the bystander was answered")
    });
    times.sort();
    let of = |part: usize| times[(times.len() - 1) * part / 100];
    println!("{} answers: median {:?}, p99 {:?}, longest {:?}", times.len(), of(50), of(99), of(100));
    assert!(of(99).as_millis() <= 50, "p99 is {:?}", of(99));
}
