//! `<Perl>` sections that die, never end, or contain invalid values.

use crate::support::Server;

use super::{check, site};

#[test]
fn a_mistake_in_a_section_is_reported_with_file_and_line() {
    for (conf, at, words) in [
        ("\n<Perl>\n\ndie 'enough';\n</Perl>", "site.conf:4: ", "<Perl>: enough"),
        ("\n<Perl>\nmy $x = ;\n</Perl>", "site.conf:3: ", "<Perl>: syntax error"),
        ("\n<Perl>\nexit 3;\n</Perl>", "site.conf:2: ", "<Perl>: the code called exit(3)"),
        ("\n<Perl>\nrequire Not::There;\n</Perl>", "site.conf:3: ", "Can't locate Not/There.pm"),
        ("\n<Perl>\n$MaxClients = 'many';\n</Perl>", "site.conf:2: ", "MaxClients: expected auto or a number"),
        ("\n<Perl>\n@Alias = '/one';\n</Perl>", "site.conf:2: ", "Alias: expected `Alias"),
        ("\n<Perl>\n%ServerAdmin = (a => 1);\n</Perl>", "site.conf:2: ", "is not a section"),
        ("\n<Perl>\n$Location{'/x'} = 1;\n</Perl>", "site.conf:2: ", "expected a hash of directives"),
        ("\n<Perl>\n$Location{'/x'}{Listen} = 81;\n</Perl>", "site.conf:2: ", "Listen: is not allowed in <Location>"),
        ("\n<Perl>\n$Location{'/x'}{SetHandlr} = 'x';\n</Perl>", "site.conf:2: ", "did you mean SetHandler?"),
        (
            "\n<Perl>\n$Apache::Server::StrictPerlSections = 1; $MaxClientz = 5;\n</Perl>",
            "site.conf:2: ",
            "MaxClientz: is not a directive: did you mean MaxClients?",
        ),
        ("\n<Perl>\n$PerlConfig = '<Location /x>';\n</Perl>", "site.conf:2: ", "never closed"),
        ("\n<Perl>\n1;\n", "site.conf:2: ", "<Perl>: this section is never closed"),
        (
            "\nPerlModule Not::There\n<Perl>\n</Perl>",
            "site.conf:2: PerlModule: Can't locate Not/There.pm",
            "with PerlLib",
        ),
        ("\n<Perl>\n</Perl>\nMaxClientz 5", "site.conf:4: ", "did you mean MaxClients?"),
    ] {
        let output = check(conf);
        assert_eq!(output.code, 78, "{conf}: {output:?}");
        let line = output.err.lines().find(|line| line.contains(at)).unwrap_or_else(|| panic!("{conf}: {output:?}"));
        assert!(line.contains(words), "{conf}: {output:?}");
    }
}

#[test]
fn a_name_that_is_no_directive_is_passed_over_with_a_word() {
    let output = check("\n<Perl>\n$MaxClientz = 5; $helper = 1; @list = (1);\n</Perl>").succeeded();
    assert!(output.err.contains("MaxClientz is no directive and is ignored"), "{output:?}");
    assert!(!output.err.contains("helper") && !output.err.contains("list"), "{output:?}");
}

#[test]
fn httpd_conf_in_a_start_up_file_is_refused_with_advice() {
    let site = site().file("startup.pl", "Apache->httpd_conf('MaxClients 3'); 1;");
    site.configure("\nSetHandler perl-script\nPerlRequire startup.pl\n");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "call it in a <Perl> section");
}

#[test]
fn no_port_is_bound_when_a_section_dies() {
    let site = site();
    site.configure("\n<Perl>\ndie 'no start';\n</Perl>");
    let command = site.serve_command();
    let port = site.port;
    let mut server = Server::spawn(site, command);
    assert_eq!(server.wait(), 78);
    server.logged("site.conf:3: <Perl>: no start");
    std::net::TcpListener::bind(("127.0.0.1", port)).expect("nobody listens there");
}

#[test]
fn a_section_that_does_not_end_is_ended() {
    check("\nStartTimeout 3\n<Perl>\nsleep 60 while 1;\n</Perl>")
        .failed(78, "site.conf:3: <Perl>: still runs after 3 s; shorten it, or raise StartTimeout");
}

#[test]
fn a_section_that_ends_its_process_is_named() {
    let blamed = "site.conf:4: <Perl>: ended the process that runs it; find the code that kills or crashes it";
    for (code, blamed) in [
        ("kill 'KILL', $$;", blamed),
        ("my $nowhere = unpack 'p', pack 'J', 1;", blamed),
        ("require POSIX; POSIX::_exit(0);", blamed),
        ("", "site.conf:7: PerlModule: ended the process that runs it"),
    ] {
        let site = site().file("lib/Deadly.pm", "package Deadly; kill 'KILL', $$; 1;");
        site.configure(&format!("\nPerlLib lib\nPerlModule Who\n<Perl>\n{code}\n</Perl>\nPerlModule Deadly"));
        let command = site.serve_command();
        let port = site.port;
        let mut server = Server::spawn(site, command);
        assert_eq!(server.wait(), 78, "{code}");
        server.logged(blamed);
        std::net::TcpListener::bind(("127.0.0.1", port)).expect("nobody listens there");
    }
}

#[test]
fn the_old_generation_serves_while_a_section_runs() {
    const SITE: &str = "LogLevel info\nPerlLib lib\nSetHandler perl-script\nPerlHandler Who\nPerlSetVar who";
    let server = site().serve(&format!("{SITE} old"));
    server.site.configure(&format!(
        "{SITE} new\n<Perl>\nif (unlink '@DIR@/armed') {{ open my $in, '<', '@DIR@/gate' or die $!; readline $in }}\n</Perl>",
    ));
    server.site.write("armed", "");
    let gate = server.site.path("gate");
    nix::unistd::mkfifo(&gate, nix::sys::stat::Mode::S_IRWXU).expect("a fifo in TMPDIR");
    let reload = std::thread::scope(|scope| {
        let reloading = scope.spawn(|| server.reload());
        server.logged("expander");
        assert_eq!(server.text("/"), "who=old");
        assert_eq!(server.status()["generation"], 1);
        std::fs::write(&gate, "open\n").expect("the expander reads");
        reloading.join().expect("no panic")
    });
    reload.succeeded();
    assert_eq!(server.text("/"), "who=new");
}

#[test]
fn an_expander_that_is_killed_fails_the_reload_only() {
    let server = site().serve("PerlLib lib\nSetHandler perl-script\nPerlHandler Who\nPerlSetVar who old");
    server.site.configure("<Perl>\nkill 9, $$;\n</Perl>");
    server.reload().failed(1, "site.conf:2: <Perl>: ended the process that runs it");
    assert_eq!(server.text("/"), "who=old");
    server.site.configure("StartTimeout 3\n<Perl>\nsleep 60 while 1;\n</Perl>");
    server.reload().failed(1, "<Perl>: still runs after 3 s; shorten it, or raise StartTimeout");
    assert_eq!(server.text("/"), "who=old");
}
