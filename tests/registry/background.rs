//! Child processes that outlive their request.

use super::{URL, serve_text};
use crate::support::until;

/// A child that prints marked lines until the file `stop` exists. The script returns when the child has begun.
const CHATTERER: &str = "$| = 1; $ENV{PATH} = '/usr/bin:/bin'; if (($ENV{QUERY_STRING} || '') eq 'start') { my $kid = fork // die; if (!$kid) { \
    until (-e '@DIR@/stop') { syswrite STDOUT, 'BACKGROUND' . 'x' x 5000; open my $f, '>>', '@DIR@/beats'; syswrite $f, '.'; close $f; \
    select undef, undef, undef, 0.002 } CORE::exit(0) } select undef, undef, undef, 0.001 until -s '@DIR@/beats'; print 'started' }\n\
    else { system 'printf child'; print 'own'; system 'printf child' }";

#[test]
fn output_of_a_child_after_its_request_is_dropped() {
    let server = serve_text(CHATTERER);
    let started = server.text("/perl/test.pl?start");
    assert!(started.contains("started") && !started.contains('\0'), "{:.200}", started);
    let beats = || server.site.read("beats").len();
    let before = beats();
    for _ in 0..50 {
        assert_eq!(server.text(URL), "childownchild");
    }
    until("the background process continues", || beats() > before);
    assert_eq!(server.text(URL), "childownchild");
    server.site.write("stop", "");
}

#[test]
fn output_of_a_child_during_its_request_has_no_holes() {
    let server = serve_text(
        "$| = 1; $ENV{PATH} = '/usr/bin:/bin'; my $kid = fork // die; if (!$kid) { for (1 .. 400) { syswrite STDOUT, '[' . 'x' x 700 . ']' } CORE::exit(0) }\n\
         for (1 .. 20) { system 'printf _' } waitpid $kid, 0; print 'end';",
    );
    let body = server.text(URL);
    assert!(!body.contains('\0'), "{} NUL bytes", body.matches('\0').count());
    assert_eq!((body.matches("x".repeat(700).as_str()).count(), body.matches('_').count()), (400, 20));
}

#[test]
fn output_that_a_program_writes_to_dev_stdout_arrives() {
    let server = serve_text(
        "$| = 1; $ENV{PATH} = '/usr/bin:/bin'; print 'a'; system 'printf b > /dev/stdout'; system 'printf c >> /dev/stdout; printf d'; print 'e';",
    );
    assert_eq!(server.text(URL), "abcde");
}

#[test]
fn much_output_of_many_programs_does_not_stay_in_memory() {
    let server = serve_text(
        "$ENV{PATH} = '/usr/bin:/bin'; for (1 .. 40) { system 'head -c 1000000 /dev/zero' } open my $m, '<', '/proc/self/smaps_rollup'; \
        my $blocks = (stat STDOUT)[12]; print STDERR \"blocks=$blocks\\n\";",
    );
    assert_eq!(server.get(URL).body.len(), 40_000_000);
    let line = server.logged("blocks=");
    let blocks: u64 = line.rsplit('=').next().and_then(|n| n.trim().parse().ok()).expect("a number");
    assert!(blocks < 8000, "{blocks} blocks of 512 bytes are kept");
}
