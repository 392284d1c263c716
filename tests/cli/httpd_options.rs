//! Options of httpd and apachectl, with and without the command `serve`.

use crate::support::{Finished, Site};

/// Runs `cameleer` with the words of two lists.
fn run(site: &Site, words: &[&str], more: &[&str]) -> Finished {
    Finished::of(site.command([]).args(words).args(more))
}

const HOSTS: &str = "\nUser root\n<VirtualHost *:8089>\nServerName one.example\nServerAlias two.example *.wild.example\n</VirtualHost>\n\
    <VirtualHost *:8089>\nServerName three.example\n</VirtualHost>\n\
    <VirtualHost 127.0.0.1:8090>\nServerName only.example\nServerAlias also.example\n</VirtualHost>\n";

/// The lines that httpd 2.4 prints for these hosts.
const LISTED: &str = "VirtualHost configuration:\n127.0.0.1:8090         only.example (@DIR@/site.conf:10)\n\
    *:8089                 is a NameVirtualHost\n         default server one.example (@DIR@/site.conf:3)\n\
    \u{20}        port 8089 namevhost one.example (@DIR@/site.conf:3)\n                 alias two.example\n\
    \u{20}                wild alias *.wild.example\n         port 8089 namevhost three.example (@DIR@/site.conf:7)\n";

#[test]
fn the_virtual_hosts_are_listed_as_by_httpd() {
    let site = Site::new();
    site.configure(HOSTS);
    let listed = site.filled(LISTED);
    let settings = format!("ServerRoot: \"{}\"\n", site.folder().display());
    for options in [&["-S"][..], &["serve", "-S"], &["check", "-S"], &["-t", "-D", "DUMP_VHOSTS", "-D", "DUMP_RUN_CFG"]]
    {
        let output = run(&site, options, &["-f", "site.conf"]).succeeded().out;
        assert!(output.starts_with(&format!("{listed}{settings}")), "{options:?}: {output}");
        assert!(output.contains("\nUser: name=\"root\" id=0\n"), "{options:?}: {output}");
    }
    for options in [&["-t", "-D", "DUMP_VHOSTS"][..], &["check", "-D", "DUMP_VHOSTS"]] {
        let output = run(&site, options, &["-f", "site.conf"]).succeeded().out;
        assert_eq!(output, listed, "{options:?}");
    }
    site.cameleer(["-S", "-c", "NoSuchDirective", "-f", "site.conf"]).failed(1, "NoSuchDirective");
}

#[test]
fn a_document_root_that_does_not_exist_is_listed_as_such() {
    let site = Site::new();
    for (line, shown) in [
        ("ServerRoot @DIR@/scripts", "@DIR@/scripts/htdocs\" (default, does not exist)"),
        ("DocumentRoot @DIR@/nowhere", "@DIR@/nowhere\" (does not exist)"),
        ("DocumentRoot @DIR@/htdocs", "@DIR@/htdocs\""),
    ] {
        site.write("own.conf", &format!("Listen @PORT@\n{line}\n"));
        let output = run(&site, &["-S", "-f", "own.conf"], &[]).succeeded().out;
        let row = site.filled(&format!("\nMain DocumentRoot: \"{shown}\n"));
        assert!(output.contains(&row), "{line}: {output}");
    }
}

#[test]
fn options_of_httpd_need_no_command() {
    let site = Site::new();
    site.configure("");
    for (bare, full) in [
        ("-M", "serve -M"),
        ("-M -f site.conf", "serve -M"),
        ("-f site.conf -M", "serve -M"),
        ("-l", "serve -l"),
        ("-l -f site.conf", "serve -l"),
        ("-t -D DUMP_MODULES", "serve -M"),
        ("-t -f site.conf", "serve -t -f site.conf"),
    ] {
        let of = |line: &str| run(&site, &line.split(' ').collect::<Vec<_>>(), &[]).succeeded().out;
        assert_eq!(of(bare), of(full), "{bare}");
    }
}

#[test]
fn help_is_a_command_and_an_option() {
    let site = Site::new();
    assert_eq!(site.cameleer(["help"]).succeeded().out, site.cameleer(["--help"]).succeeded().out);
    assert_eq!(site.cameleer(["help", "check"]).succeeded().out, site.cameleer(["check", "--help"]).succeeded().out);
    site.cameleer(["help", "stauts"]).failed(2, "status");
}
