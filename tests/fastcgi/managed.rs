//! FastCGI programs that the server starts: mod_fcgid.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::variable;
use crate::support::{Address, Connection, Load, Request, Server, Site, alive, eventually, free_port, until};

/// A program that answers with its pid, the number of its request, and its variables. Its query tells it to misbehave.
const COUNTER: &str = "#!/usr/bin/perl\nuse FCGI; my %env; my $n = 0;\n\
    my $request = FCGI::Request(\\*STDIN, \\*STDOUT, \\*STDERR, \\%env);\n\
    while ($request->Accept >= 0) { $n++; my $q = $env{QUERY_STRING};\n\
    exit 3 if $q eq 'exit'; kill 9, $$ if $q eq 'die'; sleep 1000 if $q eq 'hang';\n\
    my $body = ''; 1 while read STDIN, $body, 65536, length $body;\n\
    print STDERR \"said on stderr\\n\" if $q eq 'warn';\n\
    if ($q eq 'local') { print \"Location: /plain.txt\\n\\n\"; next }\n\
    if ($q eq 'deaf') { print \"Content-Type: text/plain\\n\\npid=$$\\n\"; $request->Finish; require POSIX; POSIX::close(0); sleep 1000 }\n\
    if ($q eq 'status') { print \"Status: 418 Tea\\n\" }\n\
    select undef, undef, undef, $1 if $q =~ /^sleep=(.*)/;\n\
    print \"Content-Type: text/plain\\n\\npid=$$\\nn=$n\\ninitial=$ENV{MINE}\\nbody=\", length $body, \"\\n\", map(\"$_=$env{$_}\\n\", sort keys %env) }\n";

const CONF: &str = "AddHandler fcgid-script .fcgi\nOptions +ExecCGI\nFrontThreads 1\n";

fn serve(conf: &str) -> Server {
    let site = Site::new()
        .script("htdocs/a.fcgi", COUNTER)
        .script("htdocs/b.fcgi", COUNTER)
        .file("htdocs/plain.txt", "a file");
    site.serve(&format!("{CONF}{conf}"))
}

fn pid(server: &Server, target: &str) -> i32 {
    let answer = server.text(target);
    variable(&answer, "pid").parse().unwrap_or_else(|_| panic!("{answer}"))
}

#[test]
fn a_program_stays_for_further_requests() {
    let server = serve("FcgidInitialEnv MINE yes\n");
    let first = server.text("/a.fcgi/more?x=1");
    let second = server.post("/a.fcgi", &"x".repeat(300_000)).is(200).text();
    assert_eq!(variable(&first, "pid"), variable(&second, "pid"));
    assert_eq!((variable(&first, "n"), variable(&second, "n")), ("1", "2"));
    assert_eq!((variable(&first, "PATH_INFO"), variable(&first, "QUERY_STRING")), ("/more", "x=1"));
    assert_eq!(variable(&first, "SCRIPT_FILENAME"), server.site.filled("@DIR@/htdocs/a.fcgi"));
    assert_eq!((variable(&first, "initial"), variable(&first, "MINE")), ("yes", "yes"));
    assert_eq!((variable(&second, "body"), variable(&second, "CONTENT_LENGTH")), ("300000", "300000"));
    assert_ne!(pid(&server, "/a.fcgi"), pid(&server, "/b.fcgi"));
}

#[test]
fn virtual_hosts_share_no_process() {
    let host = |name: &str| format!("<VirtualHost *>\nServerName {name}\nDocumentRoot @DIR@/htdocs\n</VirtualHost>\n");
    let server = serve(&(host("one.example") + &host("two.example")));
    let pid_of = |name: &str| {
        let answer = server.send(Request::get("/a.fcgi").header("Host", name)).text();
        variable(&answer, "pid").to_owned()
    };
    let (one, two) = (pid_of("one.example"), pid_of("two.example"));
    assert!(one != "-" && two != "-" && one != two, "{one} {two}");
    assert_eq!([pid_of("one.example"), pid_of("two.example")], [one, two]);
}

#[test]
fn its_output_is_that_of_a_cgi_program() {
    let server = serve("");
    assert_eq!(server.get("/a.fcgi?status").status, 418);
    assert_eq!(server.text("/a.fcgi?local"), "a file");
    assert_eq!(server.get("/a.fcgi?warn").status, 200);
    server.logged("said on stderr");
    assert_eq!(server.get("/missing.fcgi").status, 404);
    let refused = Site::new().script("htdocs/a.fcgi", COUNTER).serve("AddHandler fcgid-script .fcgi\n");
    assert_eq!(refused.get("/a.fcgi").status, 403);
    refused.logged("Options ExecCGI is off here");
}

