//! Changes that a handler makes to its process are detected by the end of its request, for every way to make them.

use super::{conf, site};
use crate::support::{Server, is_tainted, until};

/// Serves `/my/NUMBER`, which runs that element of `ways` and prints its result. Any other `/my/…` prints the result of
/// `found`.
#[track_caller]
fn serve_ways(ways: &[&str], found: &str, more: &str) -> Server {
    let ways: String = ways.iter().map(|way| format!("sub {{ {way} }},\n")).collect();
    let code = format!(
        "our @KEPT; my @ways = ({ways});\n\
         sub handler {{ my $r = shift; $r->send_http_header('text/plain'); my ($n) = $r->path_info =~ m{{^/([0-9]+)$}};\n\
         $ENV{{PATH}} = '/usr/bin:/bin'; $| = 1; $r->print(defined $n ? $ways[$n]->($r) : do {{ {found} }}); OK }}"
    );
    site(&code).serve(&format!("{more}\n{}", conf("")))
}

const FOLDERS: [&str; 8] = [
    "chdir '/'",
    "CORE::chdir('/')",
    "opendir my $folder, '/' or die; chdir $folder",
    "open my $folder, '<', '/' or die; chdir *$folder",
    "require POSIX; POSIX::chdir('/')",
    "require Cwd; Cwd::chdir('/')",
    "eval q{chdir '/'}",
    "my $text = q{sub { chdir '/' }}; eval($text)->()",
];

#[test]
fn a_folder_that_was_changed_any_way_is_put_back() {
    if is_tainted() {
        return;
    }
    let server = serve_ways(&FOLDERS, "require Cwd; Cwd::getcwd()", "");
    let home = server.text("/my/where");
    assert_ne!(home, "/");
    for (n, way) in FOLDERS.iter().enumerate() {
        assert_eq!(server.text(&format!("/my/{n}")), "1", "{way}");
        assert_eq!(server.text("/my/where"), home, "{way}");
        let log = server.log();
        let logged = log.lines().find(|line| line.contains(&format!("GET /my/{n}: changed and restored")));
        assert!(logged.is_some_and(|line| line.contains("the working directory")), "{way}: {log}");
    }
}

const IDENTITIES: [&str; 9] = [
    "$> = 65534; $$",
    "$< = 65534; $$",
    "$) = 65534; $$",
    "$( = 65534; $$",
    "($<, $>) = (65534, 65534); $$",
    "require English; English->import; eval q{our $EFFECTIVE_USER_ID; $EFFECTIVE_USER_ID = 65534}; $$",
    "my $user = \\$>; $$user = 65534; $$",
    "require POSIX; POSIX::setuid(65534); $$",
    "require POSIX; POSIX::setgid(65534); $$",
];

#[test]
fn a_worker_that_changed_its_user_in_any_way_takes_no_further_request() {
    if !nix::unistd::geteuid().is_root() || is_tainted() {
        return;
    }
    let server = serve_ways(&IDENTITIES, "join ' ', $$, $<, $>, $( + 0, $) + 0", "");
    for (n, way) in IDENTITIES.iter().enumerate() {
        let worker = server.text(&format!("/my/{n}"));
        let next = server.text("/my/who");
        assert!(next.ends_with(" 0 0 0 0") && !next.starts_with(&format!("{worker} ")), "{way}: {worker}, then {next}");
        assert!(
            server
                .log()
                .contains(&format!("GET /my/{n}: the worker exits: the user or groups of the process were changed")),
            "{way}"
        );
    }
}

#[test]
fn a_worker_that_changed_its_user_temporarily_stays() {
    if !nix::unistd::geteuid().is_root() || is_tainted() {
        return;
    }
    let ways = ["local $> = 65534; $$", "$> = 65534; $> = 0; $$", "eval { local $) = 65534; die }; $$"];
    let server = serve_ways(&ways, "$$", "");
    let worker = server.text("/my/who");
    for (n, way) in ways.iter().enumerate() {
        assert_eq!(server.text(&format!("/my/{n}")), worker, "{way}");
        assert_eq!(server.text("/my/who"), worker, "{way}");
    }
}

const CHILDREN: [&str; 9] = [
    "my $kid = fork // die; CORE::exit(0) if !$kid; $$",
    "my $kid = CORE::fork() // die; CORE::exit(0) if !$kid; $$",
    "my $kid = eval q{fork} // die; CORE::exit(0) if !$kid; $$",
    "require POSIX; my $kid = POSIX::fork() // die; POSIX::_exit(0) if !$kid; $$",
    "my $kid = fork // die; if (!$kid) { fork; POSIX::_exit(0) } $$",
    "open my $pipe, '-|', 'true' or die; push @KEPT, $pipe; $$",
    "open my $pipe, '|-', 'true' or die; push @KEPT, $pipe; $$",
    "require IPC::Open3; IPC::Open3::open3(my $in, my $out, undef, 'true'); $$",
    "system 'true'; `true`; $$",
];

