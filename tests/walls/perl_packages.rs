//! Each package has tests of its own: perl/t/Apache/Log.pl or Log.t for perl/lib/Apache/Log.pm, and
//! perl/t/lib2/Apache2/Log.pl for perl/lib2/Apache2/Log.pm.

use std::path::{Path, PathBuf};

use super::source::{files, root};

/// Tests of perl/t that concern all packages.
const OF_ALL: [&str; 2] = ["packages", "pod"];

#[test]
fn every_package_of_mod_perl_2_has_a_test_file_of_its_name() {
    let (packages, tests) = (names("perl/lib2", "pm"), names("perl/t/lib2", "pl"));
    let without: Vec<&String> = packages.iter().filter(|package| !tests.contains(package)).collect();
    assert!(packages.len() > 50 && without.is_empty(), "perl/t/lib2 has no file for {without:?}");
    let gone: Vec<&String> = tests.iter().filter(|test| !packages.contains(test)).collect();
    assert!(gone.is_empty(), "perl/lib2 has no package for {gone:?} below {}", root().display());
}

#[test]
fn every_package_of_perl_lib_has_a_test_file_of_its_name() {
    let (packages, tests) = (names("perl/lib", "pm"), tests_of_perl_lib());
    let without: Vec<&String> = packages.iter().filter(|package| !tests.contains(package)).collect();
    assert!(packages.len() > 100 && without.is_empty(), "perl/t has no file for {without:?}");
    let package_of = |test: &str| test.split('-').next().unwrap_or_default().to_owned();
    let gone: Vec<&String> = tests.iter().filter(|test| !packages.contains(&package_of(test))).collect();
    assert!(gone.is_empty(), "perl/lib has no package for {gone:?}, which must begin with a package's name");
}

/// Names like `Apache/Log`, of files below `folder` whose names end with `kind`.
fn names(folder: &str, kind: &str) -> Vec<String> {
    let bare =
        |path: PathBuf| path.strip_prefix(folder).expect("below it").with_extension("").to_string_lossy().into_owned();
    files(Path::new(folder), kind).into_iter().map(bare).collect()
}

fn tests_of_perl_lib() -> Vec<String> {
    let all = ["t", "pl"].iter().flat_map(|kind| names("perl/t", kind));
    all.filter(|name| !name.starts_with("lib2/") && !OF_ALL.contains(&&**name)).collect()
}
