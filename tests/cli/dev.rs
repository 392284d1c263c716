//! `cameleer dev`: saved changes, mistakes, and what is added to responses.

use std::fs::{File, read_link, rename};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::pty::openpty;

use crate::support::{Request, Response, Server, Site, let_pass, patience, until};

const APP: &str = "use lib '@DIR@/lib'; use My;\n\
    sub { [200, ['Content-Type', 'text/html'], ['<html><body>', My::text(), '</body></html>']] }\n";

fn module(text: &str) -> String {
    format!("package My;\nsub text {{ '{text}' }}\n1;\n")
}

fn site() -> Site {
    Site::new().file("app.psgi", APP).file("lib/My.pm", &module("first"))
}

/// `cameleer dev` with these arguments, on the site's port.
fn command(site: &Site, arguments: &[&str]) -> Command {
    let mut command = site.command(["dev"]);
    command.args(arguments.iter().map(|argument| site.filled(argument)));
    command
}

#[track_caller]
fn dev(site: Site, arguments: &[&str]) -> Server {
    let mut all = vec!["--listen", "127.0.0.1:@PORT@"];
    all.extend(arguments);
    let command = command(&site, &all);
    Server::start(site, command)
}

/// A request of a browser for a page.
fn page(server: &Server, target: &str) -> Response {
    server.send(Request::get(target).header("Accept", "text/html,*/*"))
}

#[track_caller]
fn until_it_says(server: &Server, what: &str) {
    until(&format!("the page says {what:?}"), || server.get("/").text().contains(what));
}

#[test]
fn a_saved_change_is_served_however_the_editor_writes_it() {
    let server = dev(site(), &["app.psgi"]);
    assert!(server.text("/").contains("first"));
    server.site.write("lib/My.pm", &module("in place"));
    until_it_says(&server, "in place");
    let path = |name: &str| server.site.path(name);
    server.site.write("lib/.My.pm.tmp", &module("renamed"));
    rename(path("lib/.My.pm.tmp"), path("lib/My.pm")).expect("renamed");
    until_it_says(&server, "renamed");
    // vim with a backup: the old file is renamed, and a new one is written.
    rename(path("lib/My.pm"), path("lib/My.pm~")).expect("renamed");
    server.site.write("lib/My.pm", &module("with a copy"));
    until_it_says(&server, "with a copy");
    server.site.write("app.psgi", "sub { [200, [], [-e '@DIR@/views/a.tt' ? 'template' : 'program']] }");
    until_it_says(&server, "program");
    server.site.write("views/a.tt", "x");
    until_it_says(&server, "template");
    server.logged("reloaded in ");
}

#[test]
fn modules_anywhere_and_files_of_named_folders_are_watched() {
    let elsewhere = Site::new().file("more/Far.pm", "package Far; sub text { 'far' } 1;");
    let site = Site::new()
        .file(
            "app/app.psgi",
            "use Far; my $n = do { local @ARGV = '@DIR@/data/n.txt'; <> }; sub { [200, [], [Far::text(), $n]] }",
        )
        .file("data/n.txt", "1");
    let folder = elsewhere.path("more").display().to_string();
    let server = dev(site, &["-I", &folder, "-R", "data", "app/app.psgi"]);
    assert_eq!(server.text("/"), "far1");
    elsewhere.write("more/Far.pm", "package Far; sub text { 'farther' } 1;");
    until_it_says(&server, "farther1");
    server.site.write("data/n.txt", "2");
    until_it_says(&server, "farther2");
}

#[test]
fn files_of_the_static_folder_are_watched() {
    let site = Site::new().file("app/app.psgi", "sub { [200, [], ['app']] }").file("public/a.txt", "old");
    let server = dev(site, &["--static", "public", "app/app.psgi"]);
    assert_eq!(server.text("/a.txt"), "old");
    server.site.write("public/a.txt", "new");
    server.logged("reloaded in ");
    assert_eq!(server.text("/a.txt"), "new");
}

