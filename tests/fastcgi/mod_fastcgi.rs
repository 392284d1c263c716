//! Programs and applications that a file name stands for: mod_fastcgi.

use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::{DUMP, Program, listening, variable};
use crate::support::{Request, Server, Site, alive, eventually, until};

/// A program that answers with its pid and variables, and ends if the query is `exit`.
const PROGRAM: &str = "#!/usr/bin/env perl\nuse FCGI; my %env;\n\
    my $request = FCGI::Request(\\*STDIN, \\*STDOUT, \\*STDERR, \\%env);\n\
    while ($request->Accept >= 0) { exit 3 if $env{QUERY_STRING} eq 'exit';\n\
    print \"Content-Type: text/plain\\n\\npid=$$\\ninitial=$ENV{MINE}\\n\", map(\"$_=$env{$_}\\n\", sort keys %env) }\n";

fn serve(conf: &str) -> Server {
    Site::new().script("app/s.fcgi", PROGRAM).serve(&format!("FrontThreads 1\nAlias /app @DIR@/app/s.fcgi\n{conf}"))
}

/// The program as the status shows it, once so many of its processes run.
fn program(server: &Server, processes: usize) -> Value {
    eventually(&format!("{processes} processes run"), || {
        let program = server.status()["programs"][0].clone();
        (program["processes"].as_array().map(Vec::len) == Some(processes)).then_some(program)
    })
}

fn pids(program: &Value) -> Vec<i32> {
    let processes = program["processes"].as_array().into_iter().flatten();
    processes.filter_map(|process| process["pid"].as_i64()?.try_into().ok()).collect()
}

#[test]
fn a_static_program_runs_before_the_first_request_and_without_exec_cgi() {
    let server = serve(
        "<Location /app>\nSetHandler cgi-script\n</Location>\n\
         FastCgiServer @DIR@/app//s.fcgi -processes 2 -init-start-delay 0 -initial-env MINE=yes -idle-timeout 20 -flush\n",
    );
    let pids = pids(&program(&server, 2));
    let answer = server.text("/app/more?x=1");
    assert!(pids.contains(&variable(&answer, "pid").parse().expect("a number")), "{pids:?} {answer}");
    assert_eq!((variable(&answer, "initial"), variable(&answer, "MINE")), ("yes", "-"), "{answer}");
    assert_eq!((variable(&answer, "SCRIPT_NAME"), variable(&answer, "PATH_INFO")), ("/app", "/more"), "{answer}");
    let request = Request::get("/app").header("Authorization", "Basic eTp6").header("X-Own", "1");
    let answer = server.send(request).is(200).text();
    assert_eq!((variable(&answer, "HTTP_AUTHORIZATION"), variable(&answer, "X-Own")), ("-", "-"), "{answer}");
}

#[test]
fn hosts_share_the_static_program_of_the_main_server() {
    let host = "<VirtualHost *>\nServerName two.example\n</VirtualHost>\n";
    let server =
        serve(&format!("FastCgiServer @DIR@/app/s.fcgi -pass-header Authorization -pass-header X-Own\n{host}"));
    let pids = pids(&program(&server, 1));
    for host in ["localhost", "two.example"] {
        let request = Request::get("/app").header("Host", host).header("Authorization", "Basic eTp6");
        let answer = server.send(request.header("X-Own", "1")).is(200).text();
        assert_eq!(variable(&answer, "pid"), pids[0].to_string(), "{answer}");
        assert_eq!((variable(&answer, "HTTP_AUTHORIZATION"), variable(&answer, "X-Own")), ("Basic eTp6", "1"));
    }
}

#[test]
fn a_static_process_that_ends_is_replaced() {
    let server = serve("FastCgiServer @DIR@/app/s.fcgi -restart-delay 0\n");
    let first = pids(&program(&server, 1))[0];
    server.text("/app");
    kill(Pid::from_raw(first), Signal::SIGKILL).expect("it runs");
    until("another one runs", || pids(&server.status()["programs"][0]).iter().any(|pid| *pid != first));
    assert_eq!(server.get("/app").status, 200);
    let second = pids(&program(&server, 1))[0];
    drop(server);
    until("the program ends with the server", || !alive(second));
}

#[test]
fn a_static_program_that_ends_at_once_is_not_started_for_ever() {
    let server = Site::new()
        .script("app/s.fcgi", "#!/bin/sh\nexit 1\n")
        .serve("Alias /app @DIR@/app/s.fcgi\nFastCgiServer @DIR@/app/s.fcgi -restart-delay 0\n");
    let line = server.logged("processes end before they answer a request; the next one starts in 600 s");
    assert!(line.contains("s.fcgi: FastCgiServer"), "{line}");
    assert_eq!(server.get("/app").status, 500);
    server.logged("no process runs, because all end at once");
    until("the status has the starts", || server.status()["programs"][0]["started"] == 3);
}

