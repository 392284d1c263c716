//! `PerlWarmup`, `PerlWarmupLog`: requests that the mold serves before it forks.

use std::collections::HashSet;

use nix::sys::stat::Mode;

use crate::support::{Connection, REGISTRY, Server, Site, of_site, own_memory, until};

/// Each path is an action that a warm-up may contain. `/both` responds when two processes have reached it.
const APP: &str = r#"use POSIX ();
sub { my $e = shift; my $path = $e->{PATH_INFO};
    open my $asked, '>>', '@DIR@/asked'; print $asked "$$ $path\n"; close $asked;
    require Lazy;
    if ($path eq '/both') {
        open my $seen, '>', "@DIR@/seen-$$";
        select undef, undef, undef, 0.01 until (() = glob '@DIR@/seen-*') >= 2;
    }
    if ($e->{CAMELEER_WARMUP}) {
        die "no such luck\n" if $path eq '/die';
        exit 3 if $path eq '/exit';
        POSIX::_exit(4) if $path eq '/_exit';
        kill SEGV => $$ if $path eq '/crash';
        sleep 1000 if $path eq '/hang';
        if ($path eq '/stuck') { POSIX::sigprocmask(POSIX::SIG_BLOCK(), POSIX::SigSet->new(1 .. 31, 34 .. 64)); sleep 1000 while 1 }
        if ($path eq '/once') { sleep 1000 if -e '@DIR@/locked'; open my $lock, '>', '@DIR@/locked' }
        fork // die if $path eq '/fork';
        $e->{'psgix.harakiri.commit'} = 1 if $path eq '/harakiri';
        srand 42 if $path eq '/srand';
    }
    [200, [], [$path eq '/rand' ? rand : $path eq '/mark' ? "$e->{CAMELEER_WARMUP}|$ENV{CAMELEER_WARMUP}" : "answer of $$"]] }"#;

const LAZY: &str = "package Lazy; open my $f, '>>', '@DIR@/loaded'; print $f \"$$\\n\"; close $f; 1;";

fn site() -> Site {
    Site::new().file("app.psgi", APP).file("lib/Lazy.pm", LAZY)
}

#[track_caller]
fn serve(conf: &str) -> Server {
    site().serve(&app(conf))
}

fn app(conf: &str) -> String {
    format!("\nLogLevel notice\nPerlLib lib\n<Location /app>\nPsgiApp app.psgi\n</Location>\n{conf}")
}