#[test]
fn fcgid_max_processes_per_class_bounds_the_processes() {
    let server = serve("FcgidMaxProcessesPerClass 2\n");
    let server = &server;
    let mut pids: Vec<i32> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..8).map(|_| scope.spawn(move || pid(server, "/a.fcgi?sleep=0.2"))).collect();
        clients.into_iter().map(|client| client.join().expect("an answer")).collect()
    });
    pids.sort_unstable();
    pids.dedup();
    assert!((1..=2).contains(&pids.len()), "{pids:?}");
}

#[test]
fn an_idle_process_of_another_program_gives_way() {
    let server = serve("FcgidMaxProcesses 1\n");
    let first = pid(&server, "/a.fcgi");
    let second = pid(&server, "/b.fcgi");
    until("the first has ended", || !alive(first));
    assert_ne!(second, pid(&server, "/a.fcgi"));
}

#[test]
fn processes_end_by_requests_and_idleness() {
    let server = serve("FcgidMaxRequestsPerProcess 2\n");
    let pids: Vec<i32> = (0..4).map(|_| pid(&server, "/a.fcgi")).collect();
    assert_eq!((pids[0], pids[2]), (pids[1], pids[3]), "{pids:?}");
    assert_ne!(pids[0], pids[2]);
    until("the first has ended", || !alive(pids[0]));
    let server = serve("FcgidIdleTimeout 1\nFcgidMinProcessesPerClass 0\n");
    let first = pid(&server, "/a.fcgi");
    until("the idle process has ended", || !alive(first));
    assert_ne!(pid(&server, "/a.fcgi"), first);
}

#[test]
fn a_changed_file_gets_a_new_process() {
    let server = serve("");
    let first = pid(&server, "/a.fcgi");
    server.site.write("htdocs/a.fcgi", &COUNTER.replace("pid=$$", "new=1\\npid=$$"));
    let answer = server.text("/a.fcgi");
    assert_eq!(variable(&answer, "new"), "1", "{answer}");
    until("the old one has ended", || !alive(first));
}

#[test]
fn a_program_that_dies_costs_its_own_request_alone() {
    let server = serve("");
    for query in ["die", "exit"] {
        assert_eq!(server.get("/a.fcgi").status, 200);
        // A used process that ends is replaced once, and the new one ends as well.
        assert_eq!(server.get(&format!("/a.fcgi?{query}")).status, 500);
        let line = server.logged("the FastCGI program ended before it sent a byte");
        assert!(line.contains("a.fcgi"), "{line}");
    }
    assert_eq!(server.get("/a.fcgi").status, 200);
}

#[test]
fn a_process_that_accepts_no_more_connections_is_replaced() {
    let server = serve("");
    let deaf = pid(&server, "/a.fcgi?deaf");
    assert_ne!(pid(&server, "/a.fcgi"), deaf);
}

#[test]
fn a_program_that_hangs_is_ended() {
    let server = serve("FcgidIOTimeout 1\n");
    let first = pid(&server, "/a.fcgi");
    assert_eq!(server.get("/a.fcgi?hang").status, 504);
    server.logged("neither took nor sent a byte for FcgidIOTimeout");
    until("the process has ended", || !alive(first));
    let server = serve("FcgidBusyTimeout 1\n");
    assert_eq!(server.get("/a.fcgi?hang").status, 504);
    server.logged("FcgidBusyTimeout");
    assert_eq!(server.get("/a.fcgi").status, 200);
}

#[test]
fn a_wrapper_answers_for_its_scripts() {
    let server = Site::new()
        .script("wrapper", &COUNTER.replace("pid=$$", "wrapped=@ARGV\\npid=$$"))
        .file("htdocs/x.foo", "no program")
        .file("htdocs/y.foo", "no program")
        .serve(
            "AddHandler fcgid-script .foo\nOptions +ExecCGI\nFcgidWrapper \"@DIR@/wrapper -a b\" .foo\nFcgidMaxRequestLen 1000\n\
             FcgidPassHeader Authorization\n",
        );
    let (x, y) = (server.text("/x.foo"), server.text("/y.foo"));
    assert_eq!(variable(&x, "wrapped"), "-a b", "{x}");
    assert_eq!(variable(&x, "pid"), variable(&y, "pid"));
    assert_eq!(variable(&y, "SCRIPT_NAME"), "/y.foo");
    assert_eq!(server.get("/missing.foo").status, 404);
    assert_eq!(server.post("/x.foo", &"x".repeat(1001)).status, 413);
    let answer = server.send(Request::get("/x.foo").header("Authorization", "Basic eTp6")).text();
    assert_eq!(variable(&answer, "HTTP_AUTHORIZATION"), "Basic eTp6");
}

