//! Global state that a script changes is restored before the next request, and named in the log.

use super::{CONF, TEXT, URL, serve_text, site};
use crate::support::{Site, is_tainted};

/// The script's change, the next request's finding (`clean` or not), and the word that the log must contain.
const CASES: &[(&str, &str, &str)] = &[
    ("umask 0777", "umask() == 0777 ? 'left' : 'clean'", "umask"),
    ("$/ = 'x'", "$/ eq \"\\n\" ? 'clean' : 'left'", "$/"),
    ("$\\ = 'x'", "defined $\\ ? 'left' : 'clean'", "$\\"),
    ("$, = 'x'", "defined $, ? 'left' : 'clean'", "$,"),
    ("$SIG{USR2} = sub {}", "ref $SIG{USR2} ? 'left' : 'clean'", "a signal handler"),
    ("$SIG{__DIE__} = sub {}", "ref $SIG{__DIE__} ? 'left' : 'clean'", "a signal handler"),
    (
        "$SIG{CHLD} = 'IGNORE'",
        "$ENV{PATH} = '/usr/bin:/bin'; system('true') == 0 ? 'clean' : 'left'",
        "a signal handler",
    ),
    ("alarm 30", "alarm(0) ? 'left' : 'clean'", "alarm"),
    ("open our $fh, '>', '@DIR@/x'; select $fh", "'clean'", "select"),
    ("close STDOUT", "'clean'", "STDOUT"),
    (
        "tie *STDOUT, 'T'; sub T::TIEHANDLE { bless [] } sub T::PRINT { 1 }",
        "tied *STDOUT ? 'left' : 'clean'",
        "a tied handle",
    ),
    ("open STDIN, '<', '/etc/passwd'", "my $l = <STDIN>; defined $l ? 'left' : 'clean'", "STDIN"),
    (
        "use POSIX (); POSIX::sigprocmask(POSIX::SIG_BLOCK, POSIX::SigSet->new(POSIX::SIGUSR2)); kill USR2 => $$",
        "my $s = POSIX::SigSet->new; POSIX::sigprocmask(POSIX::SIG_BLOCK, POSIX::SigSet->new, $s); $s->ismember(POSIX::SIGUSR2) ? 'left' : 'clean'",
        "the signal mask",
    ),
    (
        "require Time::HiRes; Time::HiRes::setitimer(Time::HiRes::ITIMER_PROF(), 30)",
        "require Time::HiRes; (Time::HiRes::getitimer(Time::HiRes::ITIMER_PROF()))[0] ? 'left' : 'clean'",
        "an interval timer",
    ),
    (
        "require Time::HiRes; Time::HiRes::alarm(30.5)",
        "require Time::HiRes; Time::HiRes::alarm(0) ? 'left' : 'clean'",
        "an alarm",
    ),
    ("$SIG{TERM} = sub { }", "kill TERM => $$; 'clean'", "a signal handler"),
    ("$SIG{$_} = sub { } for keys %SIG", "'clean'", "a signal handler"),
    ("$^F = 100", "$^F == 2 ? 'clean' : 'left'", "$^F"),
    ("$^W = 1", "$^W ? 'left' : 'clean'", "$^W"),
    ("$; = 'x'", "$; eq \"\\034\" ? 'clean' : 'left'", "$;"),
    ("$\" = 'x'", "$\" eq ' ' ? 'clean' : 'left'", "$\""),
    (
        "require POSIX; POSIX::setlocale(POSIX::LC_ALL(), 'C.UTF-8') or die",
        "require POSIX; POSIX::setlocale(POSIX::LC_CTYPE()) eq 'C' ? 'clean' : 'left'",
        "the locale",
    ),
    ("@INC = ('/nowhere')", "eval { require Text::Wrap; 1 } ? 'clean' : 'left'", "@INC"),
    ("push @INC, '/x'; s/./!/ for @INC", "grep({ m{^!} || $_ eq '/x' } @INC) ? 'left' : 'clean'", "@INC"),
    ("tie @INC, 'I'; sub I::TIEARRAY { bless [] } sub I::FETCHSIZE { 0 }", "tied @INC ? 'left' : 'clean'", "@INC"),
    ("close STDERR", "warn \"still heard\\n\"; 'clean'", "STDERR"),
];

