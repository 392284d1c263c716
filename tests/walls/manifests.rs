//! The layers of the crates, as declared in their manifests. Cargo rejects cycles and undeclared dependencies; these
//! tests check the manifests.

use std::collections::BTreeMap;
use std::fs;

use super::source::{pattern, root, text};

/// The layers from top to bottom. A crate may depend on crates in rows below its own row, but not in its own row or
/// above.
const ORDER: &[&[&str]] = &[
    &["cameleer"],
    &["admin", "perlcost"],
    &["migrate", "sitediff", "tune"],
    &["toolkit"],
    &["bench", "compat", "front", "master", "monitor"],
    &["profiler", "worker"],
    &["access", "apr", "files", "proxy", "status", "tls"],
    &["apache", "config", "machine"],
    &["form", "libperl", "ssi", "sys"],
    &["base", "fastcgi", "libperl-sys", "wire"],
];

/// Crates, dependencies that they must not have even indirectly, and the reason.
const FORBIDDEN: &[(&[&str], &[&str], &str)] = &[
    (
        &["config", "files", "access", "tls", "machine", "status", "worker", "profiler", "master", "apache", "wire"],
        &["tokio", "hyper", "hyper-util", "http-body", "http-body-util", "tokio-rustls", "h2"],
        "only the front, the monitor and the load tester have an async runtime",
    ),
    (
        &["front", "monitor", "master"],
        &["apache", "worker"],
        "a heap that Perl has used never meets clients, and the master runs no code of the site",
    ),
    (&["front", "monitor"], &["libperl", "libperl-sys"], "no Perl where clients are"),
    (&["config"], &["sys"], "the configuration is data, and has no unsafe code below it"),
];

/// Each crate of the workspace: its name, its folder, and its dependencies.
fn manifests() -> BTreeMap<String, (String, Vec<String>)> {
    let members = ["crates", "tools"].into_iter().flat_map(|home| {
        let entries = fs::read_dir(root().join(home)).expect("a folder of crates").flatten();
        entries.map(move |entry| format!("{home}/{}", entry.file_name().to_string_lossy()))
    });
    let members = members.filter(|folder| root().join(folder).join("Cargo.toml").is_file()).chain([".".to_owned()]);
    members.map(manifest).collect()
}

fn manifest(folder: String) -> (String, (String, Vec<String>)) {
    let text = text(format!("{folder}/Cargo.toml"));
    let name = pattern(r#"(?m)^name = "([\w-]+)""#).captures(&text).expect("a name")[1].to_owned();
    let section = text.split("\n[").find_map(|section| section.strip_prefix("dependencies]\n")).unwrap_or_default();
    let dependency = pattern(r"(?m)^([\w-]+)(?:\.workspace)? = ");
    let dependencies = dependency.captures_iter(section).map(|found| found[1].to_owned()).collect();
    (name, (folder, dependencies))
}

#[test]
fn every_crate_depends_on_crates_below_it() {
    let row = |name: &str| ORDER.iter().position(|row| row.contains(&name));
    let manifests = manifests();
    for name in ORDER.concat() {
        assert!(manifests.contains_key(name), "there is no crate {name} any more: {}", file!());
    }
    for (name, (_, dependencies)) in &manifests {
        let own = row(name).unwrap_or_else(|| panic!("{name} stands in no row of {}", file!()));
        for dependency in dependencies.iter().filter(|dependency| manifests.contains_key(*dependency)) {
            assert!(row(dependency) > Some(own), "{name} does not stand above {dependency}");
        }
    }
}

#[test]
fn the_map_of_the_crates_has_the_same_rows() {
    let map = text("src/lib.rs");
    let map = map.split("```").nth(1).expect("a map between fences");
    let crate_at = pattern(r"(?m)^//!   ([\w-]+)  ");
    let names = |row: &str| crate_at.captures_iter(row).map(|found| found[1].to_owned()).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = map.split("────────────\n").map(names).collect();
    assert_eq!(rows, ORDER, "src/lib.rs has the crates of this table, in its order");
}

#[test]
fn no_crate_has_a_dependency_that_its_process_must_not_have() {
    let manifests = manifests();
    for (crates, forbidden, why) in FORBIDDEN {
        for name in *crates {
            let mut reached = vec![(*name).to_owned()];
            let mut at = 0;
            while let Some(next) = reached.get(at).cloned() {
                for dependency in manifests.get(&next).into_iter().flat_map(|(_, dependencies)| dependencies) {
                    assert!(!forbidden.contains(&dependency.as_str()), "{name} has {dependency} through {next}: {why}");
                    if !reached.contains(dependency) {
                        reached.push(dependency.clone());
                    }
                }
                at += 1;
            }
        }
    }
}

#[test]
fn unsafe_stands_in_its_four_places_only() {
    let allowed = ["libperl-sys", "libperl", "apache", "sys"];
    for (name, (folder, _)) in manifests() {
        let head = ["lib.rs", "main.rs"].map(|file| root().join(&folder).join("src").join(file));
        let heads: Vec<String> = head.iter().filter(|file| file.is_file()).map(text).collect();
        assert!(!heads.is_empty(), "{folder} has sources");
        let forbids = heads.iter().all(|head| head.contains("#![forbid(unsafe_code)]"));
        assert_eq!(forbids, !allowed.contains(&name.as_str()), "{folder}: #![forbid(unsafe_code)]");
    }
}