#[test]
fn a_program_that_cannot_be_executed_is_500_with_the_reason() {
    let server = Site::new().script("htdocs/a.fcgi", "#!/no/such/interpreter\n").serve(CONF);
    assert_eq!(server.get("/a.fcgi").status, 500);
    server.logged("the first line names a missing interpreter: /no/such/interpreter");
}

#[test]
fn a_reload_loses_no_request_and_leaves_no_process() {
    let server = serve("");
    let before = pid(&server, "/a.fcgi");
    let load =
        Load::start(&server, 3, "/a.fcgi?sleep=0.02", |answer| answer.status == 200 && answer.text().contains("pid="));
    load.until_answered(10);
    server.reload().succeeded();
    load.until_answered(20);
    let failures = load.failures();
    assert!(failures.is_empty(), "{failures:?}");
    until("the programs of the old generation have ended", || !alive(before));
    let now = pid(&server, "/a.fcgi");
    drop(server);
    until("the programs end with the server", || !alive(now));
}

#[test]
fn cgi_fast_and_plack_are_served() {
    let fast = "#!/usr/bin/perl\nuse CGI::Fast; while (my $q = CGI::Fast->new) { $n++; print $q->header('text/plain'), \"n=$n\\na=\", scalar $q->param('a'), \"\\n\" }\n";
    let plack = "#!/usr/bin/perl\nuse Plack::Handler::FCGI; use Plack::Request; my $n;\n\
        Plack::Handler::FCGI->new->run(sub { my $r = Plack::Request->new(shift); $n++;\n\
        [200, ['Content-Type' => 'text/plain'], [\"n=$n\\na=\" . $r->param('a') . \"\\npath=\" . $r->path_info . \"\\n\"]] });\n";
    let dancer = "#!/usr/bin/perl\npackage App; use Dancer2; get '/hello/:name' => sub { 'hello ' . route_parameters->get('name') };\n\
        package main; use Plack::Handler::FCGI; Plack::Handler::FCGI->new->run(App->to_app);\n";
    let server = Site::new()
        .script("htdocs/fast.fcgi", fast)
        .script("htdocs/plack.fcgi", plack)
        .script("htdocs/dispatch.fcgi", dancer)
        .serve(CONF);
    for number in ["1", "2"] {
        let answer = server.post("/fast.fcgi", "a=b").is(200).text();
        assert_eq!((variable(&answer, "n"), variable(&answer, "a")), (number, "b"), "{answer}");
        let answer = server.text("/plack.fcgi/x/y?a=c");
        assert_eq!((variable(&answer, "n"), variable(&answer, "a")), (number, "c"), "{answer}");
        assert_eq!(variable(&answer, "path"), "/x/y");
    }
    assert_eq!(server.text("/dispatch.fcgi/hello/world"), "hello world");
}

#[test]
fn the_process_list_shows_the_programs() {
    let server = serve("");
    let first = pid(&server, "/a.fcgi");
    let title = || {
        let status = std::fs::read_to_string(format!("/proc/{first}/status")).unwrap_or_default();
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap_or_default().trim().to_owned();
        std::fs::read_to_string(format!("/proc/{parent}/cmdline")).unwrap_or_default()
    };
    until("the manager shows its program", || title().starts_with("cameleer: fcgid (1 programs, 0 busy)"));
}

