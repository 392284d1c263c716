//! `cameleer check` reports all mistakes at once, each with file and line.

use crate::support::{Finished, Site};

fn check(site: Site, conf: &str) -> Finished {
    site.configure(conf);
    site.cameleer(["check", "-f", "site.conf"])
}

/// The lines of `site.conf` that the messages name, in order.
fn named(checked: &Finished) -> Vec<&str> {
    let lines = checked.err.lines().filter_map(|line| line.split_once("site.conf:")?.1.split(':').next());
    lines.collect()
}

#[test]
fn mistakes_of_the_text_do_not_hide_those_of_its_meaning() {
    let output = check(
        Site::new(),
        "\nMaxClients many\n<Location /a>\nSetHandler\n</Locatio>\nLogFormat \"%Z\" odd\nCustomLog a.log odd\nNoSuchDirective on\n",
    );
    output.clone().failed(78, "site.conf:2: MaxClients");
    let lines = named(&output);
    assert!(["2", "4", "5", "6", "8"].iter().all(|line| lines.contains(line)), "{output:?}");
    let numbers: Vec<u32> = lines.iter().map(|line| line.parse().expect("a number")).collect();
    assert!(numbers.is_sorted(), "in the order of the file: {output:?}");
}

#[test]
fn a_missing_listen_is_reported_with_the_file() {
    let site = Site::new().file("none.conf", "ServerName www.example.com\n");
    site.cameleer(["check", "-f", "none.conf"]).failed(78, "none.conf: no Listen; write for instance `Listen 8080`");
}

#[test]
fn all_unknown_names_are_listed_and_the_first_gets_a_suggestion() {
    let output = check(Site::new(), &"DocumentRot /\n".repeat(300));
    assert_eq!(output.err.matches("DocumentRot: is not a directive").count(), 300);
    assert_eq!(output.err.matches("did you mean DocumentRoot?").count(), 100);
}

#[test]
fn mistakes_that_only_files_show_are_named_beside_the_others() {
    let output = check(
        Site::new(),
        "\nMaxClients many\nListen 127.0.0.1:1 https\nSSLCertificateFile none.pem\nSSLCertificateKeyFile none.key\n\
         SpoolDirectory nowhere\n",
    );
    output.clone().failed(78, "MaxClients").failed(78, "none.pem").failed(78, "site.conf:6: SpoolDirectory: ");
}

#[test]
fn an_account_that_does_not_exist_is_named_with_its_line() {
    if !nix::unistd::geteuid().is_root() {
        return; // another user keeps its account, whatever User says
    }
    check(Site::new(), "\nUser nosuch\nGroup nosuch\n")
        .failed(78, "site.conf:2: User: no such user \"nosuch\"")
        .failed(78, "site.conf:3: Group: no such group \"nosuch\"");
    let site = Site::new();
    site.configure("\nUser nosuch\n");
    site.cameleer(["serve", "-f", "site.conf"]).failed(78, "site.conf:2: User: no such user \"nosuch\"");
}

#[test]
fn folders_that_are_missing_are_warnings() {
    let output = check(
        Site::new(),
        "\nDocumentRoot nowhere\nErrorLog logs/none/error.log\nCustomLog none/access.log common\nCustomLog here.log common\n",
    );
    assert_eq!(output.code, 0, "{output:?}");
    for warning in [
        "site.conf:2: warning: DocumentRoot: ",
        "site.conf:3: warning: ErrorLog: the folder ",
        "site.conf:4: warning: CustomLog: the folder ",
    ] {
        assert!(output.err.contains(warning), "{warning}: {output:?}");
    }
    assert!(!output.err.contains("site.conf:5"), "{output:?}");
}

#[test]
fn a_message_names_the_directive_and_the_words_that_it_knows() {
    let cases = [
        (
            "Header foo bar",
            "site.conf:2: Header: expected set, setifempty, append, merge, add, unset, echo, note, edit or edit*, got \"foo\"",
        ),
        ("PerlHandler +", "site.conf:2: PerlHandler: expected the name of a module after +, got \"+\""),
        ("PerlRequire none.pl", "site.conf:2: PerlRequire: "),
    ];
    for (line, message) in cases {
        check(Site::new(), &format!("\n{line}\n")).failed(78, message);
    }
}

#[test]
fn every_mistake_of_the_sites_perl_is_named() {
    let site = Site::new()
        .file("lib/Broken.pm", "package Broken;\nmy $x = ;\n1;\n")
        .file("startup.pl", "die 'not today';\n")
        .script("scripts/bad.pl", "#!/usr/bin/perl\nuse strict;\n$undeclared = 1;\n");
    let output = check(
        site,
        "\nPerlLib lib\nPerlModule Broken\nPerlRequire startup.pl\nPerlModule Missing::Module\n\
         RegistryPreload /bad.pl scripts/bad.pl\n<Location /x>\nSetHandler perl-script\nPerlHandler No::Such\n</Location>\n",
    );
    for what in ["Broken.pm line 2", "not today", "Missing/Module.pm", "scripts/bad.pl:3: ", "No::Such"] {
        output.clone().failed(78, what);
    }
}