#[test]
fn a_static_folder_with_the_program_in_it_is_named_in_a_warning() {
    let warning = "--static .: contains app.psgi, so clients can read the files beside it";
    for arguments in [&["--static", ".", "app.psgi"][..], &["--static", "."]] {
        dev(site(), arguments).logged(warning);
    }
    let server = dev(site().file("public/a.txt", ""), &["--static", "public", "app.psgi"]);
    assert!(!server.log().contains(warning), "{}", server.log());
}

#[test]
fn no_request_is_lost_while_changes_are_saved() {
    let server = dev(site(), &["app.psgi"]);
    let ends = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let client = scope.spawn(|| {
            let mut count = 0;
            while !ends.load(Ordering::Relaxed) {
                server.get("/").is(200);
                count += 1;
            }
            count
        });
        for number in 0..5 {
            server.site.write("lib/My.pm", &module(&format!("change {number}")));
            until_it_says(&server, &format!("change {number}"));
        }
        ends.store(true, Ordering::Relaxed);
        assert!(client.join().expect("each request is answered") > 0);
    });
}

#[test]
fn a_mistake_is_a_page_with_its_source_until_it_is_mended() {
    let server = dev(site(), &["app.psgi"]);
    server.site.write("lib/My.pm", "package My;\nuse strict;\nsub text { $undeclared <1> }\n1;\n");
    until("the page shows the mistake", || page(&server, "/").status == 500);
    let shown = page(&server, "/any/path?x").is(500).text();
    for expected in
        ["Global symbol", "lib/My.pm", "line 3", "<span class=\"here\">    3  sub text { $undeclared &lt;1&gt; }"]
    {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let text = server.post("/", &"x".repeat(100_000)).is(500);
    assert_eq!(text.header("content-type").as_deref(), Some("text/plain; charset=utf-8"));
    // A page of another site whose name leads here does not get the source.
    let elsewhere = Request::get("/").header("Host", "elsewhere.example").header("Accept", "text/html");
    let text = server.send(elsewhere).is(500).text();
    assert!(text.contains("localhost") && !text.contains("class=\"here\""), "{text}");
    // Another mistake takes its place, and a file that does not matter does not.
    server.site.write("lib/My.pm", "package My;\ndie 'second';\n");
    until("the page shows the second mistake", || page(&server, "/").text().contains("second at"));
    server.site.write("lib/My.pm", &module("mended"));
    until_it_says(&server, "mended");
    server.logged("mistake");
}

#[test]
fn a_program_with_a_mistake_at_the_start_is_served_once_it_is_mended() {
    let server = dev(site().file("lib/My.pm", "package My;\n}\n"), &["app.psgi"]);
    assert!(page(&server, "/").is(500).text().contains("lib/My.pm"));
    server.site.write("lib/My.pm", &module("mended"));
    until_it_says(&server, "mended");
}

#[test]
fn a_site_is_served_and_its_mistakes_are_pages_too() {
    let conf = "Listen 127.0.0.1:@PORT@\nMaxClients 1\nStartServers 1\nPerlLib lib\nPerlModule My\n\
        <Location />\nSetHandler perl-script\nPerlHandler My\n</Location>\n";
    let handler = |text: &str| {
        format!(
            "package My; use Apache::Constants ':common'; sub handler {{ my $r = shift; $r->content_type('text/html'); \
             $r->send_http_header; $r->print('<body>{text}</body>'); OK }} 1;"
        )
    };
    let site = Site::new().file("my.conf", conf).file("lib/My.pm", &handler("first"));
    let command = command(&site, &["my.conf"]);
    let server = Server::start(site, command);
    let response = server.get("/");
    assert!(response.text().contains("<body>first<script src=\"/.cameleer/dev/reload.js\" async></script></body>"));
    let timing = response.header("server-timing").expect("a header");
    let dur = timing.strip_prefix("total;dur=").unwrap_or_else(|| panic!("{timing}"));
    let (ms, us) = dur.split_once('.').expect("microseconds behind the point");
    assert!(ms.parse().is_ok_and(|number: u32| number.to_string() == ms), "{timing}");
    assert!(us.len() == 3 && us.parse::<u32>().is_ok(), "{timing}");
    server.site.write("lib/My.pm", &handler("second"));
    until_it_says(&server, "second");
    server.site.write("my.conf", &format!("{conf}Listne 80\n"));
    until("the page shows the mistake", || page(&server, "/").text().contains("Listne"));
    assert!(page(&server, "/").text().contains("<span class=\"here\">   10  Listne 80"));
    server.site.write("my.conf", conf);
    until_it_says(&server, "second");
}

#[test]
fn plackups_middleware_wraps_the_application_in_development_only() {
    let app = "sub { my $env = shift; die 'oops' if $env->{PATH_INFO} eq '/die'; return [200, [], 'lint'] if $env->{PATH_INFO} eq '/lint';\n\
        [200, ['Content-Type', 'text/plain'], [$ENV{PLACK_ENV}]] }";
    let server = dev(Site::new().file("app.psgi", app), &["app.psgi"]);
    assert_eq!(server.text("/"), "development");
    let shown = page(&server, "/die").is(500).text();
    assert!(shown.contains("oops at") && shown.contains("app.psgi line 1") && shown.contains("<pre"), "{shown}");
    assert!(page(&server, "/lint").is(500).text().contains("Body should be an array ref"));
    server.logged("200 GET /");
    let line = server.logged("500 GET /die");
    assert!(line.len() < 40 && !line.contains('\x1b'), "{line:?}");
    let server = dev(Site::new().file("app.psgi", app), &["-E", "deployment", "app.psgi"]);
    assert_eq!(server.text("/"), "deployment");
    assert!(!page(&server, "/die").is(500).text().contains("oops"));
}

/// What `dev` writes on a terminal of its own until it contains `last`.
#[track_caller]
fn on_a_terminal(server: impl FnOnce(&Path) -> Server, last: &str, requests: &[&str]) -> String {
    let pty = openpty(None, None).expect("a terminal");
    let name = read_link(format!("/proc/self/fd/{}", pty.slave.as_raw_fd())).expect("a name in /dev/pts");
    let server = server(&name);
    requests.iter().for_each(|target| drop(server.get(target)));
    let shown = Arc::new(Mutex::new(Vec::new()));
    let (mut from, into) = (File::from(pty.master), shown.clone());
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            into.lock().expect("whole").extend_from_slice(&bytes[..count]);
        }
    });
    let text = || String::from_utf8_lossy(&shown.lock().expect("whole")).into_owned();
    until(&format!("the terminal shows {last:?}"), || text().contains(last));
    text()
}

