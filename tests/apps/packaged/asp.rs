//! Debian's Apache::ASP, unmodified: its own example pages under their own configuration, state in memory.

use std::path::PathBuf;
use std::process::Command;

use super::{browser, cases};
use crate::support::{Finished, Load, Request, Response, Server, Site, until};

const REAL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/apps/packaged/site");

/// A folder in memory for StateDir, as the tuning guides advise.
struct State(PathBuf);

impl State {
    fn of(site: &Site) -> State {
        let name = site.folder().file_name().expect("a folder of TMPDIR");
        let folder = PathBuf::from("/dev/shm").join(name);
        std::fs::create_dir(&folder).expect("/dev/shm is mounted");
        State(folder)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The example pages under their own `.htaccess`, with `settings` after it.
#[track_caller]
fn serve(settings: &str) -> (Server, State) {
    let site = laid_out();
    let state = State::of(&site);
    let file = site.path("htdocs/eg/.htaccess");
    let theirs = std::fs::read_to_string(&file).expect("it came with the pages");
    std::fs::write(file, format!("{theirs}\nPerlSetVar StateDir {}\n{settings}\n", state.0.display())).expect("ours");
    let server = site.serve(
        r#"
        PerlModule Apache::ASP
        <Directory "@DIR@/htdocs">
            AllowOverride All
        </Directory>
        "#,
    );
    (server, state)
}

/// Like [`serve`], with the directives of the `.htaccess` file in the server's configuration.
#[track_caller]
fn serve_configured(settings: &str) -> (Server, State) {
    let site = laid_out();
    let state = State::of(&site);
    let theirs = site.read("htdocs/eg/.htaccess");
    let server = site.serve(&format!(
        r#"
        PerlModule Apache::ASP
        <Directory "@DIR@/htdocs/eg">
        {theirs}
        PerlSetVar StateDir {state}
        {settings}
        </Directory>
        "#,
        state = state.0.display(),
    ));
    (server, state)
}

/// A site with the package's pages.
#[track_caller]
fn laid_out() -> Site {
    let site = Site::new();
    Finished::of(Command::new("sh").arg(format!("{REAL}/asp/lay-out.sh")).arg(site.folder())).succeeded();
    site
}

/// The pages of tests/apps/packaged/site/asp/counter.
#[track_caller]
fn serve_counter(settings: &str) -> (Server, State) {
    let site = Site::new();
    let pages = format!("{REAL}/asp/counter");
    for entry in std::fs::read_dir(&pages).expect("checked in").flatten() {
        let name = entry.file_name().into_string().expect("a plain name");
        let text = std::fs::read_to_string(entry.path()).expect("checked in");
        site.write(&format!("htdocs/{name}"), &text);
    }
    let state = State::of(&site);
    let server = site.serve(&format!(
        r#"
        PerlModule Apache::ASP
        <Files ~ "\.asp$">
            SetHandler perl-script
            PerlHandler Apache::ASP
            PerlSetVar Global "@DIR@/htdocs"
            PerlSetVar GlobalPackage Counter
            PerlSetVar StateDir {state}
            PerlSetVar SessionQuery On
            PerlSetVar Debug 0
            {settings}
        </Files>
        <Files totals.asp>
            PerlSetVar AllowSessionState Off
        </Files>
        <Files global.asa>
            SetHandler perl-script
            PerlHandler Apache::Constants::NOT_FOUND
        </Files>
        "#,
        state = state.0.display(),
    ));
    (server, state)
}

/// The value of `name` in a page's `name=value` words.
#[track_caller]
fn value<'t>(text: &'t str, name: &str) -> &'t str {
    let words = text.split_whitespace().filter_map(|word| word.split_once('='));
    words.into_iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no {name} in {text:?}")).1
}

#[track_caller]
fn total(server: &Server, name: &str) -> u64 {
    value(&server.text("/totals.asp"), name).parse().expect("a number")
}

