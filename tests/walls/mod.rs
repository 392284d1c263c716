//! House rules that the sources themselves can prove (docs/architecture.md, "Invariants").

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use source::{files, pattern, root, sources, text};

/// The compatibility table and the tests that it names.
mod compat_rows;

/// The layers of modules within a crate.
mod layers;

/// The layers of the crates, and forbidden dependencies.
mod manifests;

/// The dependency graph of modules.
mod graph;

/// The map from a layer to its tests in CONTRIBUTING.md.
mod map;

/// Names of public types.
mod names;

/// Packages of perl/lib and perl/lib2, and their test files in perl/t.
mod perl_packages;

/// Numbers that may only fall.
mod ratchet;

/// The promises of SECURITY.md and the tests that prove them.
mod security;

/// The tests that `make check` runs.
mod smoke;

/// The sources without comments, strings and tests.
mod source;

#[test]
fn the_master_has_no_threads() {
    forbid("crates/master/src", r"thread::(spawn|Builder|scope)");
}

#[test]
fn the_configuration_reads_no_environment_and_opens_no_sockets() {
    forbid("crates/config/src", r"\benv::(var|vars|args|current_dir)");
    forbid("crates/config/src", r"std::(net::(TcpListener|TcpStream)|process)\b");
}

#[test]
fn only_the_top_of_the_front_knows_all_of_it() {
    for layer in ["accept", "http1", "http2", "request", "routing", "workers", "limits", "client", "log", "base"] {
        forbid(&format!("crates/front/src/{layer}"), r"\b(super|front)::(\{[^}]*\b)?Front\b");
    }
}

#[test]
fn only_the_loop_of_the_master_knows_all_of_it() {
    let master = pattern(r"\bMaster\b");
    for source in sources("crates/master/src").iter().filter(|it| !it.name.starts_with("crates/master/src/main_loop/"))
    {
        let is_top = source.name == "crates/master/src/lib.rs";
        assert!(is_top || !master.is_match(&source.code), "{} names Master", source.name);
    }
}

#[test]
fn the_masters_parts_have_no_clock_and_do_no_io() {
    let parts = [
        "budget/",
        "exits.rs",
        "front/",
        "front_requests.rs",
        "generation/",
        "monitor/schedule.rs",
        "pool/",
        "profiling.rs",
        "refork/",
        "reload.rs",
        "sizing/",
        "stop.rs",
    ];
    let forbidden = pattern(r"::now\(|\.elapsed\(|\b(nix|log|sys|peer)::|std::(env|fs|io|net|os|process|thread)\b");
    let sources = sources("crates/master/src");
    for part in parts {
        let of_it = sources.iter().filter(|it| it.name.starts_with(&format!("crates/master/src/{part}")));
        let of_it: Vec<_> = of_it.collect();
        assert!(!of_it.is_empty(), "{part} has sources");
        for source in of_it {
            let found = source.code.lines().find(|line| forbidden.is_match(line));
            assert!(found.is_none(), "{}: {}", source.name, found.unwrap_or_default().trim());
        }
    }
}

#[test]
fn only_the_command_line_and_start_up_read_the_environment() {
    for folder in
        ["crates/front/src", "crates/worker/src", "crates/apache/src", "crates/libperl/src", "crates/wire/src"]
    {
        forbid(folder, r"\benv::(var|vars|args)\b");
    }
}

#[test]
fn every_unsafe_block_has_its_reason() {
    let unsafe_block = pattern(r"\bunsafe \{");
    for source in ["crates/sys/src", "crates/apache/src", "crates/libperl/src"]
        .iter()
        .flat_map(|folder| files(Path::new(folder), "rs"))
    {
        let text = text(&source);
        let lines: Vec<&str> = text.lines().collect();
        for (number, line) in lines.iter().enumerate().filter(|(_, line)| unsafe_block.is_match(line)) {
            let above = &lines[number.saturating_sub(8)..=number];
            assert!(above.iter().any(|line| line.contains("SAFETY:")), "{}:{}: {line}", source.display(), number + 1);
        }
    }
}

#[test]
fn no_input_of_clients_reaches_an_unwrap() {
    let names = [
        "access", "apache", "base", "config", "fastcgi", "files", "form", "front", "libperl", "machine", "master",
        "monitor", "profiler", "proxy", "ssi", "status", "sys", "tls", "wire", "worker",
    ];
    for name in names {
        forbid(&format!("crates/{name}/src"), r"\.(unwrap|expect)\(");
    }
}

#[test]
fn every_fuzz_target_watches_how_its_cost_grows() {
    let targets = sources("fuzz/fuzz_targets");
    assert!(targets.len() >= 12, "{} targets", targets.len());
    for target in targets {
        assert!(
            target.code.contains("slope::watch("),
            "{}: it does not hand its input to slope::watch (fuzz/slope)",
            target.name
        );
    }
}

