//! Starts that cannot succeed print one clear line.

use std::process::Command;

use super::serve;
use crate::support::{Finished, Site};

#[test]
fn a_port_in_use_is_one_line() {
    let server = serve("sub { [200, [], ['ok']] }", "");
    let output = server.site.cameleer([
        "serve",
        "-f",
        "site.conf",
        "-c",
        "PidFile other.pid",
        "-c",
        "ControlSocket other.sock",
        "-c",
        "ErrorLog other.log",
    ]);
    assert_eq!(output.code, 1, "{output:?}");
    assert_eq!(output.err.lines().count(), 1, "{output:?}");
    assert!(output.err.contains(&server.site.port.to_string()) && output.err.contains("in use"), "{output:?}");
    assert_eq!(server.text("/"), "ok", "the first one is unharmed");
}

#[test]
fn a_second_start_of_the_same_site_is_refused_and_names_the_first() {
    let server = serve("sub { [200, [], ['ok']] }", "");
    let output = server.site.cameleer(["serve", "-f", "site.conf"]);
    assert_eq!(output.code, 1, "{output:?}");
    assert_eq!(server.text("/"), "ok");
    assert_eq!(server.site.read("cameleer.pid").trim(), server.pid().to_string());
}

#[test]
fn an_unwritable_log_is_one_line() {
    let site = Site::new().file("app.psgi", "sub { }");
    site.configure("ErrorLog /nowhere/error.log\n<Location />\nPsgiApp app.psgi\n</Location>");
    let output = site.cameleer(["serve", "-f", "site.conf"]);
    assert_eq!(output.code, 1, "{output:?}");
    assert_eq!(output.err.lines().count(), 1, "{output:?}");
    assert!(output.err.contains("/nowhere/error.log"), "{output:?}");
}

#[test]
fn a_missing_program_is_one_line_that_names_it() {
    let output = Site::new().cameleer(["run", "none.psgi"]);
    assert_ne!(output.code, 0);
    assert_eq!(output.err.lines().count(), 1, "{output:?}");
    assert!(output.err.contains("none.psgi"), "{output:?}");
}

#[test]
fn a_missing_configuration_is_one_line_that_names_it() {
    let output = Site::new().cameleer(["serve", "-f", "none.conf"]).failed(78, "none.conf");
    assert_eq!(output.err.lines().count(), 1, "{output:?}");
}

#[test]
fn broken_perl_at_the_start_ends_with_78_and_names_file_and_line() {
    let site = Site::new().file("app.psgi", "use strict;\n\nmy $x = $undeclared;\nsub { }\n");
    let port = site.port.to_string();
    let output = site.cameleer(["run", "-p", &port, "app.psgi"]);
    assert_eq!(output.code, 78, "{output:?}");
    assert!(output.err.contains("app.psgi line 3"), "{output:?}");
}

#[test]
fn a_broken_module_at_the_start_ends_with_78_and_names_the_directive_too() {
    let site = Site::new().file("lib/Broken.pm", "package Broken;\nsub {\n");
    site.configure("\nPerlLib lib\nPerlModule Broken\n");
    let output = site.cameleer(["serve", "-f", "site.conf"]);
    assert_eq!(output.code, 78, "{output:?}");
    assert!(output.err.contains("site.conf:3") && output.err.contains("Broken.pm line"), "{output:?}");
}

#[test]
fn code_that_exits_while_it_is_loaded_is_a_failed_start() {
    let output = Site::new().file("app.psgi", "exit 0;").cameleer(["run", "-p", "1", "app.psgi"]);
    assert_ne!(output.code, 0, "{output:?}");
}

#[test]
fn a_log_program_that_does_not_exist_is_one_line() {
    let site = Site::new().file("app.psgi", "sub { }");
    site.configure("CustomLog \"|/nonexistent/rotate -n 5\" combined\n<Location />\nPsgiApp app.psgi\n</Location>");
    let output = site.cameleer(["serve", "-f", "site.conf"]);
    assert_eq!(output.code, 1, "{output:?}");
    let why = "CustomLog: the piped log \"|/nonexistent/rotate -n 5\" cannot be started: /nonexistent/rotate";
    assert!(output.err.contains(why), "{output:?}");
}

#[test]
fn too_few_open_files_are_one_line() {
    let site = Site::new().file("app.psgi", "sub { }");
    site.configure("<Location />\nPsgiApp app.psgi\n</Location>");
    let serve = site.serve_command();
    let mut limited = Command::new("prlimit");
    limited.arg("--nofile=64:64").arg(serve.get_program()).args(serve.get_args()).current_dir(site.folder());
    let output = Finished::of(&mut limited);
    assert_eq!(output.code, 1, "{output:?}");
    assert!(output.err.contains("the limit of open files is 64") && output.err.contains("at least 96"), "{output:?}");
}