/// Sends two requests at the same time, one for each worker. Returns their responses.
fn ask_both(server: &Server, path: &str) -> [String; 2] {
    let mut both: [Connection; 2] = [server.connect(), server.connect()];
    both.iter_mut().for_each(|it| it.raw(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")));
    both.map(|mut it| it.response().is(200).text())
}

fn workers(server: &Server) -> HashSet<String> {
    server.workers().iter().map(|(pid, _)| pid.to_string()).collect()
}

#[test]
fn code_loaded_by_a_warm_up_is_loaded_by_no_worker() {
    let server = serve("PerlWarmup /app/a");
    let answers = ask_both(&server, "/app/both");
    assert_ne!(answers[0], answers[1], "two workers have answered");
    let loaded = server.site.read("loaded");
    let loaded: Vec<&str> = loaded.lines().collect();
    assert_eq!(loaded.len(), 2, "by the rehearsal and by the mold: {loaded:?}");
    assert!(loaded.iter().all(|pid| !workers(&server).contains(*pid)), "{loaded:?}");
    let log = server.logged("warmed");
    assert!(log.contains("gen=1 warmed requests=1 failed=0 ms="), "{log}");
}

#[test]
fn a_registry_script_is_compiled_before_the_fork() {
    let script = "BEGIN { open my $f, '>>', '@DIR@/compiled'; print $f \"$$\\n\" } print \"Content-Type: text/plain\\n\\nok $ENV{CAMELEER_WARMUP}\";";
    let server = Site::new()
        .script("scripts/test.pl", script)
        .serve(&format!("{REGISTRY}LogLevel notice\nStartServers 2\nMaxClients 2\nPerlWarmup /perl/test.pl?a=b"));
    (0..4).for_each(|_| assert_eq!(server.text("/perl/test.pl"), "ok "));
    let compiled = server.site.read("compiled");
    assert_eq!(compiled.lines().count(), 2, "{compiled}");
    assert!(compiled.lines().all(|pid| !workers(&server).contains(pid)), "{compiled}");
}

#[test]
fn the_request_of_a_warm_up_runs_every_phase_in_the_host_that_its_url_names() {
    let module = "package My; use Apache::Constants ':common';
        sub note { my ($phase, $r) = @_; open my $f, '>>', '@DIR@/phases'; my $c = $r->connection;
            print $f join(' ', $phase, $r->method, $r->uri, scalar $r->args, $r->hostname, $r->header_in('Host'), $c->remote_ip, $r->get_server_port, $ENV{CAMELEER_WARMUP}), \"\\n\"; OK }
        sub fixup { note(fixup => @_) } sub clean { note(cleanup => @_) } sub logged { note(log => @_) }
        sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print('phased'); note(handler => $r) } 1;";
    let server = Site::new().file("lib/My.pm", module).serve(
        "
        PerlLib lib
        <VirtualHost *:@PORT@>
        ServerName first.example
        </VirtualHost>
        <VirtualHost *:@PORT@>
        ServerName second.example
        <Location /my>
        SetHandler perl-script
        PerlHandler My
        PerlFixupHandler My::fixup
        PerlLogHandler My::logged
        PerlCleanupHandler My::clean
        </Location>
        </VirtualHost>
        PerlWarmup http://second.example/my/x?a=1
        ",
    );
    let port = server.site.port;
    let one = |phase: &str| format!("{phase} GET /my/x a=1 second.example second.example 127.0.0.1 {port} 1\n");
    let once = ["fixup", "handler", "log", "cleanup"].map(one).concat();
    assert_eq!(server.site.read("phases"), once.repeat(2), "{}", server.log());
}

#[test]
fn requests_of_a_warm_up_are_neither_counted_nor_logged() {
    let server = serve(
        "CustomLog access.log combined\nMaxRequestsPerChild 2\nMaxClients 1\nStartServers 1\nPerlWarmup /app/a /app/b /app/c",
    );
    let first = server.text("/app/x");
    assert_eq!(server.text("/app/mark"), "|", "the mark is gone");
    assert_ne!(server.text("/app/x"), first, "a worker has answered its two requests");
    assert_eq!(server.status()["front"]["worker_requests"], 3);
    until("three lines are written", || server.site.read("access.log").lines().count() == 3);
    assert!(!server.site.read("access.log").contains("/app/a"), "{}", server.site.read("access.log"));
}

#[test]
fn a_failed_warm_up_request_is_named_and_the_server_serves() {
    let server = serve("PerlWarmup /app/a\nPerlWarmup /app/die /app/exit\nPerlWarmup /none /app/z");
    assert!(server.text("/app/x").starts_with("answer"));
    let log = server.logged("GET /app/die: status");
    assert!(log.contains("site.conf:8: warm-up: GET /app/die: status 500"), "{log}");
    server.logged("[client 127.0.0.1:9] GET /app/die: no such luck");
    assert_eq!(server.log().matches("no such luck").count(), 1, "{}", server.log());
    server.logged("warm-up: GET /app/exit: status 500");
    server.logged("warm-up: GET /none: the URL is not answered by Perl");
    server.logged("warmed requests=5 failed=3");
}

#[test]
fn a_warm_up_request_that_ends_its_process_costs_only_itself() {
    let server = serve("PerlWarmup /app/a /app/crash /app/_exit /app/fork /app/z");
    assert!(server.text("/app/x").starts_with("answer"));
    server.logged("GET /app/crash: the request ended its process (SIGSEGV)");
    server.logged("GET /app/_exit: the request ended its process (exit code 4)");
    server.logged("warmed requests=5 failed=2");
    let requests = server.site.read("asked");
    let count = |path: &str| requests.lines().filter(|line| line.ends_with(path)).count();
    assert_eq!((count("/crash"), count("/a"), count("/z")), (1, 2, 2), "{requests}");
}

#[test]
fn a_warm_up_request_that_hangs_is_interrupted_or_killed() {
    let server = serve("RequestTimeout 2s\nRequestTimeoutGrace 1s\nPerlWarmup /app/hang /app/stuck /app/z");
    assert!(server.text("/app/x").starts_with("answer"));
    server.logged("GET /app/hang: status 504");
    server.logged("GET /app/stuck: the request took too long, and its process was killed");
    server.logged("warmed requests=3 failed=2");
}

#[test]
fn a_warm_up_request_that_hangs_only_in_the_mold_is_interrupted() {
    let server = serve("RequestTimeout 2s\nPerlWarmup /app/once /app/z");
    assert!(server.text("/app/x").starts_with("answer"));
    server.logged("GET /app/once: status 504");
    server.logged("warmed requests=2 failed=1");
}

#[test]
fn warm_up_requests_beyond_start_timeout_are_named_and_the_server_serves() {
    let server =
        serve("StartTimeout 12s\nRequestTimeoutGrace 0\nPerlWarmup /app/stuck /app/hang /app/stuck /app/hang /app/z");
    assert!(server.text("/app/x").starts_with("answer"));
    let log = server.logged("warmed requests=");
    let failed = log.split("failed=").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<u32>().ok());
    assert!(failed >= Some(1), "none may take more than half of what is left: {log}");
}

#[test]
fn a_request_after_which_a_worker_would_leave_is_left_out() {
    let server = serve("PerlWarmup /app/harakiri /app/z");
    server.logged("GET /app/harakiri: a worker would exit after the request");
    server.logged("warmed requests=2 failed=1");
    server.until_idle(2);
    let before = workers(&server);
    (0..4).for_each(|_| drop(server.text("/app/x")));
    assert_eq!(workers(&server), before, "nobody leaves because of it");
}

#[test]
fn workers_draw_numbers_of_their_own() {
    let server = serve("PerlWarmup /app/srand /app/rand");
    ask_both(&server, "/app/both");
    let drawn: HashSet<String> = ask_both(&server, "/app/rand").into_iter().collect();
    let again: HashSet<String> = ask_both(&server, "/app/rand").into_iter().collect();
    assert_eq!(drawn.union(&again).count(), 4, "{drawn:?} {again:?}");
}

#[test]
fn a_connection_of_dbi_is_closed_in_the_mold_and_each_worker_has_its_own() {
    let app = r#"use DBI; my $kept;
        sub { my $e = shift;
            $kept //= DBI->connect('dbi:SQLite:dbname=@DIR@/a.db', '', '', { RaiseError => 1, AutoCommit => 1 });
            my $cached = DBI->connect_cached('dbi:SQLite:dbname=@DIR@/b.db', '', '', { RaiseError => 1 });
            $cached->do('create table if not exists t (pid)');
            $kept->do('create table if not exists t (pid)');
            if ($e->{CAMELEER_WARMUP}) { $kept->begin_work }
            $kept->do('insert into t values (?)', {}, $$);
            [200, [], [join ' ', @{ $kept->selectcol_arrayref('select count(*) from t') }]] }"#;
    let server = Site::new()
        .file("app.psgi", app)
        .serve("<Location />\nPsgiApp app.psgi\n</Location>\nPerlWarmup /\nMaxClients 1\nStartServers 1");
    assert_eq!(server.text("/"), "1", "what the mold had begun is rolled back: {}", server.log());
    assert_eq!(server.text("/"), "2");
    let log = server.log();
    assert_eq!(log.matches("a warm-up request left a connection to \"dbi:SQLite:").count(), 1, "{log}");
    assert!(!log.contains("b.db"), "what connect_cached kept is forgotten: {log}");
    let open = |pid: i32| {
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("a process of ours");
        files
            .filter_map(|file| std::fs::read_link(file.ok()?.path()).ok())
            .filter(|name| name.ends_with("a.db"))
            .count()
    };
    let worker = server.workers()[0].0;
    let mold = std::fs::read_to_string(format!("/proc/{worker}/stat")).expect("a process of ours");
    let mold = mold.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)?.parse().ok()).expect("its parent");
    assert_eq!((open(mold), open(worker)), (0, 1));
}

