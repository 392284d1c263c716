//! A start reads the configuration twice: the environment of its code, and the files it loads.

use super::site;
use crate::support::Site;

#[test]
fn files_that_are_all_there_is_to_load_run_at_both_readings() {
    let start = "use Apache2::ServerUtil ();\nopen my $f, '>>', '@DIR@/tmp/readings' or die $!;\n\
        print $f Apache2::ServerUtil::restart_count(), \"\\n\";\n\
        $main::preloaded = 'preloaded' if Apache2::ServerUtil::restart_count() > 1;\n1;\n";
    let code = "sub handler { my $r = shift; $r->print($main::preloaded // 'nothing'); 0 }";
    let server = site(code).file("startup.pl", start).serve(
        "MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\nPerlPostConfigRequire startup.pl\n<Location /my>\nSetHandler modperl\n\
         PerlResponseHandler My\n</Location>",
    );
    assert_eq!(server.text("/my"), "preloaded");
    assert_eq!(server.site.read("tmp/readings"), "1\n2\n");
    server.reload().succeeded();
    let readings = server.site.read("tmp/readings");
    assert_eq!(readings.lines().filter(|line| *line == "1").count(), 1, "a reload is no first reading: {readings}");
    assert_eq!(server.text("/my"), "preloaded");
}

#[test]
fn code_that_dies_at_the_first_reading_ends_the_start_with_its_line() {
    let site = Site::new().file("startup.pl", "die \"not today\\n\";\n");
    site.configure("\nPerlGeneration 2\nPerlPostConfigRequire startup.pl\n");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "site.conf:3: PerlPostConfigRequire: not today");
}

#[test]
fn a_module_may_be_named_with_a_list_of_what_use_would_import() {
    let code = "sub handler { my $r = shift; $r->print($INC{'Apache2/Log.pm'} ? 'loaded' : 'not'); 0 }";
    let conf = |line: &str| {
        format!(
            "MaxClients 1\nStartServers 1\nPerlSwitches -Ilib\n{line}\n<Location /my>\nSetHandler modperl\nPerlResponseHandler My\n</Location>"
        )
    };
    for line in ["PerlModule \"Apache2::Const => ':common'\" Apache2::Log", "PerlModule \"Apache2::Log => ()\" My;"] {
        assert_eq!(site(code).serve(&conf(line)).text("/my"), "loaded", "{line}");
    }
    for line in ["PerlModule \"Apache2::Const => ':common\"", "PerlModule \"Apache2::Const - 1\""] {
        let site = site(code);
        site.configure(&conf(line));
        site.cameleer(["check", "-f", "site.conf"]).failed(78, "PerlModule");
    }
}