#[test]
fn labels_have_colours_on_a_terminal_unless_no_color_is_set() {
    let app = "sub { [$_[0]{PATH_INFO} eq '/' ? 200 : 404, ['Content-Type', 'text/plain'], ['x']] }";
    for (no_color, expected) in
        [("", ["\x1b[32m200\x1b[0m GET /", "\x1b[33m404\x1b[0m GET /none"]), ("1", [" 200 GET /", " 404 GET /none"])]
    {
        let start = |terminal: &Path| {
            let site = Site::new().file("app.psgi", app);
            let dev = command(&site, &["--listen", "127.0.0.1:@PORT@", "app.psgi"]);
            let mut shell = Command::new("sh");
            shell.args(["-c", "exec \"$0\" \"$@\" 2> \"$TERMINAL\""]).arg(dev.get_program()).args(dev.get_args());
            shell.envs(dev.get_envs().filter_map(|(name, value)| Some((name, value?))));
            shell.env("TERMINAL", terminal).env("NO_COLOR", no_color).current_dir(site.folder());
            Server::start(site, shell)
        };
        let shown = on_a_terminal(start, "GET /none", &["/", "/none"]);
        for line in expected {
            assert!(shown.contains(line), "NO_COLOR={no_color:?}: {line:?}: {shown:?}");
        }
        assert_eq!(shown.contains('\x1b'), no_color.is_empty(), "{shown:?}");
    }
}