#[track_caller]
fn every_page_answers(server: &Server) {
    let cases = cases::of(include_str!("site/asp/cases.tsv"));
    let mut wrong = Vec::new();
    for round in 1..=2 {
        for case in &cases {
            let faults = case.ask(server, "-", round);
            wrong.extend(faults.into_iter().map(|fault| format!("round {round} {}: {fault}", case.name)));
        }
    }
    assert!(cases.len() > 25, "{} cases", cases.len());
    assert!(wrong.is_empty(), "{} faults:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_example_pages_of_apache_asp_answer_under_their_htaccess() {
    let (server, _state) = serve("PerlSetVar XSLTParser XML::LibXSLT");
    every_page_answers(&server);
}

#[test]
fn the_example_pages_of_apache_asp_answer_with_state_in_another_form() {
    let (server, _state) = serve_configured(
        "PerlSetVar XSLTParser XML::LibXSLT
        PerlSetVar StateDB DB_File
        PerlSetVar StateSerializer Storable
        PerlSetVar SessionSerialize On",
    );
    every_page_answers(&server);
}

#[test]
fn a_session_in_a_cookie_is_the_same_in_every_worker() {
    let (server, _state) = serve_counter("");
    let first = server.get("/count.asp").is(200);
    let cookie = cookie_of(&first);
    assert_eq!(cookie, format!("session-id={}", value(&first.text(), "session")));
    for count in 2..=6 {
        let again = server.send(Request::get("/count.asp").header("Cookie", &cookie)).is(200);
        assert_eq!(value(&again.text(), "count"), count.to_string());
        assert_eq!(again.header("set-cookie"), None, "the client has it already");
    }
    assert_eq!(value(&server.text("/count.asp"), "count"), "1", "another client has another session");
}

#[test]
fn no_change_of_a_session_is_lost_under_load_and_across_a_reload() {
    let (server, _state) = serve_counter("PerlSetVar SessionSerialize On");
    let first = server.text("/count.asp");
    let target = format!("/count.asp?session-id={}", value(&first, "session"));
    let good = |response: &Response| response.status == 200 && response.text().contains("count=");
    let load = Load::start(&server, 3, &target, good);
    let others = Load::start(&server, 1, "/count.asp", |response| response.text().ends_with("count=1"));
    load.until_answered(20);
    server.reload().succeeded();
    load.until_answered(20);
    let (answered, mut failures) = load.end();
    let (news, others) = others.end();
    failures.extend(others);
    assert_eq!(failures, Vec::<String>::new());
    let last = server.text(&target);
    assert_eq!(value(&last, "count"), (answered + 2).to_string());
    assert_eq!(total(&server, "requests"), answered + news + 2);
    assert_eq!(total(&server, "sessions"), news + 1);
    assert_eq!(total(&server, "started"), 1, "the application outlives a reload");
    until("every RegisterCleanup has run", || total(&server, "cleaned") == answered + news + 2);
}

#[test]
fn sessions_end_when_their_time_is_over_or_they_are_abandoned() {
    let (server, _state) = serve_counter("PerlSetVar SessionTimeout .05");
    let left = server.text("/count.asp");
    let kept = format!("/count.asp?session-id={}", value(&server.text("/count.asp"), "session"));
    // Each request may expire other sessions; its own session stays alive.
    let ended = || {
        server.text(&kept);
        total(&server, "ended")
    };
    until("the session that was left has ended", || ended() == 1);
    let again = server.text(&format!("/count.asp?session-id={}", value(&left, "session")));
    assert_eq!(value(&again, "count"), "1");
    let abandoned = server.text(&format!("/count.asp?abandon=1&session-id={}", value(&again, "session")));
    assert_eq!(value(&abandoned, "count"), "2");
    until("the abandoned session has ended", || ended() == 2);
    assert_eq!(total(&server, "sessions"), 3);
}

#[test]
fn apache_debug_decides_how_much_of_an_error_is_shown() {
    for (debug, status, shows) in [(0, 500, false), (1, 500, false), (2, 200, true), (-2, 200, true)] {
        let (server, _state) = serve_counter(&format!("PerlSetVar Debug {debug}"));
        let response = server.get("/fail.asp").is(status);
        assert_eq!(response.text().contains("a secret of the page"), shows, "Debug {debug}: {response:?}");
        server.logged("a secret of the page");
        server.get("/count.asp").is(200);
    }
}

#[test]
fn a_page_without_buffer_streams() {
    let (server, _state) = serve_counter("");
    let mut connection = server.connect();
    connection.raw("GET /stream.asp HTTP/1.1\r\nHost: localhost\r\n\r\n");
    connection.head();
    assert!(connection.chunk().ends_with(b"first"));
    server.site.write("htdocs/go", "");
    assert!(connection.chunk().starts_with(b"second"));
}

#[test]
fn a_pages_source_and_its_state_are_not_served() {
    let (server, _state) = serve_counter("");
    server.get("/global.asa").is(404);
    server.get("/none.asp").is(404);
    assert!(!server.text("/count.asp?x=%00").contains("<%"));
}

/// The session cookie's name and value, as a browser sends them.
#[track_caller]
fn cookie_of(response: &Response) -> String {
    let set = response.header("set-cookie").expect("a cookie");
    set.split(';').next().expect("name and value").to_owned()
}

/// The bookmarks application of the package, on SQLite.
#[track_caller]
fn serve_bookmarks(site: Site) -> (Server, State) {
    let state = State::of(&site);
    let theirs = site.read("htdocs/apps/bookmarks/.htaccess");
    assert!(theirs.contains("GlobalPackage My::Bookmarks"), "{theirs}");
    let server = site.serve(&format!(
        r#"
        PerlModule Apache::DBI Apache::ASP
        <Directory "@DIR@/htdocs/apps/bookmarks">
        {theirs}
        <Files "*.asp">
        PerlSetVar StateDir {}
        </Files>
        </Directory>
        "#,
        state.0.display(),
    ));
    (server, state)
}

#[test]
fn the_bookmarks_application_of_apache_asp_is_used() {
    let (server, _state) = serve_bookmarks(laid_out());
    let at = |page: &str| format!("/apps/bookmarks/{page}");
    let cookie = cookie_of(&server.get(&at("index.asp")).is(200));
    let get = |page: &str| server.send(Request::get(&at(page)).header("Cookie", &cookie)).is(200).text();
    let post = |page: &str, form: &str| server.send(Request::post(&at(page), form).header("Cookie", &cookie));
    assert!(post("index.asp", "user=x").is(200).text().contains("at least 4 character"));
    let moved = post("index.asp", "user=anaruiz").is(302);
    assert_eq!(moved.header("location").as_deref(), Some("bookmarks.asp"));
    assert!(get("bookmarks.asp").contains("You don't have any bookmarks."));
    for n in 1..=3 {
        let form = format!("new_url=http://example.org/{n}&new_title=Page+{n}&submit=Create+Bookmark");
        let page = post("bookmarks.asp", &form).is(200).text();
        assert!(page.contains(&format!(">Page {n}</a>")), "{page}");
    }
    let again = post("bookmarks.asp", "new_url=http://example.org/2&submit=Create").is(200).text();
    assert!(again.contains("You already have http://example.org/2"), "{again}");
    let page = get("bookmarks.asp?delete=2");
    assert!(page.contains(">Page 1</a>") && !page.contains(">Page 2</a>") && page.contains(">Page 3</a>"), "{page}");
    let out = post("bookmarks.asp", "logout=Logout").is(302);
    assert_eq!(out.header("location").as_deref(), Some("index.asp?abandon=1"));
    let moved = server.send(Request::get(&at("bookmarks.asp")).header("Cookie", &cookie)).is(302);
    assert_eq!(moved.header("location").as_deref(), Some("index.asp"));
}

/// The test drives a browser that stores the session's cookie, follows redirects and submits the page's forms.
#[test]
fn a_browser_logs_in_and_stores_bookmarks() {
    let visit = browser::visitor(
        "/apps/bookmarks/index.asp",
        &[
            "page.querySelector('[name=user]').value = 'anaruiz'; page.querySelector('[type=submit]').click();",
            "show('at ' + page.location.pathname); page.querySelector('[name=new_url]').value = 'http://example.org/?a=1&b=2'; \
             page.querySelector('[name=new_title]').value = 'Zo\u{eb} & co'; page.querySelector('[name=submit]').click();",
            "for (const link of page.querySelectorAll('a[href^=\"http://example.org\"]')) show(link.textContent + ' -> ' + link.href);",
        ],
    );
    let (server, _state) = serve_bookmarks(laid_out().file("htdocs/visit.html", &visit));
    let page = browser::shows(&server, "/visit.html");
    assert!(page.contains("at /apps/bookmarks/bookmarks.asp\n"), "{page}");
    assert!(page.contains("Zo\u{eb} &amp; co -&gt; http://example.org/?a=1&amp;b=2"), "{page}");
}

#[test]
fn a_browser_has_one_session_on_all_pages() {
    let step = "show(page.body.textContent.trim()); page.location.reload()";
    let visit = browser::visitor("/count.asp", &[step, step, "show(page.body.textContent.trim())"]);
    let (server, _state) = serve_counter("");
    server.site.write("htdocs/visit.html", &visit);
    let page = browser::shows(&server, "/visit.html");
    let counts: Vec<&str> =
        page.lines().filter(|line| line.contains("session=")).map(|line| value(line, "count")).collect();
    assert_eq!(counts, ["1", "2", "3"], "{page}");
}

#[test]
fn a_page_that_prints_without_end_ends_with_its_client() {
    let (server, _state) = serve_counter("");
    server.site.write("htdocs/endless.asp", "<% while (1) { $Response->Write('x' x 20_000); $Response->Flush } %>");
    let mut connection = server.connect();
    connection.raw("GET /endless.asp HTTP/1.1\r\nHost: localhost\r\n\r\n");
    connection.head();
    assert!(!connection.chunk().is_empty());
    drop(connection);
    until("no worker is at work", || server.workers().iter().all(|(_, state)| state == "Idle"));
}
