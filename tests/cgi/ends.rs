//! The lifetime of a CGI program, and its output meanwhile.

use super::{SH, URL, conf, runner, serve, serve_with};
use crate::support::{Site, alive, eventually, peak_memory, until};

#[test]
fn output_of_a_program_is_sent_while_it_runs() {
    let server = serve(&format!("{SH}echo one; until test -e @DIR@/seen; do sleep 0.01; done; echo two"));
    let mut connection = server.connect();
    connection.raw(format!("GET {URL} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    assert_eq!(connection.head().status, 200);
    assert_eq!(connection.chunk(), b"one\n");
    server.site.write("seen", "");
    assert_eq!(connection.chunk(), b"two\n");
    assert_eq!(connection.chunk(), b"");
}

#[test]
fn a_huge_output_passes_through_a_small_worker() {
    let server = serve(&format!("{SH}head -c 104857600 /dev/zero"));
    let worker = runner(&server);
    assert_eq!(server.get(URL).is(200).body.len(), 100 << 20);
    assert!(peak_memory(worker) < 100 << 20);
}

#[test]
fn stderr_of_a_program_is_logged_with_its_request() {
    let server = serve(&format!("{SH}echo 'a complaint' >&2; printf half >&2; echo said"));
    assert_eq!(server.text(URL), "said\n");
    let line = server.logged("a complaint");
    assert!(line.contains("worker=1") && line.contains(URL), "{line}");
    server.logged("half");
}

#[test]
fn a_client_that_leaves_ends_the_program() {
    let server =
        serve(&format!("echo $$ > @DIR@/pid\n{SH}while :; do head -c 100000 /dev/zero || exit; done").replacen(
            "echo",
            "#!/bin/sh\necho",
            1,
        ));
    let mut connection = server.connect();
    connection.raw(format!("GET {URL} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    connection.head();
    let pid: i32 = server.site.read("pid").trim().parse().expect("a pid");
    drop(connection);
    until("the program has ended", || !alive(pid));
    server.until_idle(2);
}

#[test]
fn a_program_that_takes_too_long_is_ended_with_all_that_it_started() {
    let server = serve_with(
        "#!/bin/sh\ntrap '' TERM\nsleep 1000 &\necho $! > @DIR@/kid\necho $$ > @DIR@/pid\nwait\nsleep 1000\n",
        "RequestTimeout 500ms\nRequestTimeoutGrace 60s",
    );
    let worker = runner(&server);
    until("a run has started both", || {
        server.get(URL).is(504);
        ["pid", "kid"].iter().all(|name| !server.site.read(name).is_empty())
    });
    server.logged("took longer than RequestTimeout");
    for name in ["pid", "kid"] {
        let pid: i32 = server.site.read(name).trim().parse().expect("a pid");
        until("the program has ended", || !alive(pid));
    }
    server.until_idle(2);
    assert_eq!(runner(&server), worker);
}

#[test]
fn background_processes_of_a_program_end_with_it() {
    let server = serve(&format!("{SH}sleep 1000 > /dev/null 2>&1 &\nprintf $!"));
    let pid: i32 = server.text(URL).parse().expect("a pid");
    until("the program has ended", || !alive(pid));
}

#[test]
fn a_program_that_reads_nothing_or_closes_its_output_does_no_harm() {
    let server = serve(&format!("{SH}printf said; exec >&- 2>&-; touch @DIR@/closed"));
    assert_eq!(server.post(URL, &"x".repeat(100_000)).is(200).text(), "said");
    assert!(server.site.has("closed"));
    assert_eq!(server.text(URL), "said");
}

#[test]
fn a_worker_that_dies_takes_its_program_along() {
    let server = serve("#!/bin/sh\necho $$ > @DIR@/pid; exec sleep 1000\n");
    let worker = runner(&server);
    let mut connection = server.connect();
    connection.raw(format!("GET {URL} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    let pid: i32 = eventually("it runs", || server.site.read("pid").trim().parse().ok());
    crate::support::signal(worker, nix::sys::signal::Signal::SIGKILL);
    assert_eq!(connection.head().status, 502);
    until("the program has ended", || !alive(pid));
}

#[test]
fn a_program_has_descriptors_0_to_2_and_no_other() {
    // The shell has its script open as descriptor 10. The script uses no pipeline, because the shell would hold the
    // pipe's ends for a moment.
    let server = serve(&format!(
        "{SH}for f in /proc/$$/fd/*; do n=${{f##*/}}; test $n = 10 || ! readlink $f > @DIR@/lead || echo $n; done"
    ));
    assert_eq!(server.text(URL).lines().collect::<Vec<_>>(), ["0", "1", "2"]);
}

#[test]
fn a_script_and_a_program_answer_in_turn() {
    let server = Site::new()
        .script("scripts/test", &format!("{SH}printf shell"))
        .script("scripts/perl.pl", "our $n; print \"Content-Type: text/plain\\n\\n\", ++$n; system 'printf child';")
        .serve(&conf("CgiMode persistent"));
    for n in 1..=3 {
        assert_eq!(server.text(URL), "shell");
        let body = server.text("/cgi/perl.pl");
        assert!(body.contains(&n.to_string()) && body.contains("child"), "{body}");
    }
}
