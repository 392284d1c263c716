//! STDIN, STDOUT and STDERR are new for each request. Output held in other handles joins the page of its own request.

use super::{CONF, TEXT, site};
use crate::support::{Request, Server, Site, is_tainted};

/// Serves case `N` of `cases` as /perl/N/test.pl and /perl/N/next.pl. Each worker answers the first `requests` requests
/// of one case.
#[track_caller]
fn serve_cases(cases: impl Iterator<Item = (String, String)>, requests: usize, conf: &str) -> Server {
    let mut site = Site::new();
    for (case, (does, next)) in cases.enumerate() {
        site = site
            .script(&format!("scripts/{case}/test.pl"), &format!("{TEXT}{does}"))
            .script(&format!("scripts/{case}/next.pl"), &format!("{TEXT}print do {{ {next} }};"));
    }
    site.serve(&format!("{CONF}MaxRequestsPerChild {requests}\n{conf}"))
}

/// Ways to print `private` through another handle that remains open. The page of each must be `begin`, `private`,
/// `end`.
const COPIES: &[&str] = &[
    "open(SAVE, '>&STDOUT') or die; print SAVE 'private '",
    "open(SAVE, '>&', \\*STDOUT) or die; print SAVE 'private '",
    "open(SAVE, '>&=STDOUT') or die; print SAVE 'private '",
    "open(SAVE, '>&=', 1) or die; print SAVE 'private '",
    "open(our $save, '>&', STDOUT) or die; print $save 'private '",
    "open(our $save, '>&:utf8', STDOUT) or die; print $save 'private '",
    "open(our $save, '>&:encoding(UTF-8)', STDOUT) or die; print $save 'private '",
    "open(SAVE, '>>', '/dev/stdout') or die; print SAVE 'private '",
    "open(SAVE, '>>', '/proc/self/fd/1') or die; print SAVE 'private '",
    "require Fcntl; sysopen(SAVE, '/dev/stdout', Fcntl::O_WRONLY() | Fcntl::O_APPEND()) or die; print SAVE 'private '",
    "open(SAVE, '>&STDOUT') or die; select SAVE; print STDOUT ''; print 'private '",
    "require IO::Handle; our $save = IO::Handle->new_from_fd(fileno(STDOUT), 'w'); print $save 'private '",
    "require IO::Handle; our $save = IO::Handle->new; $save->fdopen(1, 'w'); print $save 'private '",
    "require POSIX; our $fd = POSIX::dup(1); open(SAVE, '>&=', $fd) or die; print SAVE 'private '",
    "require POSIX; close SAVE; POSIX::dup2(1, 50); open(SAVE, '>&=', 50) or die; print SAVE 'private '",
    "*SAVE = *STDOUT; print SAVE 'private '",
    "our $save = *STDOUT{IO}; print $save 'private '",
    "open(STDERR, '>&STDOUT') or die; print STDERR 'private '",
    "open(SAVE, '>&STDOUT'); close STDOUT; open(STDOUT, '>&SAVE') or die; print STDOUT 'private '",
    "open(SAVE, '>&STDOUT'); open(STDOUT, '>', '/dev/null'); print 'lost'; open(STDOUT, '>&SAVE') or die; print SAVE 'private '",
    "open(OTHER, '>&STDOUT') or die; *STDOUT = *OTHER; print 'private '",
];

