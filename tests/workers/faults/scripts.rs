//! Misbehaving programs, which must affect only their own request.

use super::{HANGS, serve};
use crate::support::{Request, Server, Site, alive, until};

#[test]
fn a_segfault_costs_its_own_request() {
    let server = serve("sub { unpack \"p\", pack \"J\", 1 if $_[0]{PATH_INFO} eq '/crash'; [200, [], ['ok']] }", "");
    server.get("/crash").is(502);
    assert_eq!(server.text("/"), "ok");
    server.logged("signal=11");
}

#[test]
fn a_crash_in_mid_response_is_visibly_cut_short() {
    let server = serve("sub { sub { my $w = $_[0]->([200, []]); $w->write('begun'); kill KILL => $$ } }", "");
    let mut connection = server.connect();
    connection.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    connection.head();
    let rest = String::from_utf8_lossy(&connection.rest()).into_owned();
    assert!(!rest.contains("\r\n0\r\n\r\n"), "{rest:?}");
}

#[test]
fn an_endless_loop_is_a_504_and_its_worker_is_killed() {
    let server = serve(HANGS, "<Location /hang>\nRequestTimeout 500ms\n</Location>\nRequestTimeoutGrace 0");
    until("the program has come to its loop", || {
        let response = server.get("/hang").is(504);
        assert!(!response.body.is_empty());
        !server.site.read("hanging").is_empty()
    });
    let pid = server.site.read("hanging").parse().expect("a pid");
    until("the worker is killed", || !alive(pid));
    server.logged("/hang");
    assert_eq!(server.get("/").status, 200);
}

#[test]
fn a_loop_that_ignores_term_is_killed_too() {
    let server = serve(
        "sub { if ($_[0]{PATH_INFO} eq '/hang') { $SIG{TERM} = $SIG{INT} = 'IGNORE'; 1 while 1 } [200, [], ['ok']] }",
        "<Location /hang>\nRequestTimeout 500ms\n</Location>",
    );
    server.get("/hang").is(504);
    assert_eq!(server.text("/"), "ok");
}

