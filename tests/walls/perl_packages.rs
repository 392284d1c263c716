//! Each package has tests of its own: perl/t/Apache/Log.pl or Log.t for perl/lib/Apache/Log.pm, and
//! perl/t/lib2/Apache2/Log.pl for perl/lib2/Apache2/Log.pm. A part of a package has the package's name and a word, in
//! tests as in XS: perl/t/Apache-body.t, perl/lib/Apache-body.xs.

use std::fs;
use std::path::{Path, PathBuf};

use super::source::{files, root};

/// Tests of perl/t that concern all packages.
const OF_ALL: [&str; 3] = ["packages", "plain_perl", "pod"];

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
    let gone: Vec<&String> = tests.iter().filter(|test| !packages.contains(&package_of(test))).collect();
    assert!(gone.is_empty(), "perl/lib has no package for {gone:?}, which must begin with a package's name");
}

#[test]
fn every_xs_file_has_the_name_of_a_package_or_of_a_part() {
    for folder in ["perl/lib", "perl/lib2"] {
        let (packages, parts) = (names(folder, "pm"), names(folder, "xs"));
        let gone: Vec<&String> = parts.iter().filter(|part| !packages.contains(&package_of(part))).collect();
        assert!(!parts.is_empty() && gone.is_empty(), "{folder} has no package for the .xs files {gone:?}");
    }
}

#[test]
fn every_file_of_cases_begins_with_its_package_and_what_the_cases_show() {
    for name in names("perl/t", "pl") {
        let text = fs::read_to_string(root().join(format!("perl/t/{name}.pl"))).expect("a listed file");
        let first = text.lines().next().unwrap_or_default();
        let package = name.trim_start_matches("lib2/").replace('/', "::");
        let shown =
            first.strip_prefix(&format!("# {package}: ")).and_then(|rest| rest.strip_suffix("; run by packages.t"));
        assert!(
            shown.is_some_and(|shown| !shown.trim().is_empty()),
            "perl/t/{name}.pl:1: expected `# {package}: what the cases show; run by packages.t`, found `{first}`"
        );
    }
}

fn package_of(name: &str) -> String {
    name.split('-').next().unwrap_or_default().to_owned()
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
