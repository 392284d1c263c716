//! The processes that run CGI programs: which requests they answer, how many there are, and their ends.

use std::fs;

use nix::sys::signal::Signal;
use nix::unistd::getpgid;

use super::{URL, conf, runner, runners, serve};
use crate::support::{
    Connection, Load, Request, Server, Site, alive, children, eventually, name, own_memory, signal, until,
};

/// A program that prints the title of its parent process.
const PARENT: &str = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\ntr '\\000' ' ' < /proc/$PPID/cmdline\n";
/// A program that reports that it runs, and waits for the file `go`.
const WAITS: &str = "#!/bin/sh\necho $$ > @DIR@/runs\nuntil test -e @DIR@/go; do sleep 0.01; done\nprintf 'Content-Type: text/plain\\n\\ndone\\n'\n";
const MODULE: &str = "package My; use Apache (); sub ok { 0 } sub declines { -1 } \
    sub handler { my $r = shift; $r->send_http_header('text/plain'); print \"worker $$\"; 0 } \
    sub waits { my $r = shift; $r->send_http_header('text/plain'); open my $f, '>', '@DIR@/runs'; print $f $$; close $f; \
        select undef, undef, undef, 0.01 until -e '@DIR@/go'; print 'done'; 0 } 1;";
const PERL: &str = "PerlLib lib\nPerlModule My\n<Location /my>\nSetHandler perl-script\nPerlHandler My\n</Location>\n\
    <Location /waits>\nSetHandler perl-script\nPerlHandler My::waits\n</Location>\n";

fn site() -> Site {
    Site::new().script("scripts/test", PARENT).script("scripts/waits", WAITS).file("lib/My.pm", MODULE)
}

/// Sends a request for `target` that waits for the file `go`. Returns the connection when the program runs.
fn begin(server: &Server, target: &str) -> Connection {
    let mut connection = server.connect();
    connection.raw(format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    until("the program runs", || server.site.has("runs") && !server.site.read("runs").is_empty());
    connection
}

/// The process from which `runner` was forked.
fn parent(pid: i32) -> i32 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process runs");
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:")).expect("Linux has it");
    line.trim().parse().expect("a number")
}

#[test]
fn a_program_needs_no_worker_with_perl_and_a_handler_no_process_of_programs() {
    let server = site().serve(&format!("{}{PERL}", conf("")));
    let mut waiting = begin(&server, "/waits");
    assert!(server.text(URL).starts_with("cameleer: cgi 1"));
    server.site.write("go", "");
    assert_eq!(waiting.response().is(200).text(), "done");
    let server = site().serve(&format!("{}{PERL}", conf("")));
    let mut waiting = begin(&server, "/cgi/waits");
    assert!(server.text("/my").starts_with("worker "));
    server.site.write("go", "");
    assert_eq!(waiting.response().is(200).text(), "done\n");
}

#[test]
fn the_process_is_small_and_a_fork_of_one_without_perl() {
    let module = "package Large; our $large = join '', map { chr(65 + $_ % 26) } 1 .. 8_000_000; 1;";
    let server = site().file("lib/Large.pm", module).serve(&format!("{}PerlLib lib\nPerlModule Large\n", conf("")));
    server.text(URL);
    let runner = runner(&server);
    let mold = parent(runner);
    assert_eq!((name(runner).as_str(), name(mold).as_str()), ("cameleer: cgi 1", "cameleer: cgi"));
    assert_eq!(parent(mold), server.pid());
    for pid in [runner, mold] {
        let own = own_memory(pid);
        assert!(own < 4 << 20, "{} has {own} bytes", name(pid));
    }
}