#[test]
fn a_program_has_the_middleware_of_its_own_plack_after_each_change() {
    let own = "package Plack::Middleware::Lint; sub wrap { my $app = $_[1]; sub { my $r = $app->(@_); push @{ $r->[1] }, 'X-Own', 1; $r } } 1;";
    let app = |text: &str, lib: &str| format!("{lib} sub {{ [200, ['Content-Type', 'text/plain'], ['{text}']] }}");
    let site = Site::new().file("own/Plack/Middleware/Lint.pm", own).file("app.psgi", &app("first", ""));
    let server = dev(site, &["app.psgi"]);
    let is_own = || server.get("/").header("x-own").is_some();
    assert!(!is_own());
    for (text, lib, expected) in [
        ("second", "", false),
        ("third", "use lib '@DIR@/own';", true),
        ("fourth", "use lib '@DIR@/own';", true),
        ("fifth", "", false),
        ("sixth", "", false),
    ] {
        server.site.write("app.psgi", &app(text, lib));
        until_it_says(&server, text);
        assert_eq!(is_own(), expected, "{text}");
    }
}

#[test]
fn responses_have_a_header_with_time_memory_and_queries() {
    let app = "use DBI; sub { my $dbh = DBI->connect('dbi:SQLite:dbname=:memory:'); $dbh->do('create table t (a)');\n\
        [200, ['Content-Type', 'text/plain'], [scalar $dbh->selectrow_array('select count(*) from t')]] }";
    let server = dev(Site::new().file("app.psgi", app), &["app.psgi"]);
    let timing = server.get("/").header("server-timing").expect("a header");
    for part in ["app;dur=", "queries;dur=", "desc=\"2 queries\"", "memory;desc="] {
        assert!(timing.contains(part), "{part}: {timing}");
    }
}

#[test]
fn browsers_get_an_event_after_each_reload() {
    let server = dev(site(), &["app.psgi"]);
    assert!(server.text("/").contains("first<script src=\"/.cameleer/dev/reload.js\" async></script></body>"));
    let script = server.get("/.cameleer/dev/reload.js");
    assert!(script.text().contains("EventSource"), "{script:?}");
    let event = || {
        let mut connection = server.connect();
        connection.raw("GET /.cameleer/dev/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_eq!(connection.head().header("content-type").as_deref(), Some("text/event-stream"));
        let mut output = String::new();
        while !output.contains("\n\n") || !output.contains("data: ") {
            output += &String::from_utf8_lossy(&connection.chunk());
        }
        (connection, output)
    };
    let (mut waits, first) = event();
    server.site.write("lib/My.pm", &module("second"));
    let mut after = String::new();
    while !after.contains("data: ") {
        let chunk = waits.chunk();
        assert!(!chunk.is_empty(), "the stream ended without an event: {after:?}");
        after += &String::from_utf8_lossy(&chunk);
    }
    until_it_says(&server, "second");
    assert_ne!(event().1, first, "the number of the generation");
}

#[test]
fn a_policy_that_forbids_scripts_leaves_the_page_as_it_is() {
    let app = "sub { [200, ['Content-Type', 'text/html', 'Content-Security-Policy', \"script-src 'nonce-1'\"], ['<body></body>']] }";
    let server = dev(Site::new().file("app.psgi", app), &["app.psgi"]);
    assert_eq!(server.text("/"), "<body></body>");
}

#[test]
fn head_has_the_length_of_get_or_none() {
    let app = "sub { my ($env) = @_; my $page = '<body>x</body>'; my $is_head = $env->{REQUEST_METHOD} eq 'HEAD';\n\
        my $body = $is_head && $env->{PATH_INFO} eq '/bare' ? '' : $page;\n\
        [200, ['Content-Type', 'text/html', 'Content-Length', length $page], [$body]] }";
    let server = dev(Site::new().file("app.psgi", app), &["-E", "test", "app.psgi"]);
    let length = |method: &str, path: &str| server.send(Request::new(method, path)).is(200).header("content-length");
    let with_script = server.text("/").len().to_string();
    assert!(server.text("/").contains("reload.js"));
    for path in ["/", "/bare"] {
        assert_eq!(length("GET", path).as_deref(), Some(&*with_script), "{path}");
    }
    assert_eq!(length("HEAD", "/").as_deref(), Some(&*with_script));
    assert_eq!(length("HEAD", "/bare"), None);
}

#[test]
fn the_browser_is_opened_when_the_server_is_ready() {
    let browser = "#!/bin/sh\necho \"$@\" > @DIR@/opened.new; mv @DIR@/opened.new @DIR@/opened\n";
    let site = site().script("browser", browser);
    let mut command = command(&site, &["--open", "--listen", "127.0.0.1:@PORT@", "app.psgi"]);
    command.env("BROWSER", format!("{} --new %s", site.path("browser").display()));
    let server = Server::start(site, command);
    until("the browser has the URL", || server.site.has("opened"));
    assert_eq!(server.site.read("opened"), server.site.filled("--new http://127.0.0.1:@PORT@/\n"));
}

/// From a save to the first page with its text. A new page is asked for at once.
fn time_of_save(server: &Server, text: &str) -> Duration {
    let began = Instant::now();
    server.site.write("lib/My.pm", &module(text));
    while !server.get("/").text().contains(text) {
        assert!(began.elapsed() < patience(), "{text} is not served");
    }
    began.elapsed()
}

#[test]
#[ignore = "measures time: `make timing`"]
fn a_save_is_served_by_a_new_generation_within_100_ms() {
    let server = dev(site(), &["app.psgi"]);
    let mut times: Vec<Duration> = (0..15)
        .map(|number| {
            // The process for the next load starts meanwhile, as between the saves of a developer.
            let_pass(Duration::from_millis(500));
            time_of_save(&server, &format!("change {number};"))
        })
        .collect();
    times.sort();
    assert!(times[times.len() / 2] < Duration::from_millis(100), "{times:?}");
}

#[test]
fn run_with_reload_serves_changes_without_development() {
    let site = site();
    let server = site.run(["-r", "app.psgi"]);
    assert!(server.text("/").contains("first"));
    server.site.write("lib/My.pm", &module("second"));
    until_it_says(&server, "second");
}

#[test]
fn a_port_in_use_and_a_missing_program_end_the_command() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    site().cameleer(["dev", "-l", &address, "app.psgi"]).failed(1, "in use");
    Site::new().cameleer(["dev", "none.psgi"]).failed(2, "no such file");
}

