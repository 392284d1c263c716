//! Every request finds the state that a start-up file has set, regardless of earlier requests.

use super::{CONF, TEXT, site};
use crate::support::{Site, is_tainted};

/// The code of start-up, the change of a request, and the expression that each request prints.
const CASES: &[(&str, &str, &str)] = &[
    ("chdir '/usr' or die", "chdir '/'", "require Cwd; Cwd::getcwd()"),
    ("umask 0137", "umask 0", "sprintf '%o', umask"),
    ("$SIG{USR2} = sub { $main::own++ }", "$SIG{USR2} = sub { $main::foreign++ }", USR2),
    ("$SIG{USR2} = sub { $main::own++ }", "delete $SIG{USR2}", USR2),
    ("$SIG{USR2} = sub { $main::own++ }", "%SIG = ()", USR2),
    ("sub main::usr2 { $main::own++ } $SIG{USR2} = 'usr2'", "$SIG{USR2} = 'IGNORE'", USR2),
    (
        "require POSIX; my $own = sub { $main::own++ }; $main::act = POSIX::SigAction->new($own, POSIX::SigSet->new(POSIX::SIGINT())); POSIX::sigaction(POSIX::SIGUSR2(), $main::act)",
        "$SIG{USR2} = sub { $main::foreign++ }",
        "my $now = POSIX::SigAction->new; POSIX::sigaction(POSIX::SIGUSR2(), undef, $now); $now->mask->ismember(POSIX::SIGINT())",
    ),
    (
        "require POSIX; $SIG{USR2} = sub { $main::own++ }",
        "POSIX::sigaction(POSIX::SIGUSR2(), POSIX::SigAction->new($SIG{USR2}, POSIX::SigSet->new(POSIX::SIGINT())))",
        "my $now = POSIX::SigAction->new; POSIX::sigaction(POSIX::SIGUSR2(), undef, $now); $now->mask->ismember(POSIX::SIGINT()) ? 'set' : 'unset'",
    ),
    (
        "$SIG{__WARN__} = sub { $main::own++ }",
        "$SIG{__WARN__} = sub { $main::foreign++ }",
        "($main::own, $main::foreign) = (0, 0); warn 'x'; \"$main::own $main::foreign\"",
    ),
    (
        "$SIG{__DIE__} = sub { $main::own++ }",
        "$SIG{__DIE__} = sub { $main::foreign++ }",
        "($main::own, $main::foreign) = (0, 0); eval { die 'x' }; \"$main::own $main::foreign\"",
    ),
    (
        "1",
        "delete $SIG{$_} for qw(USR2 INT HUP)",
        "join ' ', map { exists $SIG{$_} ? 'there' : 'gone' } qw(USR2 INT HUP)",
    ),
    ("1", "$SIG{USR2} = sub { }", "exists $SIG{USR2} ? 'there' : 'gone'"),
    (
        "require POSIX; POSIX::sigprocmask(POSIX::SIG_BLOCK(), POSIX::SigSet->new(POSIX::SIGUSR2()))",
        "POSIX::sigprocmask(POSIX::SIG_UNBLOCK(), POSIX::SigSet->new(POSIX::SIGUSR2()))",
        "my $s = POSIX::SigSet->new; POSIX::sigprocmask(POSIX::SIG_BLOCK(), POSIX::SigSet->new, $s); $s->ismember(POSIX::SIGUSR2())",
    ),
    ("$/ = 'own'", "$/ = \"\\n\"", "$/"),
    ("$/ = \\7", "$/ = \\8", "${$/}"),
    ("$/ = undef", "$/ = ''", "defined $/ ? 'defined' : 'undef'"),
    ("$\\ = 'own'", "$\\ = undef", "$\\"),
    ("$\\ = 'own'", "$\\ = 'foreign'", "$\\"),
    ("$, = 'own'", "$, = undef", "$,"),
    ("$, = 'own'", "*, = \\'constant'", "$,"),
    ("$; = 'own'", "$; = 'foreign'", "$;"),
    ("$\" = 'own'", "$\" = 'foreign'", "$\""),
    ("$\" = 'own'", "*\" = \\'constant'", "$\""),
    ("$^F = 5", "$^F = 2", "$^F"),
    ("$^W = 1", "$^W = 0", "$^W"),
    (
        "require POSIX; POSIX::setlocale(POSIX::LC_ALL(), 'C.UTF-8') or die",
        "POSIX::setlocale(POSIX::LC_ALL(), 'C')",
        "POSIX::setlocale(POSIX::LC_CTYPE())",
    ),
    ("$_ = 'own'", "$_ = 'foreign'", "$_"),
    ("$ENV{OWN} = 'own'", "$ENV{OWN} = 'foreign'", "$ENV{OWN}"),
    ("$ENV{OWN} = 'own'", "%ENV = ()", "$ENV{OWN}"),
    ("push @INC, '/own'", "@INC = '/foreign'", "$INC[-1] . @INC"),
    // The following state begins anew with each request or process, in httpd too, whatever start-up set.
    ("$0 = 'own'", "$0 = 'foreign'", "$0 =~ m{/scripts/show\\.pl$} ? 'the script' : $0"),
    ("$SIG{ALRM} = sub { }; alarm 1000", "alarm 500", "alarm(0) ? 'runs' : 'none'"),
    (
        "require Time::HiRes; Time::HiRes::setitimer(Time::HiRes::ITIMER_PROF(), 1000)",
        "require Time::HiRes; Time::HiRes::setitimer(Time::HiRes::ITIMER_PROF(), 500)",
        "require Time::HiRes; (Time::HiRes::getitimer(Time::HiRes::ITIMER_PROF()))[0] ? 'runs' : 'none'",
    ),
    (
        "open our $own, '>', '/dev/null' or die; select $own",
        "open our $foreign, '>', '/dev/null' or die; select $foreign",
        "select eq 'main::STDOUT' ? 'the answer' : 'another'",
    ),
    ("$| = 1", "$| = 0", "$|"),
    ("$| = 0", "$| = 1", "$|"),
];

