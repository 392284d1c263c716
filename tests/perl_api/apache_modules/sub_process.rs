//! Apache::SubProcess.

use super::{CONF, URL, script, with_script};
use crate::support::{Server, Site, until};

const SOCKETS: &str = "sub sockets { opendir my $d, '/proc/self/fd'; scalar grep { (readlink \"/proc/self/fd/$_\" // '') =~ /^socket/ } readdir $d }";

#[test]
fn a_child_that_was_cleaned_up_has_no_socket() {
    let server = script(
        &format!(
            "use Apache::SubProcess; use IO::Socket::INET; {SOCKETS} my $own = IO::Socket::INET->new(Listen => 1); print 'worker ', sockets() > 1 ? 'some' : 'few', \"\\n\"; $| = 1;\
             defined(my $kid = fork) or die; if ($kid) {{ waitpid $kid, 0 }} else {{ $r->cleanup_for_exec; print 'child ', sockets(), \"\\n\"; CORE::exit(0) }} print 'and on';"
        ),
        "",
    );
    assert_eq!(server.text(URL), "worker some\nchild 0\nand on");
    assert_eq!(server.text(URL), "worker some\nchild 0\nand on");
}

/// A long-running child. The child ends at the latest when the test's folder is removed. Under `-X` the child of the
/// single process would inherit the listening socket.
const LONG_CHILD: &str = "use POSIX 'setsid'; use Apache::SubProcess; $SIG{CHLD} = 'IGNORE';
defined(my $kid = fork) or die;
if ($kid) { print 'started' } else {
    $r->cleanup_for_exec; chdir '/'; open STDIN, '/dev/null'; open STDOUT, '>/dev/null'; open STDERR, '>', '@DIR@/child.log'; setsid();
    open my $up, '>', '@DIR@/child.up'; close $up;
    select undef, undef, undef, 0.01 until -e '@DIR@/child.end' || !-e '@DIR@/site.conf';
    open my $done, '>', '@DIR@/child.done';
    CORE::exit(0);
}";

#[test]
fn the_server_can_end_and_start_again_while_a_child_lives() {
    for arguments in [&["-X"][..], &[]] {
        let site = with_script(Site::new(), LONG_CHILD);
        site.configure(CONF);
        let mut command = site.serve_command();
        command.args(arguments);
        let mut server = Server::start(site, command);
        assert_eq!(server.text(URL), "started");
        until("the child is there", || server.site.has("child.up"));
        server.signal(nix::sys::signal::Signal::SIGTERM);
        assert_eq!(server.wait(), 0);
        let verb = |verb| server.site.cameleer(["serve", "-f", "site.conf", "-k", verb]).succeeded();
        verb("start");
        server.get("/none").is(404);
        assert!(!server.site.has("child.done"), "the child lives on");
        server.site.write("child.end", "");
        until("the child has ended by itself", || server.site.has("child.done"));
        verb("stop");
    }
}

#[test]
fn spawn_child_gives_what_code_or_a_program_prints() {
    let server = script(
        "use Apache::SubProcess; $ENV{PATH} = '/usr/bin:/bin'; $r->send_fd(scalar $r->spawn_child(sub { my ($r, $who) = @_; print \"by $who\\n\" }, 'code'));\
         $r->subprocess_env(HELLO => 'world'); $r->send_fd(scalar $r->spawn_child(sub { $_[0]->call_exec('/bin/sh', '-c', 'echo $HELLO') }));\
         my ($to, $from, $err) = $r->spawn_child(sub { $_[0]->call_exec('/bin/sh', '-c', 'tr a-z A-Z; echo oops >&2') }); print $to 'shout'; close $to;\
         print <$from>, '|', <$err>;",
        "",
    );
    assert_eq!(server.text(URL), "by code\nworld\nSHOUT|oops\n");
}

#[test]
fn system_and_exec_write_to_the_client_and_the_worker_lives() {
    let server = script(
        "use Apache::SubProcess qw(system exec); $ENV{PATH} = '/usr/bin:/bin'; print 'a '; system '/bin/echo', 'b c'; print \"$$ \"; exec \"/bin/echo d; exit 3\"; print 'never';",
        "",
    );
    let first = server.text(URL);
    assert!(first.starts_with("a b c\n") && first.ends_with(" d\n"), "{first}");
    assert_eq!(server.text(URL), first, "the same process");
}

#[test]
fn apache_fork_cleans_up_too() {
    let server = script(
        &format!(
            "use Apache::fork; {SOCKETS} $| = 1; my $pid = Apache::fork::fork(); if (!$pid) {{ print 'child ', sockets(); STDOUT->flush; Apache::fork::child_exit(0) }} waitpid $pid, 0; print ' done';"
        ),
        "",
    );
    assert_eq!(server.text(URL), "child 0 done");
}

/// The documented use: the parent responds immediately, the child continues.
#[test]
fn a_long_child_neither_keeps_the_client_nor_the_worker_nor_a_reload() {
    let server = script(LONG_CHILD, "");
    assert_eq!(server.text(URL), "started");
    until("the child is there", || server.site.has("child.up"));
    assert_eq!(server.text("/perl/test.pl?again"), "started", "the only worker is free");
    server.reload().succeeded();
    assert!(!server.site.has("child.done"), "the child lives on");
    server.site.write("child.end", "");
    until("the child has ended by itself", || server.site.has("child.done"));
}
