//! `make check` runs the tests listed in tests/smoke.txt. libtest silently ignores unknown names, so this test checks
//! that every listed test exists.

use super::compat_rows::text_of;

#[test]
fn every_test_of_the_list_is_there() {
    let names = include_str!("../smoke.txt").lines().filter(|line| !line.starts_with('#'));
    let missing: Vec<&str> = names.filter(|name| text_of(name).is_none()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
