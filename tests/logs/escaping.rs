//! Clients' data where an administrator reads it: on a terminal, in a log, on a page.

use crate::support::{Connection, Request, Server, Site, eventually, until};

/// Control sequences: clear the screen, begin a line, reverse the text direction, and an eight-bit control character.
const HOSTILE: &str = "/%1b%5b2J%0aforged%e2%80%ae%c2%9b";

/// An application that answers `/wait…` as soon as the file `go` exists.
const WAITS: &str = "sub { my $env = shift; if ($env->{PATH_INFO} =~ m{^/wait}) { select undef, undef, undef, 0.01 until -e '@DIR@/go' } [200, [], ['ok']] }";

#[track_caller]
fn assert_harmless(text: &str) {
    let obeyed = |c: char| (c.is_control() && c != '\n' && c != '\t') || matches!(c, '\u{202a}'..='\u{202e}');
    assert!(!text.contains(obeyed), "{text:?}");
    assert!(!text.lines().any(|line| line.trim_start().starts_with("forged")), "{text:?}");
}

/// A connection for each path, whose request waits for its response.
#[track_caller]
fn busy(server: &Server, paths: &[String]) -> Vec<Connection> {
    let ask = |path: &String| {
        let mut connection = server.connect();
        connection.raw(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
        connection
    };
    let connections = paths.iter().map(ask).collect();
    until("all are being answered", || {
        server.workers().iter().filter(|(_, state)| state == "Busy").count() == paths.len()
    });
    connections
}

#[track_caller]
fn finish(server: &Server, connections: Vec<Connection>) {
    server.site.write("go", "");
    for mut connection in connections {
        connection.rest();
    }
}

#[test]
fn the_status_escapes_client_data() {
    let site = Site::new().file("app.psgi", WAITS);
    let server = site.run_with_one_worker(["app.psgi"]);
    let clients = busy(&server, &[format!("/wait{HOSTILE}")]);
    let table = server.control(["status"]).succeeded().out;
    assert_harmless(&table);
    assert!(table.contains("GET /wait/\\x1b[2J\\nforged\\u{202e}\\x9b"), "{table}");
    assert_harmless(&server.control(["status", "--json"]).succeeded().out);
    finish(&server, clients);
}

#[test]
fn many_workers_on_long_addresses_are_shown_all() {
    let site = Site::new().file("app.psgi", WAITS);
    let listen = format!("127.0.0.1:{}", site.port);
    let command = site.command(["run", "--workers", "32", "-l", &listen, "--error-log", "error.log", "app.psgi"]);
    let server = Server::start(site, command);
    server.until_idle(32);
    let long: Vec<String> = (0..32).map(|n| format!("/wait/{n}/{}", "%1b".repeat(2600))).collect();
    let clients = busy(&server, &long);
    let table = server.control(["status"]).succeeded().out;
    assert_eq!(table.matches("GET /wait/").count(), 32, "{table}");
    assert!(table.lines().all(|line| line.len() < 1200), "long ones are cut: {table}");
    finish(&server, clients);
}

#[test]
fn a_line_of_the_error_log_is_a_line_whatever_the_client_asks_for() {
    let server = Site::new()
        .file("app.psgi", "sub { warn 'odd: ', $_[0]{PATH_INFO}, $_[0]{HTTP_X_NAME}; [200, [], []] }")
        .run_with_one_worker(["app.psgi"]);
    server.send(Request::get(HOSTILE).header("X-Name", "\u{202e}\u{9b}")).is(200);
    let line = server.logged("odd: ");
    assert_harmless(&server.log());
    assert!(line.contains("\\nforged\\u{202e}"), "{line}");
}

#[test]
fn pages_about_the_server_escape_client_data() {
    let handler = "package Waits; sub handler { select undef, undef, undef, 0.01 until -e '@DIR@/go'; 0 }\n\
        package Asked; our $last; sub handler { my $r = shift; $last = $r->header_in('X-Name'); $r->send_http_header('text/plain'); 0 } 1;\n";
    let server = Site::new().file("lib/Waits.pm", handler).serve(
        "MaxClients 3\nStartServers 3\nMaxSpareServers 3\nPerlLib lib\nPerlModule Waits Apache::VMonitor Apache::Status\n\
         <Location /wait>\nSetHandler perl-script\nPerlHandler Waits\n</Location>\n\
         <Location /monitor>\nSetHandler perl-script\nPerlHandler Apache::VMonitor\n</Location>\n\
         <Location /perl-status>\nSetHandler perl-script\nPerlHandler Apache::Status\n</Location>",
    );
    server.until_idle(3);
    let clients = busy(&server, &[format!("/wait{HOSTILE}%3Cb%3E")]);
    let page = server.text("/monitor");
    assert_harmless(&page);
    assert!(page.contains("\\nforged") && !page.contains("<b>"), "{page}");
    let agent = Request::get("/perl-status?env").header("User-Agent", "a\u{202e}b<b>");
    let page = eventually("the page is there", || Some(server.send(agent.clone()).text()));
    assert_harmless(&page);
    assert!(page.contains("a\\x{202e}b&lt;b&gt;"), "{page}");
    finish(&server, clients);
}

#[test]
fn names_of_files_are_harmless_in_what_check_says() {
    let site = Site::new().file("conf/a\u{1b}[2J\u{202e}\nforged.conf", "Nonsense on\n");
    site.configure("Include conf/*.conf");
    let output = site.cameleer(["check", "-f", "site.conf"]);
    assert_ne!(output.code, 0);
    assert!(output.err.contains("Nonsense"), "{output:?}");
    assert_harmless(&output.err);
    let output = site.cameleer(["check", "--compat", "-f", "site.conf"]);
    assert_harmless(&(output.out + &output.err));
}
