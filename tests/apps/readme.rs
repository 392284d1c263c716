//! The commands of the documents. `sh` blocks are executed in order; `#=>` marks expected output of the preceding
//! commands. Other commands must exist, with their options.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;

use crate::support::{Finished, Site, documents};

#[test]
fn every_sh_block_of_the_documents_does_what_it_says() {
    let with_blocks: Vec<(PathBuf, String)> =
        documents().into_iter().filter(|(_, text)| text.contains("```sh\n")).collect();
    assert!(with_blocks.len() > 1, "{with_blocks:?}");
    std::thread::scope(|scope| {
        for (document, text) in &with_blocks {
            scope.spawn(move || execute(document, text));
        }
    });
}

#[test]
fn a_block_of_commands_for_users_is_run_or_has_the_reason_against_it() {
    let block = Regex::new(r"(?m)^(.*)\n\n    (?:cameleer|curl|make|systemctl) .*$").expect("a pattern");
    let reason = Regex::new(r"^<!-- not run: .+ -->$").expect("a pattern");
    let mut seen = 0;
    for (document, text) in documents() {
        let is_for_users = document.parent() == Some(Path::new("docs"))
            || ["docs/guide", "docs/operating"].iter().any(|folder| document.starts_with(folder));
        if is_for_users {
            for found in block.captures_iter(&text) {
                let marked = reason.is_match(&found[1]);
                assert!(
                    marked,
                    "{}; make this an `sh` block, or say why it is not run:{}",
                    document.display(),
                    &found[0]
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 5, "{seen} blocks");
}

#[test]
fn every_command_of_the_documents_is_one_of_the_command_line() {
    let mut helps: BTreeMap<String, String> = BTreeMap::new();
    let mut seen = 0;
    let command = Regex::new(r"(?m)(?:^    |`)cameleer ([^`\n]+)").expect("a pattern");
    for (document, text) in documents() {
        for found in command.captures_iter(&text) {
            // Text after two blanks and # is a comment.
            let line = found[1].split("  #").next().unwrap_or_default();
            let mut words = line.split_whitespace();
            let name = words.next().unwrap_or_default();
            let help = helps.entry(name.to_owned()).or_insert_with(|| help(name));
            for option in words.filter(|word| word.starts_with('-')) {
                let option = option.split('=').next().unwrap_or_default();
                let is_there = help.split([' ', ',', '\n']).any(|word| word == option);
                assert!(is_there, "{}: `cameleer {line}`: no {option} in\n{help}", document.display());
            }
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen} commands");
}

fn help(command: &str) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cameleer"));
    Finished::of(program.args([command, "--help"])).succeeded().out
}

/// Executes the blocks in a separate folder; free ports replace 5001 and 5002.
fn execute(document: &Path, text: &str) {
    let document = document.display();
    let (one, two) = (Site::new(), Site::new());
    let script = script(text).replace("5001", &one.port.to_string()).replace("5002", &two.port.to_string());
    assert!(script.contains("expect '"), "{document} has blocks with expectations");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_cameleer")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let tour = one.path("tour");
    std::fs::create_dir(&tour).expect("made");
    let mut bash = Command::new("bash");
    bash.args(["-c", &script]).current_dir(&tour).env("PATH", path).env("TMPDIR", one.path("tmp"));
    // An installed server has its modules in the folders of Debian's perl.
    bash.env("PERL5LIB", concat!(env!("CARGO_MANIFEST_DIR"), "/perl/lib"));
    Finished::of(&mut bash).succeeded();
}

/// Converts the blocks to a script: each run of commands becomes a group with captured output, each expectation a
/// search in that output.
fn script(document: &str) -> String {
    let mut script = String::from(
        "set -eu\ntour=$PWD output=$PWD/../output\n\
         trap 'cd \"$tour\"; for f in *.pid site/*.pid; do [ -f \"$f\" ] && kill -9 \"$(cat \"$f\")\"; done' EXIT\n\
         expect() { grep -qF -- \"$1\" \"$output\" || { echo \"expected: $1\"; echo \"got:\"; cat \"$output\"; exit 1; }; }\n",
    );
    let mut group = String::new();
    for line in document.split("```sh\n").skip(1).flat_map(|block| block.split("```").next().unwrap_or("").lines()) {
        let Some(expected) = line.strip_prefix("#=> ") else {
            group += line;
            group.push('\n');
            continue;
        };
        script += &kept(&std::mem::take(&mut group));
        script += &format!("expect '{}'\n", expected.replace('\'', r"'\''"));
    }
    script + &kept(&group) + "trap - EXIT\n"
}

fn kept(group: &str) -> String {
    if group.is_empty() {
        String::new()
    } else {
        format!("{{\n{group}}} > \"$output\" 2>&1 || {{ cat \"$output\"; exit 1; }}\n")
    }
}