#[test]
fn global_state_is_restored_and_the_log_names_what_was_left() {
    let (mut site, mut wrong) = (Site::new(), Vec::new());
    for (case, (leaves, finds, _)) in CASES.iter().enumerate() {
        site = site
            .script(
                &format!("scripts/leaves{case}.pl"),
                &format!("{TEXT}if ($ENV{{QUERY_STRING}}) {{ print 'x'; {leaves} }}"),
            )
            .script(&format!("scripts/finds{case}.pl"), &format!("{TEXT}my $found = do {{ {finds} }}; print $found;"));
    }
    // A worker for the two requests of each case.
    let server = site.serve(&format!("{CONF}MaxRequestsPerChild 2\n"));
    for (case, (leaves, _, named)) in CASES.iter().enumerate() {
        let leaving = format!("/perl/leaves{case}.pl");
        server.get(&format!("{leaving}?leave"));
        let found = server.text(&format!("/perl/finds{case}.pl"));
        if found != "clean" || !server.log().lines().any(|line| line.contains(&leaving) && line.contains(named)) {
            wrong.push(format!("after {leaves}: {found}, expected {named:?} in the log"));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.join("\n"), server.log());
}

#[test]
fn changed_state_is_logged_once_and_not_for_each_request() {
    let server = serve_text("umask 0777; print 'x';");
    for _ in 0..5 {
        server.text(URL);
    }
    server.logged("umask");
    assert_eq!(server.log().matches("umask").count(), 1, "{}", server.log());
}

#[test]
fn state_set_by_a_child_init_handler_is_retained() {
    let init = "package Init; sub handler { push @INC, '/mine'; umask 0137; $SIG{USR2} = sub { $heard = 1 }; chdir '/'; 0 } 1;";
    let found =
        "kill USR2 => $$; printf '%s %o %s ', (grep { $_ eq '/mine' } @INC), umask, $Init::heard; $Init::heard = 0;";
    let server = site(&format!("{TEXT}{found}"))
        .file("lib/Init.pm", init)
        .serve(&format!("{CONF}PerlLib lib\nPerlChildInitHandler Init"));
    assert_eq!(server.text(URL) + &server.text(URL), "/mine 137 1 /mine 137 1 ");
    assert!(!server.log().contains("changed and restored"), "{}", server.log());
}

#[test]
fn rand_of_a_request_repeats_only_after_its_own_srand() {
    let next = format!("{TEXT}print rand;");
    let server = site(&format!("{TEXT}srand 1; $| = 1; print rand;")).script("scripts/next.pl", &next).serve(CONF);
    let [seeded, first, again, second] = [URL, "/perl/next.pl", URL, "/perl/next.pl"].map(|url| server.text(url));
    assert_eq!(seeded, again);
    assert_ne!(first, second);
    assert!(!server.log().contains("changed and restored"), "{}", server.log());
}

#[test]
fn a_worker_with_another_user_or_root_takes_no_further_request() {
    if !nix::unistd::geteuid().is_root() || is_tainted() {
        return;
    }
    for (leaves, expected) in
        [("$> = 65534", "the user or group"), ("$) = 65534", "the user or group"), ("chroot '/'", "chroot was called")]
    {
        let server = serve_text(&format!("print \"$$ $> \", $) + 0; {leaves} if $ENV{{QUERY_STRING}};"));
        let worker = server.text("/perl/test.pl?leave");
        let next = server.text(URL);
        assert!(next != worker && next.ends_with(" 0 0"), "{leaves}: {worker}, then {next}");
        server.logged(&format!("the worker exits: {expected}"));
    }
}

/// Changes that a request makes to its process, with system call numbers of x86_64, and the reason in the log. A
/// container may deny a change.
#[cfg(target_arch = "x86_64")]
const OUT_OF_BOUNDS: [(&str, &str); 9] = [
    ("syscall(160, 7, my $l = pack('QQ', 200, 200)) == 0", "a resource limit was changed"),
    ("syscall(160, 4, my $l = pack('QQ', 1, 1)) == 0", "a resource limit was changed"),
    ("system('prlimit', \"--pid=$$\", '--nofile=200:200') == 0", "a resource limit was changed"),
    ("syscall(272, 0x10000000) == 0", "a namespace was changed"),
    ("syscall(272, 0x04000000) == 0", "a namespace was changed"),
    ("syscall(157, 38, 1, 0, 0, 0) == 0", "capabilities, seccomp rules or no_new_privs of the process were changed"),
    ("setpriority(0, 0, 5)", "the priority of the process"),
    ("do { require POSIX; POSIX::nice(3) }", "the priority of the process"),
    ("syscall(116, 1, my $l = pack('L', 65534)) == 0", "the user or groups of the process were changed"),
];

#[test]
#[cfg(target_arch = "x86_64")]
fn a_worker_whose_limits_or_rights_are_not_those_of_its_birth_takes_no_further_request() {
    if is_tainted() {
        return;
    }
    for (leaves, expected) in OUT_OF_BOUNDS {
        let server = serve_text(&format!("print $$; if ($ENV{{QUERY_STRING}}) {{ {leaves} or print ' refused' }}"));
        let worker = server.text("/perl/test.pl?leave");
        if worker.ends_with("refused") {
            continue;
        }
        assert_ne!(server.text(URL), worker, "{leaves}");
        server.logged(&format!("the worker exits: {expected}"));
    }
}

#[test]
fn a_worker_that_has_had_children_and_is_as_it_was_born_stays() {
    if is_tainted() {
        return;
    }
    let server = serve_text("print $$; system 'true'; local $> = 65534; require POSIX; POSIX::nice(0);");
    let worker = server.text(URL);
    (0..3).for_each(|_| assert_eq!(server.text(URL), worker));
}

/// The permission to enter the folder is removed while the request is elsewhere: in the script, and in a cleanup.
#[test]
fn a_worker_that_cannot_return_to_its_folder_takes_no_further_request() {
    if !nix::unistd::geteuid().is_root() || is_tainted() {
        return;
    }
    let leave = "chdir '/'; chmod 0, '@DIR@/home' or print \"chmod: $!\";";
    for leaves in [leave.to_owned(), format!("Apache->request->register_cleanup(sub {{ {leave} }});")] {
        let init = "package Init; sub handler { chdir '@DIR@/home'; 0 } 1;";
        let handler = format!(
            "package Leaves; sub handler {{ my $r = shift; $r->send_http_header('text/plain'); $r->print($$); if ($r->args) {{ {leaves} }} 0 }} 1;"
        );
        let site = Site::new().file("lib/Init.pm", init).file("lib/Leaves.pm", &handler).file("home/file", "");
        std::os::unix::fs::chown(site.path("home"), Some(65534), None).expect("root may");
        let server = site.serve(
            "User nobody\nGroup nogroup\nMaxClients 1\nStartServers 1\nPerlLib lib\nPerlChildInitHandler Init\n\
             <Location />\nSetHandler perl-script\nPerlHandler Leaves\n</Location>\n",
        );
        let worker = server.text("/?leave");
        assert_ne!(server.text("/"), worker, "{leaves}");
        server.logged("the worker exits: the working directory cannot be restored");
    }
}

#[test]
fn an_alarm_that_was_left_does_not_kill_the_worker() {
    let server = serve_text("print $$; alarm 1 if $ENV{QUERY_STRING}");
    let pid = server.text("/perl/test.pl?leave");
    let slow = "select undef, undef, undef, 1.5; print $$;";
    server.site.write("scripts/test.pl", &format!("{TEXT}{slow}"));
    assert_eq!(server.text(URL), pid);
}

#[test]
fn autoflush_of_one_request_is_off_at_the_next() {
    let server = serve_text("print $|; $| = 1;");
    assert_eq!(server.text(URL) + &server.text(URL), "00");
}

#[test]
fn environment_changes_do_not_stay() {
    let server = serve_text(
        "print exists $ENV{LEFT} ? 'left' : 'clean'; $ENV{LEFT} = 1; $ENV{PATH} = '/usr/bin:/bin'; print `echo \\$LEFT`;",
    );
    assert_eq!(server.text(URL) + &server.text(URL), "clean1\nclean1\n");
}

#[test]
fn a_read_of_signal_handlers_changes_none() {
    let script = format!(
        "{TEXT}my @all = map {{ $SIG{{$_}} // '' }} keys %SIG; {{ local $SIG{{ALRM}} = sub {{ }} }} print scalar @all;"
    );
    let server = site(&script).serve(CONF);
    assert_eq!(server.text("/perl/test.pl"), server.text("/perl/test.pl"));
    assert!(!server.log().contains("changed and restored"), "{}", server.log());
}

/// State set by start-up code is no request's change, nor is a change that the script itself undoes.
#[test]
fn scripts_that_leave_all_as_it_was_are_never_named() {
    let start = "package Start;\n$SIG{CHLD} = 'IGNORE'; $SIG{__WARN__} = sub { }; $SIG{__DIE__} = sub { }; $SIG{USR1} = sub { };\n\
        $SIG{ALRM} = 'DEFAULT'; $SIG{HUP} = 'IGNORE'; umask 027; $, = '-'; $\\ = ''; $/ = \"\\n\\n\"; 1;\n";
    let innocents = [
        "my @seen = map { $SIG{$_} // '' } qw(CHLD ALRM TERM USR1 PIPE __WARN__ __DIE__);",
        "system('true') == 0 or die; { local $SIG{CHLD} = 'DEFAULT'; system('true') } { local $SIG{ALRM} = sub { die }; alarm 3; alarm 0 }",
        "{ local $SIG{__DIE__}; local $SIG{__WARN__} = sub { }; eval { die 1 } } { local $SIG{__DIE__} = 'DEFAULT'; eval { die 2 } }",
        "{ local $SIG{INT} = 'IGNORE'; local $SIG{TERM} = sub { }; local $SIG{HUP}; local $SIG{USR1} = 'IGNORE' } { local %SIG = %SIG }",
        "my $before = $SIG{USR1}; $SIG{USR1} = sub { }; $SIG{USR1} = $before; umask umask 077;",
        "{ local ($/, $,, $\\) = ('', '', ''); local $| = 1; my $out = `echo hi` }",
        "use POSIX (); POSIX::sigprocmask(POSIX::SIG_BLOCK(), POSIX::SigSet->new(POSIX::SIGINT()), my $mask = POSIX::SigSet->new);\
         POSIX::sigprocmask(POSIX::SIG_SETMASK(), $mask);",
    ];
    let mut site = Site::new()
        .file("lib/Start.pm", start)
        .script("scripts/guilty.pl", &format!("{TEXT}$SIG{{USR1}} = sub {{ }}; print 'x';"));
    for (number, code) in innocents.iter().enumerate() {
        site = site.script(
            &format!("scripts/{number}.pl"),
            &format!("{TEXT}$ENV{{PATH}} = '/usr/bin:/bin'; {code} print 'x';"),
        );
    }
    let server = site.serve(&format!("{CONF}\nPerlModule Start\n"));
    for _ in 0..2 {
        for (number, code) in innocents.iter().enumerate() {
            assert_eq!(server.text(&format!("/perl/{number}.pl")), "x", "{code}");
        }
        server.text("/perl/guilty.pl");
    }
    server.logged("guilty.pl: changed and restored: a signal handler");
    assert_eq!(server.log().matches("changed and restored").count(), 1, "{}", server.log());
}
