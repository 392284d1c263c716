//! Access logs byte for byte; error log, piped logs.

use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use regex::Regex;

use crate::support::{Connection, Request, Server, Site, eventually, patience, until};

#[track_caller]
fn serve(format: &str) -> Server {
    Site::new()
        .file("My.pm", "package My; sub handler { my $r = shift; $r->notes(cache => 'hit'); $r->subprocess_env(TENANT => 'acme'); $r->connection->user('ana') if $r->args; $r->header_out('X-Out' => 'o'); $r->send_http_header('text/plain'); $r->print('12345'); 0 } 1;")
        .file("htdocs/file.txt", "file\n")
        .serve(&format!("PerlLib \"@DIR@\"\nPerlModule My\n<Location /my>\nSetHandler perl-script\nPerlHandler My\n</Location>\nCustomLog access.log {format}"))
}

#[track_caller]
fn line(server: &Server) -> String {
    eventually("a line is logged", || server.site.read("access.log").split_once('\n').map(|(line, _)| line.to_owned()))
}

/// Compares the first line with Apache's output; `TIME` matches a time in brackets.
#[track_caller]
fn assert_logged(server: &Server, expected: &str) {
    let time = r"\[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\]";
    let pattern = format!("^{}$", regex::escape(expected).replace("TIME", time));
    let line = line(server);
    assert!(Regex::new(&pattern).expect("a pattern").is_match(&line), "logged   {line}\nexpected {expected}");
}