#[test]
fn output_buffered_in_another_handle_joins_the_page_of_its_request() {
    if is_tainted() {
        return;
    }
    let script =
        |copies| format!("my $q = $ENV{{QUERY_STRING}}; print \"begin$q \"; {copies} . $q; print STDOUT \"end$q\";");
    let next = "$ENV{PATH} = '/usr/bin:/bin'; system 'printf child'; 'own'";
    let server = serve_cases(COPIES.iter().map(|copies| (script(copies), next.to_owned())), 4, "");
    let mut wrong = Vec::new();
    for (case, copies) in COPIES.iter().enumerate() {
        let pages =
            ["test.pl?A", "next.pl", "test.pl?B", "next.pl"].map(|name| server.text(&format!("/perl/{case}/{name}")));
        let has_own = |page: &str, own: &str, foreign: &str| {
            page.contains(&format!("private {own}")) && page.contains(&format!("begin{own}")) && !page.contains(foreign)
        };
        let is_right = has_own(&pages[0], "A", "B") && has_own(&pages[2], "B", "A");
        if !is_right || pages[1] != "childown" || pages[3] != "childown" {
            wrong.push(format!("{copies}: {pages:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Pairs of a handle that a script stores, and its use by the next script. No stored output may reach the page of the
/// second script.
const KEPT: &[(&str, &str)] = &[
    ("open(SAVE, '>&STDOUT')", "print SAVE 'foreign'; SAVE->flush"),
    ("open(SAVE, '>&=STDOUT')", "print SAVE 'foreign'; SAVE->flush"),
    ("open(SAVE, '>&STDOUT')", "syswrite SAVE, 'foreign'"),
    ("open(SAVE, '>&=STDOUT')", "syswrite SAVE, 'foreign'"),
    ("open(SAVE, '>&STDOUT')", "close SAVE"),
    ("open(SAVE, '>&=STDOUT')", "close SAVE"),
    ("our $fd = POSIX::dup(1)", "POSIX::write($Apache::ROOT::perl::case::fd, 'foreign', 7)"),
    ("POSIX::dup2(1, 60)", "POSIX::write(60, 'foreign', 7)"),
    ("open(SAVE, '>&STDOUT'); print SAVE 'x'", "open(SAVE, '>', '/dev/null')"),
    ("close STDIN; open(SAVE, '<', '/etc/passwd')", "my $line = <SAVE>; ''"),
    ("POSIX::close(0); open(SAVE, '<', '/etc/passwd')", "my $line = <SAVE>; ''"),
    ("POSIX::close(0); pipe(SAVE, TO)", "''"),
    ("close STDIN; open(STDIN, '<', '/etc/passwd') or die; system 'read line'", "''"),
    ("POSIX::close(1); open(SAVE, '>', '/dev/null'); print SAVE 'x' x 10", "close SAVE"),
    ("open(SAVE, '+<&=', 0); syswrite SAVE, 'foreign'", "''"),
    ("open(SAVE, '<&=', 0)", "my $line = <SAVE>; ''"),
    ("IO::Handle::ungetc(\\*STDIN, ord 'f') for 1 .. 3", "''"),
    ("STDIN->ungetc(ord 'f'); binmode STDIN, ':encoding(UTF-16)'", "''"),
];

#[test]
fn handles_left_open_reach_neither_the_next_page_nor_the_next_body() {
    if is_tainted() {
        return;
    }
    // Both scripts use the handles of one package.
    let next = |uses| {
        format!(
            "package Apache::ROOT::perl::case; {uses}; $ENV{{PATH}} = '/usr/bin:/bin'; system 'printf child';\n\
             my $body = join '', <STDIN>; \"own=$body\""
        )
    };
    let cases = KEPT
        .iter()
        .map(|(keeps, uses)| (format!("package Apache::ROOT::perl::case; {keeps}; print STDOUT '.';"), next(uses)));
    let server = serve_cases(cases, 4, "PerlModule POSIX IO::Handle\n");
    let mut wrong = Vec::new();
    for (case, (keeps, uses)) in KEPT.iter().enumerate() {
        let (test, next) = (format!("/perl/{case}/test.pl"), format!("/perl/{case}/next.pl"));
        server.post(&test, "body of the first");
        let second = server.post(&next, "second").text();
        server.get(&test);
        let third = server.text(&next);
        if second != "childown=second" || third != "childown=" {
            wrong.push(format!("{keeps}, then {uses}: {second:?}, {third:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Code that changes the layers of the standard handles.
const LAYERS: &[&str] = &[
    "binmode STDIN, ':utf8'; binmode STDOUT, ':utf8'; binmode STDERR, ':utf8'",
    "binmode STDIN, ':encoding(UTF-8)'; binmode STDOUT, ':encoding(UTF-8)'; binmode STDERR, ':encoding(UTF-8)'",
    "binmode STDIN, ':crlf'; binmode STDOUT, ':crlf'",
    "binmode STDIN, ':pop'",
    "use open ':std', ':utf8'",
    "use open ':std', ':encoding(UTF-8)'",
    "use open ':std', ':utf8'; close STDIN; close STDOUT; close STDERR",
    "BEGIN { binmode STDIN, ':utf8'; binmode STDOUT, ':utf8' }",
    "*STDIN = *OTHER; *STDOUT = *OTHER; *STDERR = *OTHER",
    "undef *STDIN; undef *STDOUT; undef *STDERR",
    "open STDIN, '<:utf8', '/etc/passwd'",
    "close STDIN; open STDIN, '<', '/etc/passwd'; open OTHER, '<&STDIN'",
];

/// The layers of STDIN, STDOUT and STDERR, the length of a body of five bytes, and a byte that `:utf8` would turn into
/// two.
const PLAIN: &[u8] = b"unix,perlio|perlio|perlio|5|\xe9";

const SHOW_LAYERS: &str = "join '|', (map { join ',', PerlIO::get_layers($_) } *STDIN, *STDOUT, *STDERR), do { read STDIN, my $body, 100; length $body }, \"\\x{e9}\"";

#[test]
fn layers_of_one_script_are_gone_at_the_next_request() {
    let cases = LAYERS.iter().map(|pushes| (format!("{pushes};"), SHOW_LAYERS.to_owned()));
    let server = serve_cases(cases, 6, "");
    let mut wrong = Vec::new();
    for (case, pushes) in LAYERS.iter().enumerate() {
        let (test, next) = (format!("/perl/{case}/test.pl"), format!("/perl/{case}/next.pl"));
        let bytes = || {
            server.get(&test);
            server.post(&test, "body");
            server.send(Request::post(&next, "é€")).body
        };
        let shown = [bytes(), bytes()];
        if shown.iter().any(|shown| *shown != PLAIN) {
            let shown = shown.map(|shown| String::from_utf8_lossy(&shown).into_owned());
            wrong.push(format!("{pushes}: {shown:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn io_layers_of_start_up_code_do_not_reach_requests() {
    for pushes in LAYERS {
        let start = format!("package Start; {pushes}; 1;");
        let server = site("")
            .file("start.pl", &start)
            .script("scripts/next.pl", &format!("{TEXT}print do {{ {SHOW_LAYERS} }};"))
            .serve(&format!("{CONF}PerlRequire @DIR@/start.pl"));
        let bytes = || server.send(Request::post("/perl/next.pl", "é€")).body;
        assert_eq!([bytes(), bytes()], [PLAIN, PLAIN], "{pushes}");
    }
}

#[test]
fn output_of_start_up_code_is_in_no_page() {
    let server = site(&format!("{TEXT}$ENV{{PATH}} = '/usr/bin:/bin'; system 'true'; print 'own';"))
        .file("start.pl", "print 'of start-up'; open our $copy, '>&STDOUT'; print $copy 'of start-up'; 1;")
        .serve(&format!("{CONF}PerlRequire @DIR@/start.pl"));
    assert_eq!(["/perl/test.pl", "/perl/test.pl"].map(|url| server.text(url)), ["own", "own"]);
}

#[test]
fn a_log_that_start_up_has_tied_to_stderr_stays_tied() {
    let tie = "package Log; sub TIEHANDLE { bless [] } sub PRINT { shift; open my $f, '>>', '@DIR@/own.log'; print $f @_ }\n\
               sub WRITE { 0 } package main; tie *STDERR, 'Log'; 1;";
    let server =
        site(&format!("{TEXT}print STDERR \"line$ENV{{QUERY_STRING}} \"; untie *STDERR if $ENV{{QUERY_STRING}} == 2;"))
            .file("start.pl", tie)
            .serve(&format!("{CONF}PerlRequire @DIR@/start.pl"));
    for n in 1..4 {
        server.get(&format!("/perl/test.pl?{n}"));
    }
    assert_eq!(server.site.read("own.log"), "line1 line2 line3 ");
}
