//! Output that an application and its children print goes to the log. The response is the application's return value.

use super::{serve, serve_with_one_worker};
use crate::support::{Request, Site};

#[test]
fn printed_text_is_in_the_log_and_not_in_the_response() {
    let server = serve(
        "sub { local $| = 1; print 'DEBUG', \" 1\\n\"; printf \"%s\\n\", 'DEBUG 2'; syswrite STDOUT, \"DEBUG 3\\n\"; [200, ['Content-Length', 3], ['abc']] }",
    );
    let mut connection = server.connect();
    for _ in 0..3 {
        assert_eq!(connection.ask(Request::get("/")).is(200).text(), "abc");
    }
    for n in 1..=3 {
        let line = server.logged(&format!("DEBUG {n}"));
        assert!(line.starts_with('[') && line.contains("worker="), "whole and prefixed: {line}");
    }
}

#[test]
fn a_line_that_was_not_finished_is_one_of_its_own() {
    let server = serve_with_one_worker("sub { print 'half'; print ' a line'; [200, [], ['ok']] }");
    assert_eq!(server.text("/") + &server.text("/"), "okok");
    let line = server.logged("half a line");
    assert!(line.ends_with("half a line"), "{line}");
}

#[test]
fn output_of_child_processes_is_in_the_log() {
    let ways = [
        "system 'echo CHILD'",
        "open my $p, '|-', 'cat'; print $p \"CHILD\\n\"; close $p",
        "my $kid = fork // die; if (!$kid) { print \"CHILD\\n\"; exit 0 } waitpid $kid, 0",
        "my $kid = fork // die; if (!$kid) { exec 'echo', 'CHILD' } waitpid $kid, 0",
        "require POSIX; POSIX::write(1, \"CHILD\\n\", 6)",
        "open my $out, '>&', \\*STDOUT; print $out \"CHILD\\n\"; close $out",
    ];
    for way in ways {
        let server = serve_with_one_worker(&format!("sub {{ {way}; [200, [], ['abc']] }}"));
        assert_eq!(server.text("/"), "abc", "{way}");
        server.logged("CHILD");
    }
}

#[test]
fn a_child_in_the_background_continues_to_write_to_the_log() {
    let server = serve_with_one_worker(
        "sub { my $kid = fork // die; if (!$kid) { select undef, undef, undef, 0.005 until -e '@DIR@/go'; system 'echo LATER'; exit 0 } [200, [], ['abc']] }",
    );
    assert_eq!(server.text("/"), "abc");
    server.site.write("go", "");
    server.logged("LATER");
    assert_eq!(server.text("/"), "abc");
}

#[test]
fn an_application_can_capture_the_output_of_its_children() {
    let server = serve_with_one_worker(
        "sub { my $b = `echo backtick`; open my $save, '>&', \\*STDOUT; close STDOUT; open STDOUT, '>', '@DIR@/captured'; \
         print 'own '; system 'echo captured'; close STDOUT; open STDOUT, '>&', $save; \
         open my $in, '<', '@DIR@/captured'; [200, [], [$b, <$in>]] }",
    );
    let body = server.text("/");
    assert!(body.starts_with("backtick\n") && body.contains("captured\n"), "{body}");
}

#[test]
fn cleanup_handlers_print_to_the_log_too() {
    let server = serve_with_one_worker(
        "sub { push @{ $_[0]{'psgix.cleanup.handlers'} }, sub { print \"LATE\\n\"; system 'echo LATE CHILD' }; [200, [], ['abc']] }",
    );
    assert_eq!(server.text("/") + &server.text("/"), "abcabc");
    server.logged("LATE");
    server.logged("LATE CHILD");
}

#[test]
fn beside_mod_perl_each_has_its_own_rule() {
    let server = Site::new()
        .file("app.psgi", "sub { print \"FROM APP\\n\"; system 'echo APP CHILD'; [200, [], ['app']] }")
        .file("lib/Old.pm", "package Old; sub handler { my $r = shift; $r->send_http_header('text/plain'); local $| = 1; print 'old '; \
            if ($r->args) { $r->lookup_uri('/app')->run; print ' ' } system 'printf child'; 0 } 1;")
        .serve(
            "StartServers 1\nMaxClients 1\nPerlLib lib\n<Location /app>\nSetHandler psgi\nPsgiApp app.psgi\n</Location>\n\
             <Location /old>\nSetHandler perl-script\nPerlHandler +Old\n</Location>",
        );
    for _ in 0..3 {
        assert_eq!(server.text("/app"), "app");
        assert_eq!(server.text("/old"), "old child");
        assert_eq!(server.text("/old?both"), "old app child");
    }
    server.logged("FROM APP");
    server.logged("APP CHILD");
}