/// A program of Mojolicious, PAGI or PSGI with an event loop, whose page is a variable.
const EVENT_PROGRAMS: [(&str, &str); 3] = [
    (
        "--event",
        "use Mojolicious::Lite -signatures;\nget '/' => sub ($c) { $c->render_later; my $text = '@TEXT@';\n\
         Mojo::IOLoop->timer(0.01 => sub { $c->render(data => \"<html><body>$text</body></html>\", format => 'html') }) };\napp->start;\n",
    ),
    (
        "--event",
        "use v5.36;\nuse AnyEvent;\nsub ($env) { [200, ['Content-Type', 'text/html'], ['<html><body>@TEXT@</body></html>']] };\n",
    ),
    (
        "",
        "use v5.36;\nuse Future::AsyncAwait;\nasync sub app ($scope, $receive, $send) {\ndie 'no' if $scope->{type} ne 'http';\n\
         await $send->({ type => 'http.response.start', status => 200, headers => [['content-type', 'text/html']] });\n\
         await $send->({ type => 'http.response.body', body => '<html><body>@TEXT@</body></html>' });\n}\n\\&app;\n",
    ),
];

#[test]
fn a_program_with_an_event_loop_is_reloaded_and_its_pages_load_again() {
    for (option, program) in EVENT_PROGRAMS {
        let with = |text: &str| program.replace("@TEXT@", text);
        let arguments: Vec<&str> = [option, "app.pl"].into_iter().filter(|argument| !argument.is_empty()).collect();
        let server = dev(Site::new().file("app.pl", &with("first")), &arguments);
        let first = page(&server, "/");
        assert!(
            first.text().contains("first<script src=\"/.cameleer/dev/reload.js\" async></script></body>"),
            "{}",
            first.text()
        );
        assert!(first.header("Server-Timing").is_some());
        server.site.write("app.pl", &with("second"));
        until_it_says(&server, "second");
        server.site.write("app.pl", "this is no program (");
        until("the page of the mistake", || page(&server, "/").text().contains("syntax error"));
        server.site.write("app.pl", &with("third"));
        until_it_says(&server, "third");
    }
}