#[test]
fn a_cgi_program_behind_perl_handlers_runs_in_a_worker_with_perl() {
    let place = |inside: &str| format!("{PERL}<Location /cgi>\n{inside}\n</Location>\n");
    for (conf_of_place, who) in [
        (place(""), "cgi"),
        (place("SetEnv A b\nRLimitCPU 100\nErrorDocument 404 /my"), "cgi"),
        (place("PerlSetVar A b\nPerlSetEnv A b\nPerlHandler My"), "cgi"),
        (place("PerlFixupHandler My::ok"), "worker"),
        (place("PerlAccessHandler My::ok"), "worker"),
        (place("PerlLogHandler My::ok"), "worker"),
        (place("PerlCleanupHandler My::ok"), "worker"),
        (format!("PerlTransHandler My::declines\n{}", place("")), "worker"),
        (format!("PerlPostReadRequestHandler My::declines\n{}", place("")), "worker"),
        (place("CgiMode fork"), "worker"),
        (place("CgiMode persistent"), "worker"),
    ] {
        let server = site().serve(&format!("{}{conf_of_place}", conf("")));
        let parent = server.text(URL);
        assert!(parent.starts_with(&format!("cameleer: {who}")), "{conf_of_place} {parent}");
    }
    let filter = "package My2; use base 'Apache2::Filter'; use Apache2::Const -compile => 'DECLINED'; \
        sub pass : FilterRequestHandler { Apache2::Const::DECLINED } 1;";
    for directive in ["PerlOutputFilterHandler My2::pass", "PerlInputFilterHandler My2::pass"] {
        let server = site().file("lib/My2.pm", filter).serve(&format!(
            "PerlGeneration 2\nPerlLib lib\nPerlModule My2\n{}<Location /cgi>\n{directive}\n</Location>\n",
            conf("")
        ));
        let parent = server.text(URL);
        assert!(parent.starts_with("cameleer: worker"), "{directive} {parent}");
    }
}

#[test]
fn a_request_that_perl_code_leads_to_a_program_stays_in_its_worker() {
    let lead = "package Lead; use Apache (); sub handler { shift->internal_redirect('/cgi/test'); 0 } 1;";
    let server = site().file("lib/Lead.pm", lead).serve(&format!(
        "{}PerlLib lib\nPerlModule Lead\n<Location /lead>\nSetHandler perl-script\nPerlHandler Lead\n</Location>\n",
        conf("")
    ));
    assert!(server.text("/lead").starts_with("cameleer: worker 0"));
    assert!(server.text(URL).starts_with("cameleer: cgi 1"));
}

#[test]
fn every_path_to_a_cgi_program_runs_it_in_a_cgi_process() {
    let server = site()
        .script("htdocs/a.cgi", PARENT)
        .script("htdocs/folder/index.cgi", PARENT)
        .script("scripts/on", "#!/bin/sh\nprintf 'Location: /cgi/test\\n\\n'\n")
        .file("htdocs/page.viewed", "")
        .serve(&format!(
            "{}AddHandler cgi-script .cgi\nOptions +ExecCGI\nDirectoryIndex index.cgi\n\
             AddHandler view .viewed\nAction view /cgi/test\nErrorDocument 404 /cgi/test\n\
             RewriteEngine On\nRewriteRule ^/rewritten$ /cgi/test [PT]\n",
            conf("")
        ));
    for target in ["/cgi/test", "/a.cgi", "/folder/", "/cgi/on", "/page.viewed", "/none", "/cgi/none", "/rewritten"] {
        let parent = server.get(target).text();
        assert!(parent.starts_with("cameleer: cgi 1"), "{target} {parent}");
    }
    assert!(server.post("/cgi/test", "a=b").is(200).text().starts_with("cameleer: cgi 1"));
}

#[test]
fn programs_that_only_a_htaccess_file_names_need_no_perl() {
    let htaccess = "Options +ExecCGI\nAddHandler cgi-script .cgi\n";
    for (inside, htaccess) in [
        ("AllowOverride All", htaccess),
        ("AllowOverride FileInfo Options=ExecCGI", htaccess),
        ("AllowOverride FileInfo\nOptions +ExecCGI", "<Files own.cgi>\nSetHandler cgi-script\n</Files>\n"),
    ] {
        let server = Site::new()
            .script("htdocs/own.cgi", PARENT)
            .file("htdocs/.htaccess", htaccess)
            .serve(&format!("<Directory @DIR@/htdocs>\n{inside}\n</Directory>\nStartServers 1\nMaxSpareServers 1\n"));
        let forks = || children(server.pid()).into_iter().filter(|pid| name(*pid) == "cameleer: cgi").count();
        until("the process that forks is there", || forks() == 1);
        assert_eq!(runners(&server), [], "nobody has asked for a program");
        for _ in 0..3 {
            assert!(server.text("/own.cgi").starts_with("cameleer: cgi "), "{inside}");
        }
    }
}

