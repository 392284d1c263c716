//! Each package of mod_perl 2's API has tests of its own: perl/t/lib2/Apache2/Log.pl for perl/lib2/Apache2/Log.pm.

use std::path::Path;

use super::source::{files, root};

#[test]
fn every_package_of_mod_perl_2_has_a_test_file_of_its_name() {
    let names = |folder: &str, kind: &str| -> Vec<String> {
        let names = files(Path::new(folder), kind);
        let bare = |path: std::path::PathBuf| {
            path.strip_prefix(folder).expect("below it").with_extension("").to_string_lossy().into_owned()
        };
        names.into_iter().map(bare).collect()
    };
    let (packages, tests) = (names("perl/lib2", "pm"), names("perl/t/lib2", "pl"));
    let without: Vec<&String> = packages.iter().filter(|package| !tests.contains(package)).collect();
    assert!(packages.len() > 50 && without.is_empty(), "perl/t/lib2 has no file for {without:?}");
    let gone: Vec<&String> = tests.iter().filter(|test| !packages.contains(test)).collect();
    assert!(gone.is_empty(), "perl/lib2 has no package for {gone:?} below {}", root().display());
}
