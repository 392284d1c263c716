//! Plack's own server test suite, whole, by `prove`.

use std::process::Command;

use crate::support::{Finished, Site};

#[test]
fn placks_own_server_suite_passes_whole() {
    let site = Site::new();
    let mut prove = Command::new("prove");
    prove.arg("-v").arg(concat!(env!("CARGO_MANIFEST_DIR"), "/perl/t/suite.t"));
    prove.env("CAMELEER", env!("CARGO_BIN_EXE_cameleer")).env("TMPDIR", site.path("tmp")).current_dir(site.folder());
    let said = Finished::of(&mut prove);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("Result: PASS") && !said.out.contains("# SKIP"), "{}", said.out);
}
