//! Regular expressions in `.htaccess` files: their cost is bounded, and folders do not wait for each other's
//! expressions.

use super::{SHOW, soon, soon_status};
use crate::support::{Connection, Request, Server, Site, cpu_time, eventually, peak_memory};

/// 100 lines of 40 bytes each, which compiled would be 300 MB.
fn greedy() -> String {
    "SetEnvIf X \"((([a-z]y){20}x){20}N){20}\" a\n".repeat(100)
}

/// A pattern within the limit of a single one. A hundred of them exceed the limit of a file.
const LARGE: &str = "(?:[a-z]x){150}N";

fn many() -> String {
    format!("SetEnvIf X \"{LARGE}\" a\n").repeat(100)
}

#[track_caller]
fn serve(site: Site) -> Server {
    let led = "package Led; sub handler { my $r = shift; $r->internal_redirect(scalar $r->args); 0 }\n1;\n";
    site.file("lib/Show.pm", SHOW).file("lib/Led.pm", led).file("htdocs/open.html", "open").serve(
        "PerlLib lib\nPerlModule Show Led\n<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n\
         <Location /led>\nSetHandler perl-script\nPerlHandler Led\n</Location>\n",
    )
}

fn front(server: &Server) -> i32 {
    server.status()["front_pid"].as_i64().expect("the front has a number") as i32
}

#[test]
fn a_folder_with_expensive_patterns_is_refused_and_others_are_not_delayed() {
    let mut site = Site::new();
    for number in 0..20 {
        let text = if number % 2 == 0 { greedy() } else { many() };
        site = site.file(&format!("htdocs/{number}/.htaccess"), &text).file(&format!("htdocs/{number}/page"), "page");
    }
    let server = serve(site);
    let before = peak_memory(front(&server));
    // Counts responses to a bystander while other clients wait for their expressions.
    let bystander = |connection: &mut Connection| connection.ask(Request::get("/open.html")).is(200).text();
    let answers = std::thread::scope(|scope| {
        let server = &server;
        let ask = |number| scope.spawn(move || server.get(&format!("/{number}/page")).status);
        let greedy: Vec<_> = (0..20).map(ask).collect();
        let mut connection = server.connect();
        while greedy.iter().any(|client| !client.is_finished()) {
            assert_eq!(bystander(&mut connection), "open");
        }
        greedy.into_iter().map(|client| client.join().expect("an answer")).collect::<Vec<_>>()
    });
    assert_eq!(answers, [500; 20]);
    server.logged("htdocs/0/.htaccess:1: SetEnvIf: ");
    server.logged("need too much memory; write simpler or fewer ones, or write them in the main configuration");
    let peak = peak_memory(front(&server)) - before;
    assert!(peak < 64 << 20, "the front needed {peak} bytes more");
    // A worker that redirects to the same address gets the same 500.
    server.get("/led?/0/page").is(500);
    server.get("/led?/1/page").is(500);
    assert_eq!(server.text("/led?/open.html"), "open");
}

#[test]
fn a_corrected_file_is_read_again() {
    let site = Site::new().file("htdocs/.htaccess", &format!("SetHandler perl-script\nPerlHandler Show\n{}", many()));
    let server = serve(site);
    server.get("/page").is(500);
    server.site.write(
        "htdocs/.htaccess",
        &format!("SetHandler perl-script\nPerlHandler Show\nPerlSetVar X right\nSetEnvIf X \"{LARGE}\" a\n"),
    );
    soon(&server, "/page", "right");
}

#[test]
fn each_directive_with_a_pattern_is_bounded() {
    let large = "(a{0,1000}){0,1000}";
    for line in [
        format!("SetEnvIf X \"{large}\" a"),
        format!("SetEnvIfNoCase X \"{large}\" a"),
        format!("BrowserMatch \"{large}\" a"),
        format!("BrowserMatchNoCase \"{large}\" a"),
        format!("RedirectMatch \"{large}\" http://localhost/"),
        format!("<FilesMatch \"{large}\">\n</FilesMatch>"),
        format!("<Files ~ \"{large}\">\n</Files>"),
        format!("Header edit X \"{large}\" a"),
        format!("Header echo \"{large}\""),
        format!("RequestHeader edit X \"{large}\" a"),
    ] {
        let server = serve(Site::new().file("htdocs/a/.htaccess", &line).file("htdocs/a/page", "page"));
        server.get("/a/page").is(500);
        let log = eventually("the log says which line", || {
            server.log().lines().find(|line| line.contains("htdocs/a/.htaccess:1: ")).map(str::to_owned)
        });
        assert!(log.contains("is too large: it needs more than") && log.len() < 1000, "{log}");
        assert_eq!(server.text("/open.html"), "open");
    }
}