#[test]
fn more_processes_are_forked_when_a_htaccess_file_names_programs() {
    let server = Site::new()
        .script("htdocs/waits.cgi", WAITS)
        .file("htdocs/.htaccess", "Options +ExecCGI\nAddHandler cgi-script .cgi\n")
        .serve("<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n");
    let mut waiting: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for connection in &mut waiting {
        connection.raw("GET /waits.cgi HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    until("all run at once", || runners(&server).iter().filter(|(_, state)| state == "Busy").count() == 3);
    server.site.write("go", "");
    for connection in &mut waiting {
        assert_eq!(connection.response().is(200).text(), "done\n");
    }
}

#[test]
fn a_site_without_programs_has_no_such_process() {
    let htaccess = |inside: &str| format!("<Directory @DIR@/htdocs>\n{inside}\n</Directory>\n");
    for lines in [
        String::new(),
        "ScriptAlias /cgi/ @DIR@/scripts/\nCgiMode persistent\n".to_owned(),
        htaccess("AllowOverride None\nOptions +ExecCGI"),
        htaccess("AllowOverride FileInfo"),
        htaccess("AllowOverride FileInfo Options=Indexes"),
        htaccess("AllowOverride AuthConfig Limit Indexes Options\nOptions +ExecCGI"),
        format!("CgiMode fork\n{}", htaccess("AllowOverride All")),
    ] {
        let server = site().serve(&lines);
        until("workers are idle", || server.workers().iter().any(|(_, state)| state == "Idle"));
        let started = children(server.pid());
        assert!(started.iter().all(|pid| !name(*pid).contains("cgi")), "{lines}");
        assert!(runners(&server).is_empty());
    }
}

#[test]
fn cgi_processes_are_limited_and_further_requests_wait_in_order() {
    let server = site().serve(&conf("QueueTimeout 60s"));
    let mut first = begin(&server, "/cgi/waits");
    let mut others: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for (number, other) in others.iter_mut().enumerate() {
        other.raw(format!("GET {URL} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        until("the request waits", || server.status()["front"]["queued"] == number + 1);
    }
    assert_eq!(runners(&server).len(), 1);
    server.site.write("go", "");
    assert_eq!(first.response().is(200).text(), "done\n");
    for other in &mut others {
        assert!(other.response().is(200).text().starts_with("cameleer: cgi"));
    }
}

#[test]
fn a_request_that_waits_too_long_is_a_503() {
    let server = site().serve(&conf("QueueTimeout 100ms"));
    let mut first = begin(&server, "/cgi/waits");
    let refused = server.get(URL).is(503);
    assert!(refused.header("retry-after").is_some());
    server.site.write("go", "");
    assert_eq!(first.response().is(200).text(), "done\n");
}

#[test]
fn cgi_processes_are_forked_while_requests_wait() {
    let server = site().serve("ScriptAlias /cgi/ @DIR@/scripts/\nCgiMaxProcesses 8\n");
    let mut waiting: Vec<_> = (0..8).map(|_| server.connect()).collect();
    for connection in &mut waiting {
        connection.raw("GET /cgi/waits HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }
    until("all run at once", || runners(&server).iter().filter(|(_, state)| state == "Busy").count() == 8);
    server.site.write("go", "");
    for connection in &mut waiting {
        assert_eq!(connection.response().is(200).text(), "done\n");
    }
}

#[test]
fn a_killed_cgi_process_costs_its_own_request_and_is_replaced() {
    let server = site().serve("ScriptAlias /cgi/ @DIR@/scripts/\nCgiMaxProcesses 4\n");
    let mut lost = begin(&server, "/cgi/waits");
    let program: i32 = server.site.read("runs").trim().parse().expect("a pid");
    let busy = eventually("it is busy", || runners(&server).into_iter().find(|(_, state)| state == "Busy"));
    let mut other = server.connect();
    other.raw("GET /cgi/waits HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the other runs", || runners(&server).iter().filter(|(_, state)| state == "Busy").count() == 2);
    signal(busy.0, Signal::SIGKILL);
    assert_eq!(lost.head().status, 502);
    until("the program has ended", || !alive(program));
    server.site.write("go", "");
    assert_eq!(other.response().is(200).text(), "done\n");
    until("another has taken its place", || {
        let now = runners(&server);
        now.len() == 4 && now.iter().all(|(pid, state)| *pid != busy.0 && state == "Idle")
    });
}

#[test]
fn a_killed_mold_of_cgi_programs_is_replaced_and_no_request_fails() {
    let server = serve(PARENT);
    let (first, other) = (runner(&server), server.workers()[0].0);
    let mold = parent(first);
    signal(mold, Signal::SIGKILL);
    until("another mold is there", || {
        children(server.pid()).into_iter().any(|pid| pid != mold && name(pid) == "cameleer: cgi")
    });
    assert!(server.text(URL).starts_with("cameleer: cgi 1"));
    assert_eq!(runner(&server), first);
    signal(first, Signal::SIGKILL);
    until("the new one forks", || runners(&server).iter().any(|(pid, _)| ![0, first].contains(pid)));
    assert!(server.text(URL).starts_with("cameleer: cgi 1"));
    assert_eq!(server.workers()[0].0, other);
}

#[test]
fn reloads_under_load_lose_nothing() {
    let server = site().serve("ScriptAlias /cgi/ @DIR@/scripts/\nCgiMaxProcesses 4\nQueueStale 0\nQueueTimeout 300s\n");
    let load = Load::start(&server, 3, URL, |r| r.status == 200 && r.text().starts_with("cameleer: cgi"));
    for _ in 0..3 {
        load.until_answered(20);
        server.reload().succeeded();
    }
    load.until_answered(20);
    assert_eq!(load.failures(), Vec::<String>::new());
    until("the old generations have left", || {
        server.status()["generations"].as_array().is_some_and(|all| all.len() == 1)
    });
    let molds = children(server.pid()).into_iter().filter(|pid| name(*pid) == "cameleer: cgi");
    assert_eq!(molds.count(), 1);
}

#[test]
fn a_reload_and_a_stop_wait_for_the_program() {
    let mut server = site().serve(&conf(""));
    let mut waiting = begin(&server, "/cgi/waits");
    server.reload().succeeded();
    assert!(server.text(URL).starts_with("cameleer: cgi"));
    server.signal(Signal::SIGWINCH);
    until("the server accepts no more", || Connection::open(&server.address).is_err());
    server.site.write("go", "");
    assert_eq!(waiting.response().is(200).text(), "done\n");
    assert_eq!(server.wait(), 0);
}

#[test]
fn cgi_processes_outlive_their_front() {
    let server = site().serve(&conf(""));
    let mut lost = begin(&server, "/cgi/waits");
    let (front, before) = (server.front(), runner(&server));
    signal(front, Signal::SIGKILL);
    assert!(lost.try_rest().is_none_or(|rest| rest.is_empty()), "it has no response yet");
    server.site.write("go", "");
    let text = eventually("the next front answers", || {
        let mut connection = Connection::open(&server.address).ok()?;
        connection.try_ask(&Request::get(URL)).ok().filter(|response| response.status == 200)
    });
    assert!(text.text().starts_with("cameleer: cgi 1"));
    assert_eq!(runner(&server), before);
}

#[test]
fn the_end_of_the_master_ends_programs_too() {
    let mut server = site().serve(&conf(""));
    let _waiting = begin(&server, "/cgi/waits");
    let program: i32 = server.site.read("runs").trim().parse().expect("a pid");
    let (runner, mold) = (runner(&server), parent(runner(&server)));
    assert_ne!(getpgid(Some(nix::unistd::Pid::from_raw(program))), getpgid(Some(nix::unistd::Pid::from_raw(runner))));
    server.signal(Signal::SIGKILL);
    assert_eq!(server.wait(), -1);
    for pid in [program, runner, mold] {
        until("the process has ended", || !alive(pid));
    }
}

#[test]
fn one_process_runs_programs_by_itself() {
    let site = site();
    site.configure(&conf(""));
    let mut command = site.serve_command();
    command.arg("-X");
    let mut server = Server::start(site, command);
    assert!(server.text(URL).ends_with("-X "));
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
}

#[test]
fn the_status_lists_cgi_processes_and_a_refork_leaves_them_running() {
    let server = site().serve(&format!("{}{PERL}", conf("")));
    let before = runner(&server);
    for _ in 0..20 {
        server.text("/my");
        server.text(URL);
    }
    server.control(["refork"]).succeeded();
    assert_eq!(runner(&server), before);
    let status = server.status();
    let pools: Vec<_> =
        status["front"]["pools"].as_array().expect("a list").iter().map(|it| it["name"].clone()).collect();
    assert_eq!(pools, ["default", "cgi"]);
    let requests = |pool: &str| {
        let workers = status["front"]["workers"].as_array().expect("a list");
        workers.iter().filter(|it| it["pool"] == pool).filter_map(|it| it["requests"].as_u64()).sum::<u64>()
    };
    assert_eq!(requests("cgi"), 20);
    let shown = server.control(["status"]).succeeded().out;
    assert!(shown.contains("  pool cgi  no Perl  mold "), "{shown}");
}

#[test]
fn the_name_of_their_pool_is_taken() {
    let site = Site::new();
    site.configure("<WorkerPool cgi>\n</WorkerPool>\n<Location /x>\nPerlPool cgi\n</Location>\n");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "is the pool of CGI programs, which CgiMaxProcesses sizes");
    site.configure("CgiMaxProcesses none\n");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "CgiMaxProcesses: expected a number from 1 to 20000");
}
