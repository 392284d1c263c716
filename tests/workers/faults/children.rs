//! Child processes of scripts: they get descriptors 0 to 2 only, and are reaped.

use crate::support::{Request, Server, Site, until};

/// A shell program that prints the numbers of its open descriptors.
const SHOW: &str = "for f in /proc/$$/fd/*; do readlink $f >/dev/null && echo ${f##*/}; done";

fn serve(script: &str) -> Server {
    let text = format!("print \"Content-Type: text/plain\\n\\n\"; $| = 1; my $show = '{SHOW}';");
    let conf = "MaxClients 1\nStartServers 1\nCgiMode persistent\nScriptAlias /cgi/ @DIR@/scripts/\nCustomLog access.log common";
    Site::new().script("scripts/test.pl", &format!("{text}{script}")).serve(conf)
}

#[test]
fn a_started_program_has_descriptors_0_to_2_and_no_other() {
    let ways = [
        "system '/bin/sh', '-c', $show",
        "print `$show`",
        "open my $p, '-|', '/bin/sh', '-c', $show or die; print <$p>",
        "my $kid = fork // die; exec '/bin/sh', '-c', $show if !$kid; waitpid $kid, 0",
    ];
    for way in ways {
        let server = serve(&format!("open my $own, '<', '/etc/passwd' or die; {way}"));
        let upload = Request::new("POST", "/cgi/test.pl").body(vec![b'x'; 1 << 20]);
        for request in [Request::get("/cgi/test.pl"), upload] {
            let named = server.send(request).is(200).text();
            assert_eq!(named.lines().collect::<Vec<_>>(), ["0", "1", "2"], "{way}");
        }
    }
}

#[test]
fn children_without_wait_are_no_zombies_after_the_next_request() {
    let server =
        serve("if ($ENV{QUERY_STRING}) { for (1 .. 5) { my $kid = fork // die; CORE::exit(0) if !$kid } } print $$");
    let worker: i32 = server.text("/cgi/test.pl?fork").parse().expect("a pid");
    until("none of its children is left", || {
        assert_eq!(server.text("/cgi/test.pl"), worker.to_string());
        crate::support::children(worker).is_empty()
    });
}

#[test]
fn waitpid_returns_a_programs_own_child() {
    let server = serve(
        "my $kid = fork // die; if (!$kid) { CORE::exit(3) } 1 until do { open my $f, '<', \"/proc/$kid/stat\"; <$f> =~ /\\) Z / }; waitpid $kid, 0; print $? >> 8, system('/bin/sh', '-c', 'exit 4') >> 8",
    );
    assert_eq!(server.text("/cgi/test.pl") + &server.text("/cgi/test.pl"), "3434");
}

/// An application that leaves a child process behind. The child ends when the file `go` exists.
const LEAVES: &str = "sub { my $p = $_[0]{PATH_INFO};\n\
    if ($p eq '/leave') { local $SIG{CHLD} = 'IGNORE'; if (!(fork // die)) { select undef, undef, undef, 0.01 until -e '@DIR@/go'; CORE::exit(0) } }\n\
    if ($p eq '/system') { return [200, [], [join ' ', map { system('/bin/sh', '-c', \"exit $_\") >> 8 } 1 .. 3]] }\n\
    [200, [], [$$]] }";

#[test]
fn children_that_end_while_their_worker_is_idle_are_reaped_at_once() {
    let server = Site::new().file("app.psgi", LEAVES).run_with_one_worker(["app.psgi"]);
    let worker: i32 = server.text("/leave").parse().expect("a pid");
    let [child] = crate::support::children(worker)[..] else { panic!("one child is left") };
    assert!(crate::support::alive(child));
    server.site.write("go", "");
    // The worker must reap the child without a further request.
    until("the child is reaped", || crate::support::children(worker).is_empty());
    assert_eq!(server.text("/"), worker.to_string());
}

#[test]
fn a_child_that_is_left_behind_changes_nothing_for_later_programs() {
    let server = Site::new().file("app.psgi", LEAVES).run_with_one_worker(["app.psgi"]);
    let worker: i32 = server.text("/leave").parse().expect("a pid");
    for _ in 0..3 {
        assert_eq!(server.text("/system"), "1 2 3");
    }
    assert_eq!(crate::support::children(worker).len(), 1);
    server.site.write("go", "");
    until("the child is reaped", || crate::support::children(worker).is_empty());
}