#[test]
fn files_within_the_limit_may_exceed_it_together() {
    let some = format!("SetEnvIf X \"{LARGE}\" a\n").repeat(25);
    let mut site = Site::new();
    let mut folder = "htdocs".to_owned();
    for _ in 0..6 {
        folder.push_str("/a");
        site = site.file(&format!("{folder}/.htaccess"), &some).file(&format!("{folder}/page"), "page");
    }
    let server = serve(site);
    server.get("/a/page").is(200);
    server.get("/a/a/a/a/a/a/page").is(500);
    server.logged(": the .htaccess files from the root folder down to here exceed the limits together");
    server.get("/led?/a/a/a/a/a/a/page").is(500);
    server.get("/a/page").is(200);
}

#[test]
fn lists_of_robots_as_sites_have_them_are_read() {
    let mut text: String = (0..300).map(|n| format!("SetEnvIfNoCase User-Agent \"^Robot{n}\" robot\n")).collect();
    text.push_str("SetEnvIfNoCase User-Agent ([a-z0-9]{500,}) robot\n");
    text.push_str("SetEnvIfNoCase User-Agent (archive.org|binlar|casper|checkpriv|diavol|nikto) robot\n");
    text.push_str("Order Allow,Deny\nAllow from all\nDeny from env=robot\n");
    let server = serve(Site::new().file("htdocs/a/.htaccess", &text).file("htdocs/a/page", "page"));
    let as_agent = |agent: &str| Request::get("/a/page").header("User-Agent", agent);
    for (agent, status) in [("Firefox", 200), ("robot299 x", 403), ("the Nikto", 403), (&"a1".repeat(250), 403)] {
        server.send(as_agent(agent)).is(status);
    }
}

#[test]
fn values_that_rules_double_stay_short() {
    let mut text = "SetEnvIf X \"(.*)\" A0=$1\n".to_owned();
    (1..40).for_each(|n| text.push_str(&format!("SetEnvIf A{} \"(.*)\" A{n}=$1$1\n", n - 1)));
    text.push_str("Header set Y \"aaaaaaaaaa\"\n");
    // Few matches, so that the file's time does not end first.
    text.push_str(&format!("Header edit* Y \"a\" \"{}\"\n", "a".repeat(20)).repeat(6));
    text.push_str(&"Header append Y \"%{A39}e\"\n".repeat(40));
    text.push_str(&format!("RedirectMatch ^/a/go(.*) http://localhost/{}\n", "$1".repeat(20_000)));
    let server = serve(Site::new().file("htdocs/a/.htaccess", &text).file("htdocs/a/page", "page"));
    let before = peak_memory(front(&server));
    server.send(Request::get("/a/page").header("X", &"x".repeat(1000))).is(200);
    server.get(&format!("/a/go{}", "x".repeat(4000))).is(500);
    let peak = peak_memory(front(&server)) - before;
    assert!(peak < 32 << 20, "the front needed {peak} bytes more");
}

#[test]
fn the_main_configuration_may_spend_more_but_not_without_end() {
    let site = Site::new();
    let check = |line: &str| {
        site.configure(line);
        site.cameleer(["check", "-f", &site.filled("@DIR@/site.conf")])
    };
    assert_eq!(check("SetEnvIf X \"(a{0,1000}){0,10}\" a").code, 0);
    assert_eq!(check(&many()).code, 0);
    let refused = check("\nSetEnvIf X \"((a{0,1000}){0,1000}){0,1000}\" a");
    assert_ne!(refused.code, 0);
    assert!(
        refused.err.contains("site.conf:2: SetEnvIf: regular expression `((a{0,1000}){0,1000}){0,1000}` is too large"),
        "{}",
        refused.err
    );
}

/// A pattern within the size limit whose match against 8 kB of `a` takes 100 ms or more.
const SLOW: &str = ".{0,90}.{0,90}[xy]";

#[test]
fn a_folder_whose_patterns_take_long_is_refused_and_costs_nothing_from_then_on() {
    let slow = format!("SetEnvIf X \"{SLOW}\" a\n").repeat(7);
    let server = serve(Site::new().file("htdocs/a/.htaccess", &slow).file("htdocs/a/page", "page"));
    let front = front(&server);
    let value = "a".repeat(8000);
    let ask = || server.send(Request::get("/a/page").header("X", &value));
    server.get("/a/page").is(200);
    let spent = |work: &dyn Fn()| {
        let before = cpu_time(front);
        work();
        cpu_time(front) - before
    };
    let first = spent(&|| drop(ask().is(500)));
    // Which of the equal lines took longest depends on the machine.
    let log = eventually("the log says which line took longest", || {
        server.log().lines().find(|line| line.contains("take too long")).map(str::to_owned)
    });
    let line = log.split_once("htdocs/a/.htaccess:").and_then(|(_, rest)| rest.split_once(':'));
    let (number, meaning) = line.unwrap_or_else(|| panic!("no file and line: {log}"));
    assert!((1..=7).contains(&number.parse().unwrap_or(0)), "{log}");
    assert!(meaning.starts_with(" the regular expressions of this file take too long"), "{log}");
    let others = spent(&|| (0..20).for_each(|_| drop(ask().is(500))));
    assert!(others < first, "the first took {first:?}, twenty more {others:?}");
    server.get("/a/page").is(500);
    assert_eq!(server.text("/open.html"), "open");
    let log = server.log().lines().filter(|line| line.contains("take too long")).count();
    assert_eq!(log, 1, "{}", server.log());
    server.site.write("htdocs/a/.htaccess", "SetEnvIf X a a\n");
    soon_status(&server, "/a/page", 200);
    ask().is(200);
}