#[test]
fn a_socket_that_a_warm_up_leaves_connected_is_named() {
    let app = "use IO::Socket::INET; my $line;
        sub { $line //= IO::Socket::INET->new('127.0.0.1:@PORT@') or die; [200, [], ['ok']] }";
    let server = Site::new().file("app.psgi", app).serve("<Location />\nPsgiApp app.psgi\n</Location>\nPerlWarmup /");
    server.logged(&format!("a warm-up request left a connection to 127.0.0.1:{} open", server.site.port));
    assert_eq!(server.text("/"), "ok");
}

#[test]
fn a_reload_warms_up_too() {
    let server = serve("PerlWarmup /app/a");
    server.reload().succeeded();
    server.logged("gen=2 warmed requests=1 failed=0");
    server.site.configure(&app("PerlWarmup /app/a /app/b"));
    server.reload().succeeded();
    server.logged("gen=3 warmed requests=2 failed=0");
}

#[test]
fn an_access_log_names_the_paths_that_perl_answers_most_often() {
    let line =
        |path: &str| format!("192.0.2.1 - - [21/Nov/2026:08:00:00 +0000] \"GET {path} HTTP/1.1\" 200 5 \"-\" \"x\"\n");
    let log =
        [line("/logo.png").repeat(9), line("/app/often?x").repeat(3), line("/app/twice").repeat(2), line("/app/once")];
    let site = site().file("old.log", &log.concat());
    let server = site.serve(&app("PerlWarmupLog old.log 2"));
    server.logged("warmed requests=2 failed=0");
    let requests = server.site.read("asked");
    let paths: HashSet<&str> = requests.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(paths, HashSet::from(["/often", "/twice"]));
}

#[test]
fn a_log_that_cannot_be_read_is_a_line_and_no_more() {
    let site = site().file("nonsense.log", "\u{1}\n\"GET\n\"\"\" 200\n");
    nix::unistd::mkfifo(&site.path("pipe.log"), Mode::S_IRWXU).expect("a pipe in TMPDIR");
    let lines = ["none.log", "pipe.log", "/dev/zero", "nonsense.log"].map(|name| format!("PerlWarmupLog {name} 5\n"));
    let server = site.serve(&app(&lines.concat()));
    assert!(server.text("/app/x").starts_with("answer"));
    server.logged("site.conf:7: PerlWarmupLog: ");
    server.logged("pipe.log: the path is a named pipe, not a file");
    server.logged("/dev/zero: the path is a device, not a file");
}

#[test]
fn check_names_a_url_that_cannot_be_requested() {
    let site = site();
    site.configure("\nPerlWarmup perl/a\nPerlWarmup http://nowhere.example/\nPerlWarmupLog a.log many\n");
    let output = site.cameleer(["check", "-f", "site.conf"]);
    assert_eq!(output.code, 78, "{output:?}");
    for what in [
        "site.conf:2: PerlWarmup: expected a URL path, got \"perl/a\"",
        "site.conf:4: PerlWarmupLog: expected a number from 1 to 1000",
    ] {
        assert!(output.err.contains(what), "{what}: {output:?}");
    }
    site.configure("\n\nPerlWarmup http://nowhere.example/\n");
    site.cameleer(["check", "-f", "site.conf"])
        .failed(78, "site.conf:3: PerlWarmup: no host has the name nowhere.example");
}

#[test]
fn memory_of_a_warm_up_is_shared_by_workers() {
    let app = "my $table; sub { $table //= [map { \"entry $_\" } 1 .. 200_000]; [200, [], [scalar @$table]] }";
    let private = |conf: &str| {
        let site = Site::new().file("app.psgi", app);
        let server =
            site.serve(&format!("MaxClients 1\nStartServers 1\n<Location />\nPsgiApp app.psgi\n</Location>\n{conf}"));
        assert_eq!(server.text("/"), "200000");
        own_memory(server.workers()[0].0)
    };
    let (cold, warm) = (private(""), private("PerlWarmup /"));
    assert!(warm + (10 << 20) < cold, "{warm} of {cold} bytes are its own");
}

#[test]
fn the_rehearsal_leaves_no_process_behind() {
    let server = serve("PerlWarmup /app/a /app/crash");
    let warms_up = |pid: &i32| {
        std::fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|name| name.contains("cameleer: warm-up"))
    };
    server.logged("warmed");
    until("no process warms up", || !of_site(server.site.folder()).iter().any(warms_up));
}

