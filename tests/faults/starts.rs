//! Starts that cannot succeed: one clear line.

use super::serve;
use crate::support::Site;

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