#[test]
fn a_slow_pattern_in_any_directive_closes_its_folder() {
    let value = "a".repeat(7000);
    let (page, long) = ("/a/page".to_owned(), format!("/a/{}", &value));
    for (line, target) in [
        (format!("SetEnvIfNoCase X \"{SLOW}\" a"), &page),
        (format!("BrowserMatch \"{SLOW}\" a"), &page),
        (format!("SetEnvIfExpr \"%{{HTTP:X}} =~ /{SLOW}/\" a"), &page),
        (format!("RequestHeader edit X \"{SLOW}\" a"), &page),
        (format!("Header set Y {value}\nHeader edit Y \"{SLOW}\" a"), &page),
        (format!("RedirectMatch \"{SLOW}\" http://localhost/"), &long),
        (format!("<FilesMatch \"{SLOW}\">\nDeny from all\n</FilesMatch>"), &long),
    ] {
        let server = serve(Site::new().file("htdocs/a/.htaccess", &line).file("htdocs/a/page", "page"));
        let ask = || server.send(Request::get(target).header("X", &value).header("User-Agent", &value)).status;
        let status = (0..20).map(|_| ask()).find(|status| *status == 500);
        assert_eq!(status, Some(500), "{line:.60}");
        server.logged("the regular expressions of this file take too long");
        server.get("/a/page").is(500);
        assert_eq!(server.text("/open.html"), "open");
    }
}

#[test]
fn ordinary_alternatives_match_long_values_without_a_limit() {
    let text: String = (0..300).map(|n| format!("SetEnvIfNoCase Cookie \"Robot{n}\" robot\n")).collect();
    let text = text + "Order Allow,Deny\nAllow from all\nDeny from env=robot\n";
    let server = serve(Site::new().file("htdocs/a/.htaccess", &text).file("htdocs/a/page", "page"));
    let cookie = "name=Mozilla/5.0 (X11; Linux); ".repeat(255);
    let mut connection = server.connect();
    for _ in 0..200 {
        connection.ask(Request::get("/a/page").header("Cookie", &cookie)).is(200);
    }
    connection.ask(Request::get("/a/page").header("Cookie", &format!("{cookie} robot299"))).is(403);
}

/// Two tenants with three folders each: all folders of a tenant share one reserve, and tenants do not share it.
#[test]
fn a_tenant_has_one_reserve_for_all_folders_and_the_neighbour_another() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let slow = format!("SetEnvIf X \"{SLOW}\" a\n").repeat(7);
    let mut site = Site::new();
    for folder in ["ann/a", "ann/b", "ann/c/d", "bob/a"] {
        let text = if folder == "ann/a" { &slow } else { "SetEnvIf X a a\n" };
        site = site.file(&format!("htdocs/{folder}/.htaccess"), text).file(&format!("htdocs/{folder}/page"), "page");
    }
    for (tenant, uid) in [("ann", 2001), ("bob", 2002)] {
        for folder in ["", "/a", "/b", "/c", "/c/d"] {
            let folder = site.path(&format!("htdocs/{tenant}{folder}"));
            if folder.is_dir() {
                std::os::unix::fs::chown(folder, Some(uid), None).expect("root may");
            }
        }
    }
    let server = serve(site);
    for folder in ["ann/a", "ann/b", "ann/c/d", "bob/a"] {
        server.get(&format!("/{folder}/page")).is(200);
    }
    server.send(Request::get("/ann/a/page").header("X", &"a".repeat(8000))).is(500);
    server.logged(&format!("everything below {} is refused", server.site.path("htdocs/ann").display()));
    for folder in ["ann/a", "ann/b", "ann/c/d"] {
        soon_status(&server, &format!("/{folder}/page"), 500);
    }
    server.get("/bob/a/page").is(200);
    server.site.write("htdocs/ann/a/.htaccess", "SetEnvIf X a a\n");
    for folder in ["ann/a", "ann/b", "ann/c/d"] {
        soon_status(&server, &format!("/{folder}/page"), 200);
    }
}
