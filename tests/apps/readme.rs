//! Executes the `sh` blocks of documents in order; `#=>` marks expected output of the preceding commands.

use std::process::Command;

use crate::support::{Finished, Site};

#[test]
fn every_command_of_the_tour_works() {
    execute("README.md");
}

#[test]
fn the_scratch_site_of_the_page_about_handlers_answers_as_written() {
    execute("docs/contributing/handler.md");
}

/// Executes the blocks in a separate folder; free ports replace 5001 and 5002.
#[track_caller]
fn execute(document: &str) {
    let (one, two) = (Site::new(), Site::new());
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
    let text = std::fs::read_to_string(path).expect("the document");
    let script = script(&text).replace("5001", &one.port.to_string()).replace("5002", &two.port.to_string());
    assert!(script.contains("expect '"), "{document} has blocks with expectations");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_cameleer")).parent().expect("a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let tour = one.path("tour");
    std::fs::create_dir(&tour).expect("made");
    let mut bash = Command::new("bash");
    bash.args(["-c", &script]).current_dir(&tour).env("PATH", path).env("TMPDIR", one.path("tmp"));
    Finished::of(&mut bash).succeeded();
}

/// Converts the blocks to a script: each run of commands becomes a group with captured output, each expectation a
/// search in that output.
fn script(document: &str) -> String {
    let mut script = String::from(
        "set -eu\ntrap 'for f in *.pid site/*.pid; do [ -f \"$f\" ] && kill -9 \"$(cat \"$f\")\"; done' EXIT\n\
         expect() { grep -qF -- \"$1\" ../said || { echo \"expected: $1\"; echo \"got:\"; cat ../said; exit 1; }; }\n",
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
        format!("{{\n{group}}} > ../said 2>&1 || {{ cat ../said; exit 1; }}\n")
    }
}
