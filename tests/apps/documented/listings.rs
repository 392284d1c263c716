//! The documents' single listings: values that change their representation when read, memory that stays allocated,
//! handlers without files, a profile of one process.

use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::support::{Finished, REGISTRY, Server, Site};

/// Room for more workers, so that no line about their number stands between two of a dump.
fn quiet() -> String {
    format!("{REGISTRY}MaxClients 3\n")
}

/// The dumps of Devel::Peek in the error log, each starting at its `SV =`.
fn dumps(server: &Server) -> Vec<String> {
    let log = server.log();
    log.split("SV = ").skip(1).map(str::to_owned).collect()
}

#[test]
fn reading_a_number_as_text_changes_it_and_reading_it_as_a_number_does_not() {
    let script = "use Devel::Peek;\nmy $n = 7;\nprint \"Content-Type: text/plain\\n\\n\";\n\
        Dump($n); my $sum = $n + 1; Dump($n); my $text = \"<$n>\"; Dump($n); print $sum, $text;\n";
    let server = Site::new().script("scripts/peek.pl", script).serve(&quiet());
    assert_eq!(server.text("/perl/peek.pl"), "8<7>");
    let dumps = dumps(&server);
    assert_eq!(dumps.len(), 3, "{dumps:?}");
    assert!(dumps[0].starts_with("IV(") && dumps[1].starts_with("IV("), "{dumps:?}");
    assert!(dumps[2].starts_with("PVIV(") && dumps[2].contains("\"7\"\\0"), "{dumps:?}");
}

#[test]
fn a_long_text_leaves_its_memory_to_the_next_run() {
    let script = "use Devel::Peek;\nprint \"Content-Type: text/plain\\n\\n\";\nfill() for 1 .. 2;\nprint 'filled';\n\
        sub fill { my $text; Dump $text; $text = 'y' x 50_000; $text = ''; Dump $text }\n";
    let server = Site::new().script("scripts/fill.pl", script).serve(&quiet());
    assert_eq!(server.text("/perl/fill.pl"), "filled");
    let dumps = dumps(&server);
    assert_eq!(dumps.len(), 4, "{dumps:?}");
    assert!(dumps[0].starts_with("NULL("), "{dumps:?}");
    let buffer = |dump: &str| dump.lines().find(|line| line.contains("PV = 0x")).map(str::to_owned);
    assert!(buffer(&dumps[1]).is_some(), "{dumps:?}");
    assert_eq!([buffer(&dumps[2]), buffer(&dumps[3])], [buffer(&dumps[1]), buffer(&dumps[1])]);
    let length = dumps[2].lines().find_map(|line| line.trim().strip_prefix("LEN = ")).and_then(|n| n.parse().ok());
    assert!(length.is_some_and(|n: u32| n >= 50_000), "{dumps:?}");
}

/// A handler that answers by the parts of the address, without `use strict`, as short handlers were written.
const REPORT: &str = "package Shop::Report;\nuse Apache::Constants qw(:common);\n\
    sub handler {\n    my $r = shift;\n    my @parts = split '/', $r->uri;\n    $r->send_http_header('text/plain');\n\
    print \"Report on @parts\\n\";\n    return OK;\n}\n1;\n";

#[test]
fn a_handler_for_addresses_that_are_no_files_answers_alike_under_every_tuning() {
    let override_all = "<Directory />\nAllowOverride All\n</Directory>\n";
    let override_none = "<Directory />\nAllowOverride None\n</Directory>\n";
    let alias = "Alias /report /\n";
    let trans = "<Perl>\npackage Shop::Ways;\nuse Apache::Constants qw(:common);\n\
        sub handler { my $r = shift; return $r->uri =~ m|^/report| ? OK : DECLINED }\n\
        package Apache::ReadConfig;\n$PerlTransHandler = 'Shop::Ways';\n</Perl>\n";
    let nothing_is_translated = "PerlModule Apache::Constants\nPerlTransHandler Apache::Constants::OK\n";
    for tuning in [
        override_all.to_owned(),
        override_none.to_owned(),
        format!("{override_all}{alias}"),
        format!("{override_none}{alias}"),
        format!("{override_all}{trans}"),
        format!("{override_none}{trans}"),
        nothing_is_translated.to_owned(),
    ] {
        let server = Site::new().file("lib/Shop/Report.pm", REPORT).serve(&format!(
            "PerlLib lib\n{tuning}<Location /report>\nSetHandler perl-script\nPerlHandler +Shop::Report\n</Location>"
        ));
        assert_eq!(
            server.text("/report/perl/mod_perl/summary"),
            "Report on  report perl mod_perl summary\n",
            "{tuning}"
        );
    }
}

#[test]
fn the_one_process_is_profiled_from_its_start_until_it_is_killed_by_its_pid_file() {
    let site = Site::new().file("lib/Shop/Report.pm", REPORT);
    site.configure(
        "PerlLib lib\nPidFile logs.pid\n<Location /report>\nSetHandler perl-script\nPerlHandler +Shop::Report\n</Location>",
    );
    let mut command = site.serve_command();
    // `-d:DProf` is perl's switch that loads Devel::DProf.
    command.arg("-X").env("PERL5OPT", "-d:DProf");
    let mut server = Server::start(site, command);
    for _ in 0..3 {
        server.text("/report/x");
    }
    let pid: i32 = server.site.read("logs.pid").trim().parse().expect("a pid file");
    kill(Pid::from_raw(pid), Signal::SIGTERM).expect("our own process");
    assert_eq!(server.wait(), 0);
    assert!(!server.site.has("logs.pid"));
    let report =
        Finished::of(Command::new("dprofpp").args(["-O", "9999"]).current_dir(server.site.folder())).succeeded();
    let line =
        report.out.lines().find(|line| line.ends_with("Shop::Report::handler")).unwrap_or_else(|| panic!("{report:?}"));
    assert_eq!(line.split_whitespace().nth(3), Some("3"), "three calls: {line}");
}