#[test]
fn an_unread_upload_of_a_hundred_megabytes_affects_no_other_request() {
    let server = serve("sub { [200, [], ['not read']] }", "");
    let piece = vec![b'x'; 1 << 20];
    let mut connection = server.connect();
    connection.raw(format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", 100 << 20));
    for _ in 0..100 {
        connection.raw(&piece);
    }
    assert_eq!(connection.response().text(), "not read");
    assert_eq!(connection.ask(Request::get("/")).text(), "not read");
    let left = std::fs::read_dir(server.site.path("tmp")).expect("TMPDIR").count();
    assert_eq!(left, 0, "the upload's file has no name");
}

/// A script that prints the state of its process.
const FOUND: &str = "use Cwd (); my $fds = grep { -e } glob '/proc/self/fd/*';
print join '|', Cwd::getcwd(), umask, alarm(0), $fds, ref \\$_, $/ eq \"\\n\", defined $\\ ? 1 : 0, defined $, ? 1 : 0, $|,
    ref select, join(',', grep { defined $SIG{$_} && $SIG{$_} ne 'DEFAULT' } sort keys %SIG), exists $ENV{SOILED} ? 1 : 0, exists $ENV{PATH} ? 1 : 0,
    (-t STDIN) ? 1 : 0;";

/// Pairs of a script's misdeed and the status of its response.
const MISDEEDS: &[(&str, u16)] = &[
    ("exit 7", 200),
    ("die 'no more'", 500),
    ("my $x = undef; $x->method", 500),
    ("kill SEGV => $$; sleep 1", 502),
    ("chdir '/'; umask 0777; alarm 30", 200),
    ("$/ = $, = $\\ = 'x'; $| = 1; $_ = []", 200),
    ("%ENV = (SOILED => 1)", 200),
    ("$SIG{$_} = sub { die } for qw(TERM INT PIPE USR1 ALRM CHLD __WARN__ __DIE__)", 200),
    ("close STDOUT; close STDERR; close STDIN", 200),
    ("open STDOUT, '>', '/dev/null'; select STDERR", 200),
    ("for (1 .. 50) { open my $f, '<', '/etc/passwd' or die; $f[$_] = $f } @f = ()", 200),
    ("for (1 .. 5) { my $kid = fork // die; CORE::exit(0) if !$kid }", 200),
    ("my $kid = fork // die; exec 'true' if !$kid", 200),
    ("system 'true'; `true`; open my $p, '-|', 'echo x'; print <$p>", 200),
    ("use POSIX (); POSIX::setsid(); $0 = 'soiled'", 200),
];

#[test]
fn a_worker_that_sends_itself_a_fault_dies_of_it_at_its_first_request_too() {
    let server = serve("sub { kill SEGV => $$; [200, [], ['alive']] }", "");
    assert_eq!(server.get("/").status, 502);
    server.logged("killed signal=11");
}

#[test]
fn the_next_request_finds_a_clean_process_after_any_script() {
    let text = "print \"Content-Type: text/plain\\n\\n\";";
    let conf = "MaxClients 1\nStartServers 1\nCgiMode persistent\nScriptAlias /cgi/ @DIR@/scripts/";
    let mut site = Site::new().script("scripts/found.pl", &format!("{text}{FOUND}"));
    for (number, (misdeed, _)) in MISDEEDS.iter().enumerate() {
        site = site.script(&format!("scripts/{number}.pl"), &format!("{text} print 'x'; {misdeed};"));
    }
    let server = site.serve(conf);
    server.text("/cgi/found.pl");
    let clean = server.text("/cgi/found.pl");
    let mut wrong = Vec::new();
    for (number, (misdeed, status)) in MISDEEDS.iter().enumerate() {
        let answered = server.get(&format!("/cgi/{number}.pl")).status;
        if answered != *status {
            wrong.push(format!("{misdeed}: answered {answered}, expected {status}"));
        }
        // A new worker has not compiled the script, so the first response is ignored.
        server.text("/cgi/found.pl");
        let found = server.text("/cgi/found.pl");
        if found != clean {
            wrong.push(format!("after {misdeed}:\n{found} instead of\n{clean}"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), server.log());
}

#[test]
fn stray_prints_of_an_application_harm_no_answer() {
    let server = serve(
        "sub { print 'stray'; print STDOUT 'stray'; syswrite STDOUT, 'stray'; system 'echo stray'; [200, ['Content-Type', 'text/plain'], ['whole']] }",
        "MaxClients 1\nStartServers 1",
    );
    let mut connection = server.connect();
    for _ in 0..3 {
        let answer = connection.ask(Request::get("/")).is(200);
        assert!(answer.text().ends_with("whole"), "{answer:?}");
    }
}

#[test]
fn a_program_that_keeps_every_descriptor_costs_no_later_request() {
    let server = serve(
        "my @kept; sub { if ($_[0]{PATH_INFO} eq '/leak') { while (open my $f, '<', '/dev/null') { push @kept, $f } return [200, [], [scalar @kept]] }
             my $n = read $_[0]{'psgi.input'}, my $body, 1 << 21; [200, [], [$n]] }",
        "MaxClients 1\nStartServers 1",
    );
    assert!(server.text("/leak").parse::<u32>().is_ok_and(|count| count > 100));
    // A body of this size arrives as a descriptor.
    let upload = server.send(Request::new("POST", "/").body(vec![b'x'; 1 << 20]));
    assert_eq!(upload.is(200).text(), (1 << 20).to_string());
    assert!(server.logged("the worker exits: nearly all descriptors").contains("GET /leak"), "{}", server.log());
}

#[test]
fn a_slow_leak_of_descriptors_is_seen_in_time() {
    for leak in ["open my $f, '<', '/dev/null' or die $!; push @kept, $f", "defined POSIX::dup(2) or die $!"] {
        let app = format!("use POSIX (); my @kept; sub {{ for (1 .. 3) {{ {leak} }} [200, [], [$$]] }}");
        let site = Site::new().file("app.psgi", &app);
        site.configure("MaxClients 1\nStartServers 1\n<Location />\nPsgiApp app.psgi\n</Location>");
        let server = Server::start_with_files(site, 256);
        let mut connection = server.connect();
        let mut pids: Vec<String> = (0..300).map(|_| connection.ask(Request::get("/")).is(200).text()).collect();
        pids.dedup();
        assert!(pids.len() > 2, "{leak}: {pids:?}");
    }
}
