//! `ErrorLog` and `LogLevel` of a virtual host.

use nix::sys::signal::Signal;

use crate::support::{Request, Server, Site, until};

fn serve() -> Server {
    Site::new()
        .file(
            "lib/My.pm",
            "package My;\nsub handler { my $r = shift; my $what = $r->args; warn \"warned of $what\\n\"; $r->log_error(\"logged $what\");\n\
             $r->warn(\"urgent $what\"); print STDERR \"printed $what\\n\"; system \"echo child of $what >&2\"; die \"died of $what\\n\" if $what =~ /die/;\n\
             $r->send_http_header('text/plain'); $r->print('ok'); 0 }\n1;\n",
        )
        .file("bad.psgi", "sub { [200, ['Content-Length' => 'much'], []] }")
        .serve(
            "MaxClients 1\nStartServers 1\nPerlLib lib\nPerlModule My\n<Location /perl>\nSetHandler perl-script\nPerlHandler My\n</Location>\n\
             <Location /bad>\nPsgiApp bad.psgi\n</Location>\n\
             <VirtualHost *>\nServerName main.example\n</VirtualHost>\n\
             <VirtualHost *>\nServerName own.example\nErrorLog own.log\nLogLevel error\n</VirtualHost>",
        )
}

#[track_caller]
fn ask(server: &Server, host: &str, path: &str) -> u16 {
    server.send(Request::get(path).header("Host", host)).status
}

/// Asserts that each line is in the log `here` and absent from the log `not`.
#[track_caller]
fn stands(server: &Server, lines: &[String], here: &str, not: &str) {
    for line in lines {
        until(&format!("{line:?} is in {here}"), || server.site.read(here).contains(line.as_str()));
        assert!(!server.site.read(not).contains(line.as_str()), "{line:?} is in {not}");
    }
}

fn lines_of(what: &str) -> Vec<String> {
    ["warned of", "logged", "printed", "child of"].map(|verb| format!("{verb} {what}")).to_vec()
}

#[test]
fn messages_of_a_request_go_to_the_log_of_its_host() {
    let server = serve();
    assert_eq!(ask(&server, "own.example", "/perl?own"), 200);
    assert_eq!(ask(&server, "main.example", "/perl?main"), 200);
    assert_eq!(ask(&server, "own.example", "/perl?own-die"), 500);
    stands(&server, &lines_of("own"), "own.log", "error.log");
    stands(&server, &["died of own-die".to_owned()], "own.log", "error.log");
    stands(&server, &lines_of("main"), "error.log", "own.log");
    stands(&server, &["urgent main".to_owned()], "error.log", "own.log");
    assert!(!server.site.read("own.log").contains("urgent own"), "LogLevel error leaves warnings out");
}

#[test]
fn errors_of_the_front_go_to_the_virtual_hosts_error_log() {
    let server = serve();
    for host in ["own.example", "main.example"] {
        assert_eq!(ask(&server, host, "/bad"), 500);
    }
    let line = ["/bad: Content-Length".to_owned()];
    until("the front has complained", || server.site.read("own.log").contains(&line[0]));
    until("and of the other", || server.site.read("error.log").contains(&line[0]));
    assert_eq!(server.site.read("own.log").matches(&line[0]).count(), 1);
}

#[test]
fn a_hosts_log_is_opened_anew() {
    let server = serve();
    assert_eq!(ask(&server, "own.example", "/perl?before"), 200);
    stands(&server, &lines_of("before"), "own.log", "error.log");
    std::fs::rename(server.site.path("own.log"), server.site.path("own.log.1")).expect("moved");
    server.signal(Signal::SIGUSR1);
    until("there is a new log", || server.site.has("own.log"));
    until("the worker writes to it", || {
        ask(&server, "own.example", "/perl?after");
        server.site.read("own.log").contains("warned of after")
    });
    assert_eq!(ask(&server, "main.example", "/perl?main"), 200);
    stands(&server, &lines_of("main"), "error.log", "own.log");
}
