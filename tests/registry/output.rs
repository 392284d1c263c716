//! STDOUT: order, layers, size.

use super::{URL, serve, serve_text};

#[test]
fn output_of_started_programs_lands_in_the_response_in_order() {
    let server = serve_text(
        "$| = 1; $ENV{PATH} = '/usr/bin:/bin'; print \"one\\n\"; system 'echo two'; print \"three\\n\"; print `echo four`; system 'echo five'; print 'six';",
    );
    assert_eq!(server.text(URL), "one\ntwo\nthree\nfour\nfive\nsix");
}

#[test]
fn output_of_a_piped_program_lands_in_the_response() {
    let server = serve_text(
        "$| = 1; $ENV{PATH} = '/usr/bin:/bin'; print \"a\\n\"; open my $p, '|-', 'tr a-z A-Z' or die; print $p \"b\\n\"; close $p; print \"c\\n\";",
    );
    assert_eq!(server.text(URL), "a\nB\nc\n");
}

#[test]
fn a_child_that_execs_writes_into_the_response() {
    let server = serve_text(
        "$| = 1; $ENV{PATH} = '/usr/bin:/bin'; print \"parent\\n\"; if (my $p = fork) { waitpid $p, 0 } else { exec 'echo', 'child' } print 'end';",
    );
    assert_eq!(server.text(URL), "parent\nchild\nend");
}

#[test]
fn printf_write_and_say_reach_the_client() {
    let server = serve_text(
        "use feature 'say'; printf '%03d ', 7; say 'said'; syswrite STDOUT, 'sys';\nour $v = 'formatted';\nformat STDOUT =\n@<<<<<<<<<\n$v\n.\nwrite;",
    );
    let body = server.text(URL);
    for part in ["007 said\n", "sys", "formatted\n"] {
        assert!(body.contains(part), "{part:?} is missing in {body:?}");
    }
}

#[test]
fn binmode_switches_between_bytes_and_characters_inside_one_response() {
    let server = serve(
        r#"binmode STDOUT, ':utf8'; print "Content-Type: text/plain; charset=utf-8\n\n\x{e9}";
           binmode STDOUT, ':raw'; print "\xe9"; binmode STDOUT, ':encoding(UTF-8)'; print "\x{20ac}";"#,
    );
    for _ in 0..2 {
        assert_eq!(server.get(URL).body, b"\xc3\xa9\xe9\xe2\x82\xac");
    }
}

#[test]
fn a_layer_of_one_request_is_gone_at_the_next() {
    let server = serve_text(r#"print "\xe9"; binmode STDOUT, ':utf8'; die "now\n" if $ENV{QUERY_STRING};"#);
    server.get("/perl/test.pl?1");
    assert_eq!(server.get(URL).body, b"\xe9");
}

#[test]
fn all_byte_values_pass_unchanged() {
    let server = serve_text("print pack 'C*', 0 .. 255;");
    assert_eq!(server.get(URL).body, (0..=255).collect::<Vec<u8>>());
}

#[test]
fn a_script_that_closes_stdout_loses_only_its_later_output() {
    let server = serve_text("print 'before'; close STDOUT; print 'after';");
    assert_eq!(server.text(URL), "before");
    assert_eq!(server.text(URL), "before", "the next request has its STDOUT");
}

#[test]
fn a_script_that_reopens_stdout_to_a_file_gives_it_back() {
    let server =
        serve_text("print 'seen'; open STDOUT, '>', '@DIR@/elsewhere' if $ENV{QUERY_STRING}; print ' hidden';");
    server.get("/perl/test.pl?1");
    assert_eq!(server.text(URL), "seen hidden");
}

#[test]
fn a_dup_of_stdout_writes_into_the_response() {
    let server =
        serve_text("$| = 1; print 'a'; open my $o, '>&', \\*STDOUT or die $!; print $o 'b'; close $o; print 'c';");
    assert_eq!(server.text(URL), "abc");
}

#[test]
fn stderr_redirected_to_stdout_is_seen_by_the_client_of_that_request_only() {
    let server = serve_text(
        "if ($ENV{QUERY_STRING}) { open STDERR, '>&', \\*STDOUT; $ENV{PATH} = '/usr/bin:/bin'; $| = 1; system 'echo complaint >&2' } else { warn \"for the log\\n\" }",
    );
    assert!(server.text("/perl/test.pl?1").contains("complaint"));
    assert_eq!(server.text(URL), "");
    server.logged("for the log");
}

#[test]
fn a_hundred_megabytes_arrive_while_the_worker_stays_small() {
    let server = serve_text("my $mb = 'x' x 1_048_576; print $mb for 1 .. 100;");
    let (pid, _) = server.workers()[0];
    let mut connection = server.connect();
    connection.raw(format!("GET {URL} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    connection.head();
    let mut length = 0;
    loop {
        let chunk = connection.chunk();
        if chunk.is_empty() {
            break;
        }
        length += chunk.len();
    }
    assert_eq!(length, 100 << 20);
    for process in [pid, server.status()["front_pid"].as_i64().expect("a front") as i32] {
        let peak = peak_kb(process);
        assert!(peak < 100 * 1024, "process {process} grew to {peak} kB");
    }
}

fn peak_kb(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the process lives");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("its peak");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).expect("a number")
}
