//! Mistakes in pools, reported by `check` with their line.

use std::fmt::Write;

use super::{BOTH, site};

/// Asserts that `check` rejects `conf` with the message `what`. `conf` begins below the lines of the base.
#[track_caller]
fn refused(conf: &str, what: &str) {
    let site = site();
    site.configure(conf);
    site.cameleer(["check", "-f", "site.conf"]).failed(78, what);
}

const PLACE: &str = "<Location /x>\nPerlPool x\n</Location>\n";

#[test]
fn an_unknown_name_is_an_error_that_lists_the_known_ones() {
    refused(
        "\n<WorkerPool x>\n</WorkerPool>\n<Location /x>\nPerlPool x\n</Location>\n<Location /y>\nPerlPool z\n</Location>",
        "PerlPool: there is no <WorkerPool z>; define it outside of all sections, or name one of default, x",
    );
}

#[test]
fn unused_duplicate_and_misnamed_pools_are_errors() {
    refused("<WorkerPool x>\n</WorkerPool>", "<WorkerPool x>: no place uses it; write `PerlPool x`");
    refused(
        &format!("<WorkerPool x>\n</WorkerPool>\n<WorkerPool X>\n</WorkerPool>\n{PLACE}"),
        "<WorkerPool X>: is already defined at ",
    );
    refused(&format!("<WorkerPool default>\n</WorkerPool>\n{PLACE}"), "is the default pool");
    refused("<WorkerPool a/b>\n</WorkerPool>", "expected letters, digits");
}

#[test]
fn a_location_with_two_pools_is_an_error() {
    let two = "<WorkerPool x>\n</WorkerPool>\n<WorkerPool y>\n</WorkerPool>\n<Location /x>\nPerlPool x\nPerlPool y\n</Location>";
    refused(two, "PerlPool: this place already has pool x");
    let parent = "<WorkerPool x>\n</WorkerPool>\n<VirtualHost *>\nPerlPool x\nPerlOptions +Parent\n</VirtualHost>";
    refused(parent, "PerlOptions: Parent gives this host its own pool, but PerlPool names x; remove one");
}

#[test]
fn the_main_server_and_htaccess_files_choose_no_pool() {
    refused("PerlPool default", "PerlPool: is not allowed in the main server");
    let site = site().file("htdocs/.htaccess", "PerlPool default\n").file("htdocs/a", "a");
    let server = site.serve("<Directory />\nAllowOverride All\n</Directory>");
    server.get("/a").is(500);
    server.logged(".htaccess:1: PerlPool: is not allowed in .htaccess");
}

#[test]
fn a_contradiction_in_a_pool_has_its_line() {
    let conf = BOTH.replace("PerlHandler Apache::Registry", "PerlResponseHandler ModPerl::Registry");
    let site = site();
    site.configure(&conf);
    let conf = site.read("site.conf");
    let line = conf.lines().position(|line| line.starts_with("PerlResponseHandler")).expect("there") + 1;
    let what =
        format!("site.conf:{line}: PerlResponseHandler: belongs to mod_perl 2, and pool old has mod_perl 1's API");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, &what);
    refused(
        &format!("<WorkerPool x>\nPerlGeneration 1\nPerlGeneration 2\n</WorkerPool>\n{PLACE}"),
        "PerlGeneration 2 contradicts an earlier line of pool x",
    );
}

#[test]
fn broken_code_of_a_pool_is_found_by_check() {
    refused(
        &format!("<WorkerPool x>\nPerlModule No::Such\n</WorkerPool>\n{PLACE}"),
        "PerlModule: Can't locate No/Such.pm in @INC",
    );
}

#[test]
fn the_number_of_pools_is_limited() {
    let mut conf = String::new();
    for number in 0..1000 {
        let _ = write!(
            conf,
            "<WorkerPool p{number}>\n</WorkerPool>\n<Location /{number}>\nPerlPool p{number}\n</Location>\n"
        );
    }
    let site = site();
    site.configure(&conf);
    let output = site.cameleer(["check", "-f", "site.conf"]);
    let failed =
        output.failed(78, "there are 1001 pools of workers, including the default pool, but at most 32 are allowed");
    assert_eq!(failed.err.lines().count(), 1, "{}", failed.err);
}

#[test]
fn a_directive_of_the_server_is_refused_in_a_pool() {
    refused(
        &format!("<WorkerPool x>\nMemoryBudget 1G\n</WorkerPool>\n{PLACE}"),
        "MemoryBudget: is not allowed in <WorkerPool>",
    );
    refused(&format!("<WorkerPool x>\nListen 80\n</WorkerPool>\n{PLACE}"), "Listen: is not allowed in <WorkerPool>");
    refused(&format!("<WorkerPool x>\nMaxClients auto\n</WorkerPool>\n{PLACE}"), "MaxClients: auto");
    refused(&format!("MaxClients auto\n<WorkerPool x>\n</WorkerPool>\n{PLACE}"), "MaxClients: auto");
}

#[test]
fn perl_in_the_configuration_of_another_pool_is_refused() {
    let conf = "<WorkerPool x>\n</WorkerPool>\n<Location /x>\nPerlPool x\n<Perl>\n1;\n</Perl>\n</Location>";
    refused(conf, "<Perl>: Perl code can change the configuration only in places of the default pool");
    let conf = "<WorkerPool x>\n</WorkerPool>\n<Location /x>\nPerlPool x\nPerlLoadModule My\n</Location>";
    refused(conf, "PerlLoadModule: Perl code can change the configuration only in places of the default pool");
}

#[test]
fn one_process_has_no_pools() {
    let site = site();
    site.configure(BOTH);
    site.cameleer(["serve", "-X", "-f", "site.conf"])
        .failed(78, "-X runs a single process, but pool old needs another");
}