#[test]
fn a_warm_up_request_follows_indexes_and_redirects_as_a_clients_does() {
    let note = |name: &str| {
        format!("open my $f, '>>', '@DIR@/ran'; print $f \"{name} $$ $ENV{{CAMELEER_WARMUP}}\\n\"; close $f;")
    };
    let page = "print \"Content-Type: text/plain\\n\\nok\";";
    let compiled = "BEGIN { open my $f, '>>', '@DIR@/compiled'; print $f \"$$\\n\" }";
    let server = Site::new()
        .script("htdocs/idx/index.pl", &format!("#!/usr/bin/perl\n{}{page}", note("index")))
        .script("scripts/there.pl", &format!("{}{page}", note("there")))
        .script("scripts/led.pl", &format!("{} print \"Location: /perl/there.pl\\n\\n\";", note("led")))
        .script("forking/one.pl", &format!("{compiled}{}{page}", note("forked")))
        .file("htdocs/plain.txt", "a file")
        .serve(&format!(
            "{REGISTRY}LogLevel notice\nDirectoryIndex index.html index.pl\n
            ScriptAlias /forking/ @DIR@/forking/
            <Location /idx>
            AddHandler cgi-script .pl
            Options +ExecCGI
            </Location>
            <Location /forking>
            CgiMode fork
            </Location>
            <Location /closed>
            SetHandler perl-script
            PerlHandler Apache::Registry
            PerlAuthenHandler \"sub {{ 401 }}\"
            AuthType Basic
            AuthName closed
            Require valid-user
            </Location>
            PerlWarmup /idx/ /perl/led.pl /forking/one.pl /closed/x /plain.txt /perl/none.pl"
        ));
    server.logged("warmed requests=6 failed=3");
    for (target, why) in [
        ("/closed/x", "status 401"),
        ("/plain.txt", "the URL is not answered by Perl"),
        ("/perl/none.pl", "status 404"),
    ] {
        server.logged(&format!("GET {target}: {why}"));
    }
    let ran = server.site.read("ran");
    let names: Vec<&str> = ran.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["index", "led", "there", "forked"].repeat(2), "{ran}");
    assert!(ran.lines().all(|line| line.ends_with(" 1")), "{ran}");
    let before = server.site.read("compiled");
    assert_eq!(server.text("/forking/one.pl"), "ok");
    assert_eq!(server.site.read("compiled"), before, "the worker has it compiled");
}