#[test]
fn common_is_apaches_line() {
    let server = serve("common");
    server.get("/file.txt?a=b").is(200);
    assert_logged(&server, r#"127.0.0.1 - - TIME "GET /file.txt?a=b HTTP/1.1" 200 5"#);
}

#[test]
fn common_has_the_user_and_a_dash_for_no_bytes() {
    let server = serve("common");
    server.send(Request::new("HEAD", "/my?login")).is(200);
    assert_logged(&server, r#"127.0.0.1 - ana TIME "HEAD /my?login HTTP/1.1" 200 -"#);
}

#[test]
fn combined_is_apaches_line() {
    let server = serve("combined");
    let request = Request::get("/my").header("Referer", "http://a/\"quoted\"").header("User-Agent", "back\\slash\ttab");
    server.send(request).is(200);
    assert_logged(&server, r#"127.0.0.1 - - TIME "GET /my HTTP/1.1" 200 5 "http://a/\"quoted\"" "back\\slash\ttab""#);
}

#[test]
fn run_writes_the_access_log_in_the_format_of_the_command_line() {
    let app = "sub { [200, ['Content-Type', 'text/plain'], ['fine']] }";
    for (format, expected) in [("common", " \"GET /a HTTP/1.1\" 200 4\n"), ("%m %U %>s", "GET /a 200\n")] {
        let site = Site::new().file("app.psgi", app);
        let server = site.run(["--access-log", "access.log", "--log-format", format, "app.psgi"]);
        server.get("/a");
        until("the request is logged", || server.site.has("access.log") && !server.site.read("access.log").is_empty());
        let line = server.site.read("access.log");
        assert!(line.ends_with(expected), "{format}: {line}");
    }
    let site = Site::new().file("app.psgi", app);
    site.cameleer(["run", "--log-format", "common", "app.psgi"]).failed(2, "--access-log <FILE>");
}

#[test]
fn combined_has_dashes_for_what_is_missing() {
    let server = serve("combined");
    server.get("/none").is(404);
    let line = line(&server);
    assert!(line.contains("\" 404 ") && line.ends_with(r#" "-" "-""#), "{line}");
}

#[test]
fn a_client_cannot_forge_a_line_of_the_access_log() {
    let server = serve("combined");
    let mut connection = server.connect();
    connection.raw(b"GET /%22%0a HTTP/1.1\r\nHost: localhost\r\nReferer: a\tb\r\nUser-Agent: \xc3\xa9\" 1 \"\r\nConnection: close\r\n\r\n");
    connection.rest();
    let line = line(&server);
    assert!(line.contains(r#""GET /%22%0a HTTP/1.1" 404 "#), "{line}");
    assert!(line.ends_with(r#""a\tb" "\xc3\xa9\" 1 \"""#), "{line}");
}

#[test]
fn a_request_that_is_no_http_is_logged_as_the_400_that_it_got() {
    let server = serve("common");
    let mut connection = server.connect();
    connection.raw("nonsense\r\n\r\n");
    connection.rest();
    let line = line(&server);
    assert!(line.contains("\" 400 "), "{line}");
}

#[test]
fn log_format_directives_mean_the_same_as_in_httpd() {
    let server =
        serve(r#""%a|%A|%B|%b|%f|%H|%m|%p|%q|%r|%s|%>s|%U|%v|%V|%k|%X|%%|%{X-In}i|%{X-Out}o|%{cache}n|%{TENANT}e|%u""#);
    server.send(Request::get("/my/x?q=1").header("X-In", "i")).is(200);
    let port = server.site.port;
    let file = server.site.filled("@DIR@/htdocs/my/x");
    assert_eq!(
        line(&server),
        format!(
            "127.0.0.1|127.0.0.1|5|5|{file}|HTTP/1.1|GET|{port}|?q=1|GET /my/x?q=1 HTTP/1.1|200|200|/my/x|localhost|localhost|0|-|%|i|o|hit|acme|ana"
        )
    );
}

#[test]
fn times_sizes_and_processes_are_logged() {
    let server =
        serve(r#""%D %T %{ms}T %{us}T %I %O %P %{cameleer:worker}x %{cameleer:queue_us}x %{cameleer:cpu_us}x""#);
    server.get("/my").is(200);
    let line = line(&server);
    let numbers: Vec<f64> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
    assert_eq!(numbers.len(), 10, "{line}");
    assert!(numbers[0] > 0.0 && numbers[0] < 10e6, "%D: {line}");
    assert!(numbers[4] > 40.0 && numbers[5] > 100.0, "%I %O: {line}");
    let workers: Vec<i32> = server.workers().iter().map(|(pid, _)| *pid).collect();
    assert!(workers.contains(&(numbers[6] as i32)), "%P is a worker's: {line} {workers:?}");
}

#[test]
fn conditions_on_the_status_and_both_statuses_are_understood() {
    let server = serve(r#""%404{X-In}i %!200{X-In}i %!404{X-In}i %200,404{X-In}i %500{X-In}i %s""#);
    server.send(Request::get("/none").header("X-In", "seen")).is(404);
    assert_eq!(line(&server), "seen seen - seen - 404");
}

#[test]
fn bytes_are_counted_on_the_wire() {
    let server = serve(r#""%I %O""#);
    let mut connection = server.connect();
    let request = "GET /my HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    connection.raw(request);
    let received = connection.rest().len();
    assert_eq!(line(&server), format!("{} {received}", request.len()));
}

#[test]
fn percent_x_logs_the_state_of_the_connection() {
    let server = serve(r#""%X %U""#);
    server.connect().ask(Request::get("/my/kept"));
    server.get("/my/closed");
    until("both are logged", || server.site.read("access.log").lines().count() == 2);
    let mut lines: Vec<String> = server.site.read("access.log").lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["+ /my/kept", "- /my/closed"]);
}

#[test]
fn a_cookie_the_handler_and_the_length_are_logged() {
    let server = serve("\"%{two}C %{none}C %R %{Content-Length}o %{X}^ti\"");
    server.send(Request::get("/file.txt").header("Cookie", "one=1; two= 2 ;twos=3")).is(200);
    server.get("/my").is(200);
    until("both are logged", || server.site.read("access.log").lines().count() == 2);
    let log = server.site.read("access.log");
    let mut lines: Vec<&str> = log.lines().collect();
    lines.sort_unstable();
    assert!(lines.first().is_some_and(|line| line.starts_with("- - perl-script ")), "{log}");
    assert_eq!(lines.last(), Some(&"2 - - 5 -"), "{log}");
}

#[test]
fn the_condition_of_a_log_reads_the_variables_from_before_an_error_document() {
    let server = Site::new().file("htdocs/error.txt", "none").serve(
        "SetEnvIf Request_URI \\.gif$ image\nErrorDocument 404 /error.txt\n\
         CustomLog images.log \"%U %s\" env=image\nCustomLog others.log \"%U\" env=!image",
    );
    server.get("/none.gif").is(404);
    server.get("/error.txt").is(200);
    until("both are logged", || server.site.read("others.log") == "/error.txt\n");
    assert!(server.site.read("images.log").ends_with(" 404\n"));
}

#[test]
fn every_virtual_host_has_its_own_log() {
    let server = Site::new().file("htdocs/a", "x").serve(
        "CustomLog main.log common\n<VirtualHost *>\nServerName one\nDocumentRoot htdocs\nCustomLog one.log \"%v %U\"\n</VirtualHost>\n\
         <VirtualHost *>\nServerName two\nDocumentRoot htdocs\nCustomLog two.log \"%v %U\"\n</VirtualHost>",
    );
    server.send(Request::get("/a").header("Host", "two"));
    until("the request is logged", || server.site.read("two.log") == "two /a\n");
    assert_eq!(server.site.read("one.log"), "");
}

#[test]
fn a_piped_log_gets_the_lines_and_ends_with_the_server() {
    let mut server = serve("\"%U\"\nCustomLog \"|cat > @DIR@/piped.log\" \"piped %U\"");
    server.get("/file.txt");
    until("the program has the line", || server.site.read("piped.log") == "piped /file.txt\n");
    server.signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
    server.until_gone();
}

#[test]
fn the_output_of_a_piped_log_is_the_servers_and_is_whole_after_a_stop() {
    let mut server = serve("\"%U\"\nCustomLog \"|cat\" \"piped %U\"");
    for number in 0..200 {
        server.get(&format!("/{number}"));
    }
    server.signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
    let output = server.site.read("out.txt");
    let piped: Vec<&str> = output.lines().filter(|line| line.starts_with("piped /")).collect();
    let expected: Vec<String> = (0..200).map(|number| format!("piped /{number}")).collect();
    assert_eq!(piped, expected);
}

#[test]
fn the_standard_streams_have_names_although_they_cannot_be_opened() {
    let logs = "ErrorLog /dev/stderr\nCustomLog /dev/stdout \"out %U\"\nCustomLog /dev/stderr \"err %U\"\n";
    let site = Site::new().file("htdocs/file.txt", "x");
    site.configure(logs);
    // Sockets, as systemd's journal: open() fails for them.
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    ours.set_read_timeout(Some(patience())).expect("a timeout");
    let mut command = site.serve_command();
    command.stdout(OwnedFd::from(theirs.try_clone().expect("a descriptor"))).stderr(OwnedFd::from(theirs));
    let lines = BufReader::new(ours).lines().map_while(Result::ok);
    let mut child = command.spawn().expect("the server");
    drop(command);
    let mut lines = lines.inspect(|line| eprintln!("{line}"));
    assert!(lines.any(|line| line.starts_with("Cameleer serves ")));
    let get = || Connection::open(&site.address()).expect("a connection").ask(Request::get("/file.txt")).is(200);
    get();
    let mut both: Vec<String> = lines.by_ref().filter(|line| line.ends_with(" /file.txt")).take(2).collect();
    both.sort();
    assert_eq!(both, ["err /file.txt", "out /file.txt"]);
    site.cameleer(["reload", "--socket", &site.filled("@DIR@/control.sock")]).succeeded();
    get();
    assert_eq!(lines.filter(|line| line.ends_with(" /file.txt")).take(2).count(), 2, "after a reload");
    crate::support::signal(child.id() as i32, nix::sys::signal::Signal::SIGTERM);
    assert!(child.wait().expect("our own child").success());
}

#[test]
fn a_piped_log_that_ends_is_started_again() {
    let server = serve("\"%U\"\nCustomLog \"|head -n 1 >> @DIR@/piped.log\" \"piped %U\"");
    until("the second program has a line", || {
        server.get("/file.txt");
        server.site.read("piped.log").lines().count() > 1
    });
}

#[test]
fn error_lines_have_apaches_shape() {
    let server = Site::new().file("app.psgi", "sub { warn \"a warning\\n\"; die \"an error\\n\" }").run(["app.psgi"]);
    server.get("/path").is(500);
    let shape = Regex::new(r"^\[[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d\.\d{6} \d{4}\] \[\w+:(warn|error)\] \[pid \d+\] (\[client 127\.0\.0\.1(:\d+)?\] )?").expect("a pattern");
    for text in ["a warning", "an error"] {
        let line = server.logged(text);
        assert!(shape.is_match(&line), "{line}");
    }
}

#[test]
fn a_warning_of_several_lines_cannot_look_like_two_events() {
    let server = Site::new()
        .file("app.psgi", "sub { warn \"first\\n[Sat Nov 21 08:00:00 2026] [core:crit] forged\\n\"; [200, [], []] }")
        .run(["app.psgi"]);
    server.get("/");
    server.logged("first");
    assert!(
        !server.log().lines().any(|line| line.starts_with("[Sat Nov 21 08:00:00 2026] [core:crit]")),
        "{}",
        server.log()
    );
}

#[test]
fn log_level_is_the_least_important_line_that_is_written() {
    let levels = ["emerg", "alert", "crit", "error", "warn", "notice", "info", "debug"];
    let all = levels.map(|level| format!("$r->log->{level}('said as {level}');")).concat();
    for (most, level) in levels.iter().enumerate().skip(3) {
        let handler = format!("\"sub {{ my $r = shift; {all} $r->print('x'); 0 }}\"");
        let server = Site::new().serve(&format!(
            "LogLevel {level}\nPerlModule Apache::Log\n<Location />\nSetHandler perl-script\nPerlHandler {handler}\n</Location>"
        ));
        server.text("/");
        for (number, level_name) in levels.iter().enumerate() {
            let is_there = server.log().contains(&format!("said as {level_name}"));
            assert_eq!(is_there, number <= most, "LogLevel {level}: {level_name}\n{}", server.log());
        }
    }
}

#[test]
fn log_level_decides_what_is_written() {
    let quiet = Site::new().file("app.psgi", "sub { [200, [], []] }").run(["--log-level", "error", "app.psgi"]);
    quiet.get("/");
    assert!(!quiet.log().contains(":notice]"), "{}", quiet.log());
}