#[test]
fn the_states_are_drawn_with_the_names_of_the_code() {
    let sources = [
        "crates/wire/src/control/mod.rs",
        "crates/wire/src/control/status.rs",
        "crates/master/src/sockets/control_socket/messages.rs",
    ];
    let code = sources.map(text).concat();
    let drawn = text("docs/architecture.md");
    for name in ["WorkerState", "GenerationState", "How"] {
        let (_, rest) = code.split_once(&format!("pub enum {name} {{")).expect("the enum");
        let body = rest.split_once("\n}").expect("its end").0;
        let variants: Vec<&str> =
            body.lines().map(str::trim).filter(|l| !l.starts_with("//")).filter_map(|l| l.strip_suffix(',')).collect();
        assert!(variants.len() > 1, "{variants:?}");
        for variant in variants {
            let word = pattern(&format!(r"\b{variant}\b"));
            assert!(word.is_match(&drawn), "docs/architecture.md does not draw {name}::{variant}");
        }
    }
}

#[test]
fn the_directive_reference_names_every_row_of_the_table() {
    let reference = text("docs/reference/directives.md");
    let table: String = files(Path::new("crates/config/src/table"), "rs").into_iter().map(text).collect();
    let row = pattern(r#"(?m)^\s+(?:name: |(?:flag|number|size|duration|path|words?|section|reading)\(\s*)"(\w+)","#);
    let names: Vec<String> = row.captures_iter(&table).map(|found| found[1].to_owned()).collect();
    assert!(names.len() > 250, "{} rows", names.len());
    for name in names {
        assert!(reference.contains(&name), "docs/reference/directives.md lacks {name}");
    }
}

#[test]
fn every_link_in_the_documents_leads_somewhere() {
    let link = pattern(r"\]\(([^)#:]+)(#[^)]*)?\)");
    for document in files(Path::new("docs"), "md").into_iter().chain(["README.md".into()]) {
        let folder = document.parent().map(Path::to_owned).unwrap_or_default();
        for found in link.captures_iter(&text(&document)) {
            let target = folder.join(&found[1]);
            assert!(root().join(&target).exists(), "{}: {} is nowhere", document.display(), &found[1]);
        }
    }
}

#[test]
fn every_source_that_a_document_names_is_there() {
    let named = pattern(r"\b(?:src|crates|tests|tools)/[\w/-]+\.(?:rs|c|h)\b");
    let others = ["README.md", "CONTRIBUTING.md", "SECURITY.md"].map(PathBuf::from);
    for document in files(Path::new("docs"), "md").into_iter().chain(others) {
        for found in named.find_iter(&text(&document)) {
            assert!(root().join(found.as_str()).exists(), "{}: {} is nowhere", document.display(), found.as_str());
        }
    }
}

#[test]
fn every_file_of_the_shim_is_described() {
    let (described, listed) = (text("docs/architecture.md"), text("crates/libperl-sys/src/shim.h"));
    for file in files(Path::new("crates/libperl-sys/src"), "c") {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(described.contains(&format!("`{name}`")), "docs/architecture.md does not say what {name} holds");
        assert!(listed.contains(&format!(" *   {name} ")), "shim.h does not list {name}");
    }
}

#[test]
fn every_invariant_has_its_test_and_every_test_its_invariant() {
    let drawn = text("docs/architecture.md");
    let list = drawn.split("\n## ").find(|section| section.starts_with("Invariants")).expect("the section");
    let walls = ["mod", "layers", "manifests"].map(|name| text(format!("tests/walls/{name}.rs"))).concat();
    let all: String =
        ["tests", "src", "crates", "tools"].iter().flat_map(|top| files(Path::new(top), "rs")).map(text).collect();
    let names = |found: &str, of: &str| -> BTreeSet<String> {
        pattern(found).captures_iter(of).map(|found| found[1].to_owned()).collect()
    };
    let tests = |code: &str| names(r"#\[test\]\s+fn (\w+)", code);
    let named = names(r"\(`(\w+)`\)", list);
    let unnamed: Vec<_> = tests(&walls).difference(&named).cloned().collect();
    assert!(unnamed.is_empty(), "docs/architecture.md has no invariant for {unnamed:?}");
    let gone: Vec<_> = named.difference(&tests(&all)).cloned().collect();
    assert!(gone.is_empty(), "docs/architecture.md names tests that are nowhere: {gone:?}");
    for line in list.split("\n- ").skip(1) {
        assert!(line.contains("(`"), "which test holds this? {line}");
    }
}

#[test]
fn every_folder_of_sources_has_a_description() {
    for file in ["src", "crates", "tools"].into_iter().flat_map(|home| files(Path::new(home), "rs")) {
        let is_head = file.ends_with("mod.rs") && !file.components().any(|part| part.as_os_str() == "tests");
        assert!(!is_head || text(&file).starts_with("//! "), "{} does not begin with what lies there", file.display());
    }
}

#[track_caller]
fn forbid(folder: &str, pattern: &str) {
    let forbidden = source::pattern(pattern);
    let sources = sources(folder);
    assert!(!sources.is_empty(), "{folder} has sources");
    for source in sources {
        let found = source.code.lines().find(|line| forbidden.is_match(line));
        assert!(found.is_none(), "{}: {}", source.name, found.unwrap_or_default().trim());
    }
}