/// A server beside the program that answers with its variables, at `/run/app.sock` of the site.
fn beside_dump(conf: &str) -> (Server, Program) {
    let site = Site::new().file("dump.pl", DUMP).file("htdocs/x.php", "secret").file("run/empty", "");
    let socket = site.path("run/app.sock");
    let program = Program::start(Command::new("perl").arg(site.path("dump.pl")).arg(&socket));
    listening(&socket);
    (site.serve(conf), program)
}

#[test]
fn an_action_leads_to_an_external_application() {
    let (server, _program) = beside_dump(
        "AddHandler php5-fcgi .php\nAction php5-fcgi /php5-fcgi\nAlias /php5-fcgi @DIR@/cgi-bin/php5-fcgi\n\
         FastCgiIpcDir @DIR@/run\n\
         FastCgiExternalServer @DIR@/cgi-bin/php5-fcgi -socket app.sock -pass-header Authorization\n",
    );
    let answer = server.send(Request::get("/x.php?q=1").header("Authorization", "Basic eTp6")).is(200).text();
    let got = |name| variable(&answer, name);
    assert_eq!((got("SCRIPT_NAME"), got("PATH_INFO")), ("/php5-fcgi", "/x.php"), "{answer}");
    assert_eq!(got("SCRIPT_FILENAME"), server.site.filled("@DIR@/cgi-bin/php5-fcgi"), "{answer}");
    assert_eq!(got("PATH_TRANSLATED"), server.site.filled("@DIR@/htdocs/x.php"), "{answer}");
    assert_eq!((got("REDIRECT_URL"), got("REDIRECT_HANDLER")), ("/x.php", "php5-fcgi"), "{answer}");
    assert_eq!((got("QUERY_STRING"), got("REQUEST_URI")), ("q=1", "/x.php?q=1"), "{answer}");
    assert_eq!((got("Authorization"), got("HTTP_AUTHORIZATION")), ("Basic eTp6", "Basic eTp6"), "{answer}");
    assert_eq!(server.get("/missing.php").status, 404);
}

#[test]
fn an_external_application_has_paths_below_an_alias_and_its_timeouts() {
    let (server, _program) = beside_dump(
        "Alias / @DIR@/app.fcgi/\nFastCgiExternalServer @DIR@/app.fcgi -socket @DIR@/run/app.sock -idle-timeout 60\n\
         <Location /closed>\nRequire all denied\n</Location>\n",
    );
    let answer = server.text("/a/b?c");
    assert_eq!((variable(&answer, "SCRIPT_NAME"), variable(&answer, "PATH_INFO")), ("", "/a/b"), "{answer}");
    assert_eq!(server.get("/closed").status, 403);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("our own socket").port();
    let server = Site::new().serve(&format!(
        "Alias /x @DIR@/x\nFastCgiExternalServer @DIR@/x -host 127.0.0.1:{port} -idle-timeout 1 -appConnTimeout 5\n"
    ));
    assert_eq!(server.get("/x").status, 504);
    drop(silent);
    assert_eq!(server.get("/x").status, 503);
}

#[test]
fn wrong_lines_of_mod_fastcgi_are_errors_with_their_place() {
    for (line, message) in [
        ("FastCgiServer s.fcgi -processes 0", "expected a number from 1 to 10000 behind -processes, got \"0\""),
        ("FastCgiServer s.fcgi -what", "unknown option \"-what\""),
        ("FastCgiServer s.fcgi -processes", "expected a value behind -processes"),
        ("FastCgiServer s.fcgi -user www", "-user www: FastCGI programs run as the server's User"),
        ("FastCgiServer s.fcgi\nFastCgiServer ./s.fcgi", "has a FastCgiServer or FastCgiExternalServer already"),
        ("FastCgiExternalServer x -flush", "expected the address of the application"),
        ("FastCgiExternalServer x -host localhost", "expected name:port behind -host, got \"localhost\""),
        ("FastCgiExternalServer x -host a:1 -socket b", "expected one of -host and -socket, got two"),
        ("FastCgiExternalServer x -host a:1 -pass-header Proxy", "expected the name of a header field, not Proxy"),
        ("FastCgiWrapper On", "expected Off, got \"On\": FastCGI programs run as the server's User"),
    ] {
        let site = Site::new();
        site.configure(line);
        site.cameleer(["check", "-f", "site.conf"]).failed(78, message);
    }
}

#[test]
fn a_check_warns_of_open_folders_and_missing_programs() {
    let site = Site::new();
    site.configure(
        "FastCgiExternalServer @DIR@/x -socket /tmp/app.sock\nFastCgiServer @DIR@/missing.fcgi -port 9000\n\
         FastCgiConfig -maxProcesses 10 -maxClassProcesses 4 -gainValue 0.5 -autoUpdate -initial-env A=b\n",
    );
    let checked = site.cameleer(["check", "-f", "site.conf"]).succeeded();
    let text = checked.out + &checked.err;
    for message in [
        "FastCgiExternalServer: /tmp/app.sock: all users may write to /tmp",
        "missing.fcgi: No such file or directory",
        "FastCgiServer: -port has no effect, because each process has a private socket",
    ] {
        assert!(text.contains(message), "{message}\n{text}");
    }
}
