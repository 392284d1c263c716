//! What the program says of its version, and that the packages and the changelog say the same.

use std::process::Command;

use crate::support::{Finished, Site};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn text(file: &str) -> String {
    std::fs::read_to_string(format!("{}/{file}", env!("CARGO_MANIFEST_DIR"))).expect("a file of the tree")
}

#[test]
fn the_version_names_the_source_the_perl_and_the_libraries() {
    let site = Site::new();
    let long = site.cameleer(["--version"]).succeeded().out;
    let lines: Vec<&str> = long.lines().collect();
    assert!(lines[0].starts_with(&format!("cameleer {VERSION} (")), "{long}");
    let mut perl = Command::new("perl");
    perl.args(["-MConfig", "-e", "print qq{perl $Config{version} ($Config{archname})}"]);
    assert_eq!(lines[1], Finished::of(&mut perl).succeeded().out);
    for library in ["PCRE2 10.", "SQLite 3.", "rustls 0.", "h2 0.", "hyper 1.", "tokio 1."] {
        assert!(lines[2].starts_with("libraries: ") && lines[2].contains(library), "{library}: {long}");
    }
    for other in ["-V", "version"] {
        assert_eq!(site.cameleer([other]).succeeded().out, long, "{other}");
    }
}

#[test]
fn dash_v_has_the_lines_of_httpd() {
    let site = Site::new();
    let output = site.cameleer(["-v"]).succeeded().out;
    let lines: Vec<&str> = output.lines().collect();
    assert_eq!(lines[0], format!("Server version: Cameleer/{VERSION} (Unix)"));
    assert!(lines.len() == 2 && lines[1].starts_with("Server built:   "), "{output}");
    assert_eq!(site.cameleer(["serve", "-v"]).succeeded().out, output);
    let built = site.cameleer(["serve", "-V"]).succeeded().out;
    assert!(built.starts_with(&output) && built.contains("\nperl 5."), "{built}");
}

#[test]
fn packages_and_changelog_have_the_version_of_the_program() {
    let packaged = text("pkg/debian/changelog");
    assert!(packaged.starts_with(&format!("cameleer ({VERSION}) ")), "{packaged}");
    let changes = text("CHANGELOG.md");
    assert!(changes.contains("\n## [Unreleased]\n"), "a heading for what comes next");
    let dated = regex::Regex::new(&format!(r"(?m)^## \[{}\] - \d{{4}}-\d\d-\d\d$", regex::escape(VERSION)));
    assert!(dated.expect("a pattern").is_match(&changes), "CHANGELOG.md has no dated heading for {VERSION}");
    for page in ["docs/installation.md", "README.md"] {
        assert!(text(page).contains(&format!("cameleer_{VERSION}_amd64.deb")), "{page} names another version");
    }
}
