//! The public conformance suite of HTTP/2: h2spec, all cases.

use std::process::Command;

use super::{serve, serve_tls};
use crate::support::Finished;

/// `pkg/h2spec/install` puts it there.
const H2SPEC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/tools/h2spec");

#[track_caller]
fn conforms(arguments: &[&str]) {
    let said =
        Finished::of(Command::new(H2SPEC).args(["-h", "localhost", "--timeout", "5", "--strict"]).args(arguments));
    let summary = said.out.lines().rev().find(|line| line.contains("tests, ")).unwrap_or_default();
    assert!(summary.contains(" 0 skipped, 0 failed"), "{said:?}");
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn every_case_passes_without_tls() {
    // With http/1.1 beside it, a wrong preface would be taken for a request of that, and answered.
    let server = serve("Protocols h2c");
    conforms(&["-p", &server.site.port.to_string()]);
}

#[test]
fn every_case_passes_over_tls() {
    let server = serve_tls("");
    conforms(&["-t", "-k", "-p", &server.site.port.to_string()]);
}