/// State set by the child init handler. Its timers run on until a request sets others.
const CASES_OF_CHILD_INIT: &[(&str, &str, &str)] = &[
    ("open our $own, '>', '/dev/null' or die; select $own", "1", "select eq 'main::STDOUT' ? 'the answer' : 'another'"),
    ("$0 = 'own'", "$0 = 'foreign'", "$0 =~ m{/scripts/show\\.pl$} ? 'the script' : $0"),
    (
        "require Time::HiRes; $SIG{ALRM} = sub { }; alarm 1000",
        "1",
        "require Time::HiRes; (Time::HiRes::getitimer(Time::HiRes::ITIMER_REAL()))[0] ? 'runs' : 'none'",
    ),
    ("$| = 1", "$| = 0", "$|"),
];

const USR2: &str = "($main::own, $main::foreign) = (0, 0); kill USR2 => $$; \"$main::own $main::foreign\"";

#[test]
fn state_of_start_up_code_is_restored_after_a_request_that_changed_it() {
    if is_tainted() {
        return;
    }
    let mut wrong = Vec::new();
    for (sets, changes, shows) in CASES {
        let show = format!("{TEXT}my $shown = do {{ {shows} }}; {{ local ($,, $\\); print $shown }}");
        let server = site(&format!("{TEXT}{changes};"))
            .file("start.pl", &format!("{sets}; 1;"))
            .script("scripts/show.pl", &show)
            .serve(&format!("{CONF}PerlRequire @DIR@/start.pl"));
        let first = server.text("/perl/show.pl");
        let second = server.text("/perl/show.pl");
        server.get("/perl/test.pl");
        let third = server.text("/perl/show.pl");
        if first.is_empty() || second != first || third != first {
            wrong.push(format!("{sets}, then {changes}: {first:?}, {second:?}, {third:?}: {}", server.log()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn state_of_child_init_is_the_same_in_each_request() {
    if is_tainted() {
        return;
    }
    let mut wrong = Vec::new();
    for (sets, changes, shows) in CASES_OF_CHILD_INIT {
        let server = site(&format!("{TEXT}{changes};"))
            .file("lib/Init.pm", &format!("package Init; sub handler {{ {sets}; 0 }} 1;"))
            .script("scripts/show.pl", &format!("{TEXT}my $shown = do {{ {shows} }}; print $shown"))
            .serve(&format!("{CONF}PerlLib lib\nPerlChildInitHandler Init\n"));
        let first = server.text("/perl/show.pl");
        let second = server.text("/perl/show.pl");
        server.get("/perl/test.pl");
        let third = server.text("/perl/show.pl");
        if first.is_empty() || second != first || third != first {
            wrong.push(format!("{sets}, then {changes}: {first:?}, {second:?}, {third:?}: {}", server.log()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Random session identifiers are worthless when two workers draw the same.
#[test]
fn a_seed_of_start_up_makes_no_two_requests_draw_the_same() {
    let server = site(&format!("{TEXT}print rand;"))
        .file("start.pl", "srand 42; rand; 1;")
        .serve(&format!("{CONF}PerlRequire @DIR@/start.pl\nMaxRequestsPerChild 2\n"));
    let mut drawn: Vec<String> = (0..6).map(|_| server.text("/perl/test.pl")).collect();
    drawn.sort();
    drawn.dedup();
    assert_eq!(drawn.len(), 6, "{drawn:?}");
}

/// A handler that is not a script sees the process name that start-up has set.
#[test]
fn a_handler_finds_the_name_that_start_up_gave() {
    let handler = "package Named; sub handler { my $r = shift; $r->send_http_header('text/plain'); $r->print($0); $0 = 'foreign'; 0 } 1;";
    let server = Site::new().file("lib/Named.pm", handler).file("start.pl", "$0 = 'own'; 1;").serve(
        "MaxClients 1\nStartServers 1\nPerlLib lib\nPerlRequire @DIR@/start.pl\n<Location />\nSetHandler perl-script\nPerlHandler Named\n</Location>\n",
    );
    assert_eq!((server.text("/"), server.text("/")), ("own".to_owned(), "own".to_owned()));
}

#[test]
fn three_scripts_with_sigtrap_are_compiled_by_one_worker() {
    let trap = format!("use sigtrap die => 'normal-signals';\n{TEXT}print 'trapped';");
    let server = site(&trap).script("scripts/two.pl", &trap).script("scripts/three.pl", &trap).serve(CONF);
    for script in ["test", "two", "three"] {
        assert_eq!(server.text(&format!("/perl/{script}.pl")), "trapped", "{script}");
    }
}
