//! What programs that scripts start get of us: descriptors 0 to 2, and an end.

use crate::support::{Request, Server, Site, until};

/// A program of the shell that names the descriptors it has.
const SHOW: &str = "for f in /proc/$$/fd/*; do readlink $f >/dev/null && echo ${f##*/}; done";

fn serve(script: &str) -> Server {
    let text = format!("print \"Content-Type: text/plain\\n\\n\"; $| = 1; my $show = '{SHOW}';");
    let conf = "MaxClients 1\nStartServers 1\nScriptAlias /cgi/ @DIR@/scripts/\nCustomLog access.log common";
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
fn children_that_nobody_waits_for_are_no_zombies_after_the_next_request() {
    let server =
        serve("if ($ENV{QUERY_STRING}) { for (1 .. 5) { my $kid = fork // die; CORE::exit(0) if !$kid } } print $$");
    let worker: i32 = server.text("/cgi/test.pl?fork").parse().expect("a pid");
    until("none of its children is left", || {
        assert_eq!(server.text("/cgi/test.pl"), worker.to_string());
        crate::support::children(worker).is_empty()
    });
}

#[test]
fn a_program_waits_for_its_own_child_as_ever() {
    let server = serve(
        "my $kid = fork // die; if (!$kid) { CORE::exit(3) } 1 until do { open my $f, '<', \"/proc/$kid/stat\"; <$f> =~ /\\) Z / }; waitpid $kid, 0; print $? >> 8, system('/bin/sh', '-c', 'exit 4') >> 8",
    );
    assert_eq!(server.text("/cgi/test.pl") + &server.text("/cgi/test.pl"), "3434");
}