#[test]
fn every_broken_perl_section_is_named() {
    let output = check(Site::new(), "\n<Perl>\ndie 'first';\n</Perl>\n<Perl>\n$x = ;\n</Perl>\n");
    output.clone().failed(78, "site.conf:3: <Perl>: first").failed(78, "site.conf:6: <Perl>: syntax error");
}

const BROKEN: &str = "#!/usr/bin/perl\nprint 1;\nmy $x = ;\n";
const GOOD: &str = "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\ngood $0\";\n";

/// A folder of scripts, two of them broken, and of files that are not scripts.
fn folder() -> Site {
    Site::new()
        .script("cgi/good.pl", GOOD)
        .script("cgi/bad.cgi", BROKEN)
        .script("cgi/below/worse", BROKEN)
        .script("cgi/shell", "#!/bin/sh\necho ${x?not perl}\n")
        .script("cgi/picture.pl", "\u{0}\u{1}")
        .file("cgi/lib.pl", BROKEN)
}

#[test]
fn check_of_a_folder_compiles_every_script_that_stays_and_names_all_that_are_broken() {
    let site = Site::new().script("cgi/good.pl", GOOD);
    let check = ["check", "cgi", "--cgi-mode", "persistent"];
    assert!(site.cameleer(check).succeeded().out.contains("Syntax OK"));
    let output = folder().cameleer(check).failed(78, "cgi/bad.cgi:3: ").failed(78, "cgi/below/worse:3: ");
    for innocent in ["good.pl", "shell", "lib.pl"] {
        assert!(!output.err.contains(innocent), "{innocent}: {output:?}");
    }
}

#[test]
fn a_served_folder_is_compiled_before_the_fork_and_a_broken_script_leaves_the_others_alone() {
    let compiled = "BEGIN { open my $f, '>>', '@DIR@/compiled'; print $f \"x\" }\n";
    let site =
        folder().script("cgi/once.pl", &format!("#!/usr/bin/perl\n{compiled}print \"Status: 200\\n\\nonce\";\n"));
    let server = site.run(["cgi/", "--cgi-mode", "persistent"]);
    for _ in 0..4 {
        assert_eq!(server.text("/once.pl"), "once");
    }
    assert_eq!(server.site.read("compiled"), "x", "in the mold, and never again");
    assert!(server.text("/good.pl").starts_with("good "));
    server.get("/bad.cgi").is(500);
    server.logged("cgi/bad.cgi:3: ");
    server.logged("cgi/below/worse:3: ");
}

#[test]
fn handlers_that_nothing_defines_are_reported() {
    let conf = "\n<Location /f>\nSetHandler lua-script\n</Location>\n<FilesMatch \"\\.php$\">\n\
        SetHandler \"proxy:unix:/run/php.sock|fcgi://localhost\"\n</FilesMatch>\n\
        AddHandler x-odd .odd\nAddHandler x-known .known\nAction x-known /cgi-bin/known\n<Location /s>\nSetHandler server-status\n</Location>\n\
        AddHandler cgi-script .cgi\nAddHandler fcgid-script .fcgi\n";
    let output = check(Site::new(), conf).succeeded();
    assert!(["3", "8"].iter().eq(named(&output).iter()), "{output:?}");
    for expected in [
        "site.conf:3: warning: SetHandler: unknown handler lua-script, requests for it are answered 500; ",
        "site.conf:8: warning: AddHandler: unknown handler x-odd",
    ] {
        assert!(output.err.contains(expected), "{expected}: {output:?}");
    }
}

#[test]
fn a_reader_that_leaves_changes_no_status() {
    use std::os::fd::OwnedFd;
    for (conf, expected) in [("AddHandler x-odd .odd\n", 0), ("NoSuchDirective on\n", 78)] {
        let site = Site::new();
        site.configure(conf);
        let cases: [(&[&str], i32); 3] = [
            (&["check", "-f", "site.conf"], expected),
            (&["check", "--compat", "-f", "site.conf"], expected.min(1)),
            (&["serve", "-v"], 0),
        ];
        for (arguments, expected) in cases {
            // The pipe's reading end is closed before the program starts.
            let pipe = || OwnedFd::from(std::io::pipe().expect("a pipe").1);
            let status = site.command([]).args(arguments).stdout(pipe()).stderr(pipe()).status().expect("it starts");
            assert_eq!(status.code(), Some(expected), "{arguments:?} {conf}");
        }
    }
}

