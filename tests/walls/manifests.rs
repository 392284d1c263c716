//! The layers of the crates, as declared in their manifests. Cargo rejects cycles and undeclared dependencies; these
//! tests check the manifests.

use std::collections::BTreeMap;
use std::fs;

use super::source::{pattern, root, sources, text};

/// The layers from top to bottom. A crate may depend on crates in rows below its own row, but not in its own row or
/// above.
const ORDER: &[&[&str]] = &[
    &["cameleer"],
    &["admin", "perlcost"],
    &["develop", "migrate", "sitediff", "tune"],
    &["toolkit"],
    &["acme", "bench", "compat", "front", "master", "monitor"],
    &["profiler", "worker"],
    &["access", "apr", "files", "proxy", "pubsub", "status"],
    &["databases", "stores"],
    &["tls"],
    &["apache", "config", "machine"],
    &["form", "libperl", "ssi", "sys"],
    &["base", "fastcgi", "ldap", "libperl-sys", "perl-build", "websocket", "wire"],
];

/// Crates, dependencies that they must not have even indirectly, and the reason.
const FORBIDDEN: &[(&[&str], &[&str], &str)] = &[
    (
        &["front", "monitor", "master"],
        &["apache", "worker"],
        "a heap that Perl has used never meets clients, and the master runs no code of the site",
    ),
    (&["front", "monitor"], &["libperl", "libperl-sys"], "no Perl where clients are"),
    (&["config"], &["sys"], "the configuration is data, and has no unsafe code below it"),
];

/// The crates of an async runtime.
const RUNTIME: &[&str] = &["tokio", "hyper", "hyper-util", "http-body", "http-body-util", "tokio-rustls", "h2"];

/// The crates that have an async runtime, even indirectly: the front with its proxy, the monitor, tools that send
/// requests, and the command line above them; and PostgreSQL's client, which runs it on the calling thread until its
/// answer is there, so that the crates above it stay without tasks and threads.
const WITH_RUNTIME: &[&str] = &[
    "access",
    "acme",
    "bench",
    "cameleer",
    "databases",
    "front",
    "monitor",
    "perlcost",
    "proxy",
    "pubsub",
    "sitediff",
    "stores",
    "tune",
    "worker",
];

/// The crates of the workspace by name, each with its folder and its dependencies.
type Manifests = BTreeMap<String, (String, Vec<String>)>;

fn manifests() -> Manifests {
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
            for (dependency, through) in dependencies(&manifests, name) {
                assert!(!forbidden.contains(&dependency.as_str()), "{name} has {dependency} through {through}: {why}");
            }
        }
    }
}

#[test]
fn only_these_crates_have_an_async_runtime() {
    let manifests = manifests();
    let is_runtime = |(dependency, _): (String, String)| RUNTIME.contains(&dependency.as_str());
    let has_one = |name: &&String| dependencies(&manifests, name).into_iter().any(is_runtime);
    let having: Vec<&String> = manifests.keys().filter(has_one).collect();
    assert_eq!(having, WITH_RUNTIME);
}

#[test]
fn worker_and_access_name_no_async_runtime() {
    let manifests = manifests();
    let path = pattern(r"\b(tokio|hyper)::");
    for name in ["worker", "access"] {
        let (folder, dependencies) = &manifests[name];
        let direct: Vec<&String> =
            dependencies.iter().filter(|dependency| RUNTIME.contains(&dependency.as_str())).collect();
        assert!(direct.is_empty(), "{name} depends on {direct:?}, but its processes or callers have one thread");
        for source in sources(&format!("{folder}/src")) {
            let found = source.code.lines().find(|line| path.is_match(line));
            assert!(found.is_none(), "{}: {}", source.name, found.unwrap_or_default().trim());
        }
    }
}

/// The direct and indirect dependencies of a crate of the workspace, each with the crate that names it.
fn dependencies(manifests: &Manifests, name: &str) -> BTreeMap<String, String> {
    let mut reached = BTreeMap::new();
    let mut waiting = vec![name.to_owned()];
    while let Some(next) = waiting.pop() {
        for dependency in manifests.get(&next).into_iter().flat_map(|(_, dependencies)| dependencies) {
            if reached.insert(dependency.clone(), next.clone()).is_none() {
                waiting.push(dependency.clone());
            }
        }
    }
    reached
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

#[test]
fn in_the_api_only_the_c_abi_is_unsafe() {
    let word = pattern(r"\bunsafe\b|allow\(unsafe_code");
    let (exports, others): (Vec<_>, Vec<_>) = sources("crates/apache/src")
        .into_iter()
        .partition(|source| source.name.starts_with("crates/apache/src/exports/"));
    assert!(exports.iter().any(|source| word.is_match(&source.code)), "crates/apache/src/exports/ has moved");
    for source in others {
        let found = word.find_iter(&source.code).map(|found| found.as_str()).next();
        assert_eq!(found, None, "{}: belongs into crates/apache/src/exports/", source.name);
    }
}