#[test]
fn the_status_has_each_program_with_its_processes() {
    let port = free_port();
    let server = serve(&format!("AdminListen 127.0.0.1:{port}\nServerName www.example\n"));
    assert!(server.status()["programs"].is_null(), "nothing has run");
    let first = pid(&server, "/a.fcgi");
    assert_eq!(pid(&server, "/a.fcgi"), first);
    let program = |name: &str| {
        let all = server.status()["programs"].as_array().cloned().unwrap_or_default();
        all.into_iter().find(|program| program["file"].as_str().is_some_and(|file| file.ends_with(name)))
    };
    let settled = |name: &'static str, requests: u64, processes: usize| {
        eventually(&format!("{name} is in the status"), || {
            let program = program(name)?;
            let has = program["processes"].as_array().map_or(0, Vec::len);
            (program["requests"] == requests && has == processes).then_some(program)
        })
    };
    let a = settled("/a.fcgi", 2, 1);
    assert_eq!(
        (&a["host_name"], &a["started"], &a["failed"], &a["waiting"]),
        (&json!("www.example"), &json!(1), &json!(0), &json!(0))
    );
    let process = &a["processes"][0];
    assert_eq!((&process["pid"], &process["state"], &process["requests"]), (&json!(first), &json!("idle"), &json!(2)));
    assert!(process["memory"].as_u64().is_some_and(|bytes| bytes > 1 << 20), "{process}");
    let table = server.control(["status"]).succeeded().out;
    let line = table
        .lines()
        .find(|line| line.starts_with("fastcgi") && line.contains("/a.fcgi"))
        .unwrap_or_else(|| panic!("{table}"));
    assert!(line.ends_with("1 processes, 0 busy, 0 queued  2 requests  1 started, 0 ended by themselves"), "{line}");
    assert!(table.contains(&format!("  pid {first:>7}  idle  ")), "{table}");
    until("the metrics have the program", || {
        let mut connection = Connection::open(&Address::Tcp(port)).expect("the monitor listens");
        let text =
            connection.try_ask(&Request::get("/metrics").header("Connection", "close")).expect("an answer").text();
        let labels = format!("{{host=\"www.example\",program=\"{}\"", server.site.filled("@DIR@/htdocs/a.fcgi"));
        text.contains(&format!("cameleer_fastcgi_processes{labels},state=\"idle\"}} 1"))
            && text.contains(&format!("cameleer_fastcgi_requests_total{labels}}} 2"))
    });
    kill(Pid::from_raw(first), Signal::SIGKILL).expect("it runs");
    let a = settled("/a.fcgi", 2, 0);
    assert_eq!((&a["started"], &a["failed"]), (&json!(1), &json!(1)));
    let mut client = server.connect();
    client.raw("GET /a.fcgi?hang HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let busy = eventually("a process is busy", || {
        let it = program("/a.fcgi").filter(|it| it["processes"][0]["state"] == "busy" && it["started"] == 2)?;
        it["processes"][0]["busy_ms"].as_u64().filter(|ms| *ms > 0).map(|_| it)
    });
    let process = &busy["processes"][0];
    assert_eq!(process["request"], "GET /a.fcgi", "the query is not shown: {process}");
    let table = server.control(["status"]).succeeded().out;
    assert!(table.lines().any(|line| line.contains("  busy  ") && line.ends_with(" GET /a.fcgi")), "{table}");
}

#[test]
fn a_htaccess_file_may_make_files_programs_that_stay() {
    let server = Site::new()
        .script("htdocs/own/a.fcgi", COUNTER)
        .file("htdocs/own/.htaccess", "AddHandler fcgid-script .fcgi\n")
        .serve("FrontThreads 1\n<Directory @DIR@/htdocs>\nOptions +ExecCGI\nAllowOverride FileInfo\n</Directory>\n");
    let first = server.text("/own/a.fcgi");
    let second = server.text("/own/a.fcgi");
    assert_eq!((variable(&first, "n"), variable(&second, "n")), ("1", "2"), "{second}");
    assert_eq!(variable(&first, "pid"), variable(&second, "pid"));
}

#[test]
fn a_slow_request_shows_the_time_of_the_program_and_the_log_its_pid() {
    let server = serve("SlowLog 500ms\nFcgidIOTimeout 2\nFcgidMaxProcessesPerClass 1\n");
    let first = pid(&server, "/a.fcgi");
    assert_eq!(server.get("/a.fcgi?hang").status, 504);
    let line = server.logged("neither took nor sent a byte for FcgidIOTimeout");
    assert!(line.contains(&format!("(pid {first})")), "{line}");
    until("the request is in the slow log", || {
        let shown = server.control(["why", "/a.fcgi"]).succeeded().out;
        shown.lines().any(|line| line.trim_start().starts_with("phases ") && line.contains("FastCGI program "))
    });
}