/// Lines that each Debian tree of httpd has, and three that matter.
#[test]
fn lines_of_a_stock_tree_without_effect_are_one_line() {
    let stock = "LoadModule mpm_event_module modules/mod_mpm_event.so\nLoadModule cgid_module modules/mod_cgid.so\n\
        StartServers 2\nMinSpareThreads 25\nMaxSpareThreads 75\nThreadLimit 64\nThreadsPerChild 25\nProxyStatus On\n\
        ProxyHTMLLinks a href\nProxyHTMLEvents onclick\nSSLRandomSeed startup builtin\n";
    let matters = "LoadModule evasive20_module modules/mod_evasive.so\nDocumentRoot nowhere\nSetHandler perlscript\n";
    let site = Site::new();
    site.configure(&format!("\n{stock}{matters}"));
    let output = site.cameleer(["check", "-f", "site.conf"]).succeeded();
    let lines: Vec<&str> = output.err.lines().collect();
    assert_eq!(lines.len(), 4, "{output:?}");
    assert_eq!(
        lines
            .iter()
            .filter(|line| **line
                == "10 lines for httpd have no effect here (LoadModule, MinSpareThreads, \
            MaxSpareThreads, ThreadLimit, ThreadsPerChild and 4 other directives); check --all lists them")
            .count(),
        1,
        "{output:?}"
    );
    let all = site.cameleer(["check", "--all", "-f", "site.conf"]).succeeded();
    assert_eq!(all.err.matches(": warning: ").count(), 13, "{all:?}");
    assert!(all.err.contains("site.conf:3: warning: LoadModule: cgid_module"), "{all:?}");
    // What would change the site is still an error.
    check(Site::new(), "\nProxyHTMLEnable On\n").failed(78, "ProxyHTMLEnable");
}

#[test]
fn hosts_that_are_not_reached_and_places_without_users_are_warnings() {
    let site = Site::new().file("users", "a:b\n").file("lib/My/Auth.pm", "package My::Auth; sub handler { 0 } 1;");
    let conf = site.filled(
        "\n<VirtualHost *:8443>\nServerName a.example\nDocumentRoot nowhere\n</VirtualHost>\n\
         <VirtualHost *:@PORT@>\nServerName b.example\n<Location /p>\nSetHandler perlscript\n</Location>\n\
         <Location /private>\nAuthType Basic\nAuthName x\nRequire valid-user\n</Location>\n\
         <Location /files>\nAuthType Basic\nAuthName x\nAuthUserFile users\nRequire valid-user\n</Location>\n\
         <Location /files/inner>\nRequire user a\n</Location>\n\
         <Location /perl>\nAuthType Basic\nAuthName x\nPerlAuthenHandler My::Auth\nRequire valid-user\n</Location>\n\
         <Location /open>\nAuthType Basic\nAuthName x\nRequire all granted\n</Location>\n</VirtualHost>\n\
         PerlLib lib\nPerlModule My::Auth\n",
    );
    let output = check(site, &conf);
    assert_eq!(output.code, 0, "{output:?}");
    for warning in [
        "site.conf:2: warning: VirtualHost *:8443: no Listen for this address, so that no request reaches the host; write Listen 8443",
        "site.conf:4: warning: DocumentRoot: ",
        "site.conf:9: warning: SetHandler: unknown handler perlscript",
        "site.conf:11: warning: AuthType Basic without an AuthUserFile: ",
    ] {
        assert!(output.err.contains(warning), "{warning}: {output:?}");
    }
    assert_eq!(output.err.matches("warning: ").count(), 4, "{output:?}");
}

#[test]
fn a_place_for_perl_code_without_a_handler_is_a_warning() {
    let module = "package My; sub handler { 0 } 1;";
    let warns = |conf: &str| {
        let site = Site::new().file("lib/My.pm", module).file("htdocs/a/b.txt", "text");
        let output = check(site, &format!("\nPerlLib lib\nPerlModule My\n{conf}"));
        assert_eq!(output.code, 0, "{output:?}");
        output.err.matches("no Perl code responds").count()
    };
    let bare = "<Location /a>\nSetHandler perl-script\n</Location>\n";
    let server = Site::new().file("htdocs/a/b.txt", "text").serve(bare);
    assert_eq!(server.text("/a/b.txt"), "text");
    let output = check(Site::new(), &format!("\n{bare}"));
    let warning = "site.conf:3: warning: SetHandler: perl-script without a PerlHandler: no Perl code responds, \
        and files are sent as they are; write `PerlHandler NAME`";
    assert!(output.err.contains(warning), "{output:?}");
    assert_eq!(warns("PerlGeneration 2\n<Location /a>\nSetHandler modperl\n</Location>\n"), 1);
    assert_eq!(warns(&format!("{bare}<Location /b>\nSetHandler perl-script\nPerlHandler My\n</Location>\n")), 1);
    for code in [
        "PerlHandler My\n",
        "<Location /a/b>\nPerlHandler My\n</Location>\n",
        "<Location />\nPerlHandler My\n</Location>\n",
        "<Files *.txt>\nPerlHandler My\n</Files>\n",
        "PerlFixupHandler My\n",
        "<Directory @DIR@/htdocs>\nAllowOverride FileInfo\n</Directory>\n",
        "<Perl>\n$Location{'/a'} = { PerlHandler => 'My' };\n</Perl>\n",
    ] {
        assert_eq!(warns(&Site::new().filled(&format!("{bare}{code}"))), 0, "{code}");
    }
}
