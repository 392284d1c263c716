//! Starts that cannot succeed print one clear line.

use std::process::Command;

use super::serve;
use crate::support::{Finished, Site};

#[test]
fn a_port_in_use_is_one_line() {
    let server = serve("sub { [200, [], ['ok']] }", "");
    let said = server.site.cameleer([
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
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(said.err.lines().count(), 1, "{said:?}");
    assert!(said.err.contains(&server.site.port.to_string()) && said.err.contains("in use"), "{said:?}");
    assert_eq!(server.text("/"), "ok", "the first one is unharmed");
}

#[test]
fn a_second_start_of_the_same_site_is_refused_and_names_the_first() {
    let server = serve("sub { [200, [], ['ok']] }", "");
    let said = server.site.cameleer(["serve", "-f", "site.conf"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(server.text("/"), "ok");
    assert_eq!(server.site.read("cameleer.pid").trim(), server.pid().to_string());
}

#[test]
fn an_unwritable_log_is_one_line() {
    let site = Site::new().file("app.psgi", "sub { }");
    site.configure("ErrorLog /nowhere/error.log\n<Location />\nPsgiApp app.psgi\n</Location>");
    let said = site.cameleer(["serve", "-f", "site.conf"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(said.err.lines().count(), 1, "{said:?}");
    assert!(said.err.contains("/nowhere/error.log"), "{said:?}");
}

#[test]
fn a_missing_program_is_one_line_that_names_it() {
    let said = Site::new().cameleer(["run", "none.psgi"]);
    assert_ne!(said.code, 0);
    assert_eq!(said.err.lines().count(), 1, "{said:?}");
    assert!(said.err.contains("none.psgi"), "{said:?}");
}

#[test]
fn a_missing_configuration_is_one_line_that_names_it() {
    let said = Site::new().cameleer(["serve", "-f", "none.conf"]).failed(78, "none.conf");
    assert_eq!(said.err.lines().count(), 1, "{said:?}");
}

#[test]
fn broken_perl_at_the_start_ends_with_78_and_names_file_and_line() {
    let site = Site::new().file("app.psgi", "use strict;\n\nmy $x = $undeclared;\nsub { }\n");
    let port = site.port.to_string();
    let said = site.cameleer(["run", "-p", &port, "app.psgi"]);
    assert_eq!(said.code, 78, "{said:?}");
    assert!(said.err.contains("app.psgi line 3"), "{said:?}");
}

#[test]
fn a_broken_module_at_the_start_ends_with_78_and_names_the_directive_too() {
    let site = Site::new().file("lib/Broken.pm", "package Broken;\nsub {\n");
    site.configure("\nPerlLib lib\nPerlModule Broken\n");
    let said = site.cameleer(["serve", "-f", "site.conf"]);
    assert_eq!(said.code, 78, "{said:?}");
    assert!(said.err.contains("site.conf:3") && said.err.contains("Broken.pm line"), "{said:?}");
}

#[test]
fn code_that_exits_while_it_is_loaded_is_a_failed_start() {
    let said = Site::new().file("app.psgi", "exit 0;").cameleer(["run", "-p", "1", "app.psgi"]);
    assert_ne!(said.code, 0, "{said:?}");
}

#[test]
fn a_log_program_that_does_not_exist_is_one_line() {
    let site = Site::new().file("app.psgi", "sub { }");
    site.configure("CustomLog \"|/nonexistent/rotate -n 5\" combined\n<Location />\nPsgiApp app.psgi\n</Location>");
    let said = site.cameleer(["serve", "-f", "site.conf"]);
    assert_eq!(said.code, 1, "{said:?}");
    let why = "CustomLog: the piped log \"|/nonexistent/rotate -n 5\" cannot be started: /nonexistent/rotate";
    assert!(said.err.contains(why), "{said:?}");
}

#[test]
fn too_few_open_files_are_one_line() {
    let site = Site::new().file("app.psgi", "sub { }");
    site.configure("<Location />\nPsgiApp app.psgi\n</Location>");
    let serve = site.serve_command();
    let mut limited = Command::new("prlimit");
    limited.arg("--nofile=64:64").arg(serve.get_program()).args(serve.get_args()).current_dir(site.folder());
    let said = Finished::of(&mut limited);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("the limit of open files is 64") && said.err.contains("at least 96"), "{said:?}");
}
