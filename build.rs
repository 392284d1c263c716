//! Sets what `cameleer --version` shows: the commit and its date, and the versions of libraries in Cargo.lock. Links
//! the program so that it finds the libperl.so of a perl which is not the system's.
//!
//! Packagers, who build without git, set `CAMELEER_COMMIT`; `SOURCE_DATE_EPOCH` replaces the commit's date. Only this
//! crate, the last one, is built again when they change.

use std::process::Command;

/// Libraries that meet strangers' bytes: what an advisory would name.
const LIBRARIES: [&str; 5] = ["rustls", "ring", "h2", "hyper", "tokio"];

/// The output of a program; `None` if there is no such program, or if it fails.
fn output(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
}

fn variable(name: &str) -> Option<String> {
    println!("cargo::rerun-if-env-changed={name}");
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

/// A debug build has no commit: each commit would otherwise build it and all tests again.
fn is_release() -> bool {
    std::env::var("PROFILE").is_ok_and(|profile| profile == "release")
}

fn git(words: &[&str]) -> Option<String> {
    is_release().then(|| output("git", words)).flatten()
}

fn commit() -> String {
    let given = variable("CAMELEER_COMMIT");
    if given.is_none()
        && let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"])
    {
        println!("cargo::rerun-if-changed={log}");
    }
    let short = |commit: String| commit.chars().take(12).collect();
    match given.or_else(|| git(&["rev-parse", "HEAD"])) {
        Some(commit) => short(commit),
        None if is_release() => "unknown commit".to_owned(),
        None => "debug build".to_owned(),
    }
}

fn date() -> String {
    let given =
        variable("SOURCE_DATE_EPOCH").and_then(|epoch| output("date", &["-u", "-d", &format!("@{epoch}"), "+%F"]));
    given.or_else(|| git(&["show", "-s", "--format=%cs", "HEAD"])).unwrap_or_else(|| "unknown date".to_owned())
}

/// `rustls 0.23.46, h2 0.4.20`
fn libraries() -> String {
    println!("cargo::rerun-if-changed=Cargo.lock");
    let lock = std::fs::read_to_string("Cargo.lock").expect("Cargo.lock stands beside this file");
    let version = |name: &&str| {
        let (_, rest) = lock.split_once(&format!("\nname = \"{name}\"\nversion = \""))?;
        Some(format!("{name} {}", rest.split('"').next()?))
    };
    LIBRARIES.iter().filter_map(version).collect::<Vec<_>>().join(", ")
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The tests start the program thousands of times: each process would relocate 200,000 addresses of unoptimized code.
    if !is_release() {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    let (commit, date) = (commit(), date());
    println!("cargo::rustc-env=CAMELEER_SOURCE={commit}, {date}");
    println!("cargo::rustc-env=CAMELEER_DATE={date}");
    println!("cargo::rustc-env=CAMELEER_LIBRARIES={}", libraries());
    if let Some(folder) = perl_build::run_path() {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