#[test]
fn a_child_without_wait_is_no_zombie_after_the_next_request() {
    let server = serve_ways(&CHILDREN, "$$", "PerlModule POSIX");
    let worker: i32 = server.text("/my/who").parse().expect("a pid");
    for (n, way) in CHILDREN.iter().enumerate() {
        assert_eq!(server.text(&format!("/my/{n}")), worker.to_string(), "{way}");
        until(way, || {
            assert_eq!(server.text("/my/who"), worker.to_string());
            crate::support::children(worker).is_empty()
        });
    }
}

/// Each piece of code writes `seen` to descriptor 1, directly or through a child process, without perl's own STDOUT
/// handle.
const WRITERS: [&str; 10] = [
    "syswrite STDOUT, 'seen'; ''",
    "require POSIX; POSIX::write(1, 'seen', 4); ''",
    "require POSIX; my $copy = POSIX::dup(1); POSIX::write($copy, 'seen', 4); POSIX::close($copy); ''",
    "open my $copy, '>&', \\*STDOUT or die; print $copy 'seen'; close $copy; ''",
    "open my $copy, '>&=', 1 or die; print $copy 'seen'; close $copy; POSIX::dup2(2, 1); ''",
    "my $pid = fork // die; if (!$pid) { POSIX::write(1, 'seen', 4); POSIX::_exit(0) } waitpid $pid, 0; ''",
    "open my $own, '>>', '/dev/stdout' or die; print $own 'seen'; close $own; ''",
    "require Fcntl; sysopen my $own, '/dev/stdout', Fcntl::O_WRONLY() | Fcntl::O_APPEND() or die; print $own 'seen'; close $own; ''",
    "require XML::LibXML; XML::LibXML->new->parse_string('<seen/>')->toFile('-'); ''",
    "XML::LibXML->new->parse_string('<seen/>')->toFile('-'); ''",
];

#[test]
fn output_on_descriptor_1_is_in_the_response_of_its_request() {
    if is_tainted() {
        return;
    }
    let server = serve_ways(&WRITERS, "system 'printf child'; 'own'", "PerlModule POSIX\nPerlModule IO::Handle");
    for (n, way) in WRITERS.iter().enumerate() {
        let body = server.text(&format!("/my/{n}"));
        assert!(body.contains("seen"), "{way}: {body:?}");
        assert_eq!(server.text("/my/next"), "childown", "{way}");
    }
}

#[test]
fn a_handle_on_descriptor_1_that_an_earlier_request_has_opened_writes_into_no_later_answer() {
    for mode in ["'>&', \\*STDOUT", "'>&=', 1", "'>>', '/dev/stdout'"] {
        let keep = format!("open $KEPT[0], {mode} or die; ''");
        let server =
            serve_ways(&[&keep, "print { $KEPT[0] } 'seen'; $KEPT[0]->flush; ''"], "'own'", "PerlModule IO::Handle");
        assert_eq!(
            ["/my/0", "/my/next", "/my/1", "/my/next"].map(|url| server.text(url)),
            ["", "own", "", "own"],
            "{mode}"
        );
    }
}

#[test]
fn a_handle_on_descriptor_1_that_start_up_has_opened_writes_into_every_answer() {
    let server = site("our $OUT; open $OUT, '>&=', 1 or die; sub handler { my $r = shift; $r->send_http_header; print $OUT 'seen'; OK }")
        .serve(&conf(""));
    assert_eq!(["/my", "/my"].map(|url| server.text(url)), ["seen", "seen"]);
}

#[test]
fn descriptor_1_is_what_it_was_after_a_cleanup_handler_has_made_it_another() {
    if is_tainted() {
        return;
    }
    let ways = [
        "$r->register_cleanup(sub { open STDOUT, '>', '/dev/null' or die }); 'done'",
        "$r->register_cleanup(sub { POSIX::close(1) }); 'done'",
        "$r->register_cleanup(sub { open my $null, '>', '/dev/null'; POSIX::dup2(fileno $null, 1) }); 'done'",
    ];
    let ways = ways.map(|way| format!("my $r = shift; {way}"));
    let server = serve_ways(&ways.each_ref().map(String::as_str), "system 'printf child'; 'own'", "PerlModule POSIX");
    for (n, way) in ways.iter().enumerate() {
        assert_eq!(server.text(&format!("/my/{n}")), "done", "{way}");
        assert_eq!(server.text("/my/next"), "childown", "{way}");
    }
}
