//! Failures that a measurement must survive without leaving files or processes behind.

use std::fs::File;
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{FEW, report, shadows, site_of, tune};
use crate::support::{Site, until};

#[test]
fn an_application_that_fails_on_every_request_is_reported_with_its_error() {
    let site = site_of("sub { die \"no such table\\n\" }");
    let output = tune(&site, FEW).failed(1, "every request fails");
    assert!(output.err.contains("no such table"), "{output:?}");
    assert_eq!(shadows(&site), 0);
}

#[test]
fn urls_that_are_not_there_are_no_load() {
    let site = site_of("sub { [404, [], ['no']] }");
    tune(&site, FEW).failed(1, "every request is answered with 404; name other URLs");
}

#[test]
fn a_log_without_a_request_is_refused() {
    let site = site_of("die 'it was loaded'").file("access.log", "nonsense\n");
    tune(&site, "--log access.log").failed(1, "contains no GET or HEAD in common or combined format");
    tune(&site, "--log missing.log").failed(1, "missing.log");
    tune(&site, "--log /dev/zero").failed(1, "a line of more than");
}

#[test]
fn an_invalid_configuration_is_reported_with_its_line() {
    let site = Site::new();
    site.configure("\nMaxClients many\n");
    tune(&site, FEW).failed(78, "site.conf:2: MaxClients");
}

#[test]
fn code_that_does_not_load_is_reported() {
    let site = site_of("die \"not today\\n\"");
    let output = tune(&site, FEW).failed(1, "did not start");
    assert!(output.err.contains("not today"), "{output:?}");
    assert_eq!(shadows(&site), 0);
}

#[test]
fn the_number_of_workers_for_slow_requests_is_calculated_with_a_note() {
    let site = site_of("sub { select undef, undef, undef, 1; [200, [], ['late']] }");
    let found = report(&site, FEW);
    assert_eq!(found["points"].as_array().map(Vec::len), Some(0), "{found}");
    assert!(found["reason"].to_string().contains("calculated and not measured"), "{found}");
    assert_eq!(found["chosen"], 6, "no more than visitors: {found}");
}

#[test]
fn an_interrupt_leaves_no_process_and_no_folder() {
    let site = site_of("sub { select undef, undef, undef, 0.01; [200, [], ['ok']] }");
    let (out, err) = (File::create(site.path("out.txt")), File::create(site.path("err.txt")));
    let mut command = site.command(["tune", "-f", "site.conf", "-t", "60"]);
    command.stdout(Stdio::from(out.expect("a file"))).stderr(Stdio::from(err.expect("a file")));
    let mut child = command.spawn().expect("the program can be started");
    until("the second server has workers", || shadows(&site) > 0);
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).expect("our own child");
    assert_eq!(child.wait().expect("our own child").code(), Some(1));
    assert!(site.read("err.txt").contains("interrupted"), "{}", site.read("err.txt"));
    until("all of its processes have ended", || shadows(&site) == 0);
    assert_eq!(std::fs::read_dir(site.path("tmp")).expect("the site's folder").count(), 0);
}

#[test]
fn the_second_server_ends_when_tune_is_killed() {
    let site = site_of("sub { select undef, undef, undef, 0.01; [200, [], ['ok']] }");
    let mut command = site.command(["tune", "-f", "site.conf", "-t", "60"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program can be started");
    until("the second server has workers", || shadows(&site) > 0);
    child.kill().expect("our own child");
    child.wait().expect("our own child");
    until("all of its processes have ended", || shadows(&site) == 0);
}
