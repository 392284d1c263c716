//! The documents name what the tree has: states, directives, messages, links, paths, targets of `make`.

use std::collections::BTreeSet;
use std::path::Path;

use super::names::programs;
use super::source::{files, pattern, root, text};
use crate::support::documents;

/// The drawing of each enum of states: the words at the beginning of a line and behind an arrow are its variants.
#[test]
fn the_states_are_drawn_with_the_names_of_the_code() {
    let architecture = text("docs/architecture.md");
    for (name, file) in [
        ("WorkerState", "crates/wire/src/control/worker.rs"),
        ("GenerationState", "crates/wire/src/control/mod.rs"),
        ("StopMode", "crates/master/src/sockets/control_socket/messages.rs"),
        ("RequestStage", "crates/front/src/workers/scheduler/request.rs"),
        ("ReforkPhase", "crates/master/src/refork/mod.rs"),
    ] {
        let code = text(file);
        let (_, rest) = code.split_once(&format!("enum {name} {{")).expect("the enum");
        let body = rest.split_once("\n}").expect("its end").0;
        let variants: BTreeSet<&str> = named(body, r"(?m)^    ([A-Z]\w+)(?:\(.*\))?,$");
        let heading = format!(": `{name}`\n\n");
        let (_, section) = architecture.split_once(&heading).expect("a heading with the name of the enum");
        let drawing = section.split_once("\n\n").expect("a text below the drawing").0;
        assert!(variants.len() > 1, "{variants:?}");
        assert_eq!(
            named(drawing, r"(?m)(?:^ +|▶ )([A-Z][a-z]+)\b"),
            variants,
            "{name}: drawn in docs/architecture.md, {file}"
        );
    }
}

fn named<'a>(text: &'a str, of: &str) -> BTreeSet<&'a str> {
    pattern(of).captures_iter(text).filter_map(|found| Some(found.get(1)?.as_str())).collect()
}

/// A row of the table of messages of docs/architecture.md.
struct MessageType {
    name: String,
    /// The variants of an enum, the fields of a struct.
    parts: Vec<String>,
    /// A file of sources, or a folder.
    place: String,
}

fn messages() -> Vec<MessageType> {
    let drawn = text("docs/architecture.md");
    let (_, rest) = drawn.split_once("\n| between | type | messages | code |\n").expect("the table of messages");
    let name = pattern(r"`(\w+)`");
    let names = |cell: &str| name.captures_iter(cell).map(|found| found[1].to_owned()).collect::<Vec<_>>();
    let row = |row: &str| {
        let cells: Vec<&str> = row.split('|').collect();
        let place = cells[4].trim().trim_matches('`').to_owned();
        MessageType { name: names(cells[2]).concat(), parts: names(cells[3]), place }
    };
    rest.lines().skip(1).take_while(|line| line.starts_with('|')).map(row).collect()
}

#[test]
fn every_message_between_processes_has_a_row_in_the_architecture() {
    let listed: BTreeSet<String> = messages().into_iter().map(|row| row.name).collect();
    let message = pattern(r"(?m)^pub (?:enum|struct) ((?:To|From)[A-Z]\w*)|\bChannel<(\w{4,}), (\w{4,})>");
    let mut seen = 0;
    for source in programs() {
        for found in message.captures_iter(&source.code) {
            for name in found.iter().skip(1).flatten() {
                let name = name.as_str();
                assert!(listed.contains(name), "docs/architecture.md has no row for {name} of {}", source.name);
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "{seen} messages");
}

#[test]
fn each_row_of_the_messages_has_the_variants_of_the_code_at_its_place() {
    let part = pattern(r"(?m)^    (?:pub )?(\w+)(?:,|:| \{|\()");
    for MessageType { name, parts, place } in messages() {
        let code = match root().join(&place).is_dir() {
            true => files(Path::new(&place), "rs").into_iter().map(text).collect(),
            false => text(&place),
        };
        let body = pattern(&format!(r"(?ms)^pub (?:enum|struct) {name}\b[^{{]*\{{(\}}|.*?^\}})"));
        let body = body.captures(&code).unwrap_or_else(|| panic!("{place} does not define {name}"));
        let defined: Vec<String> = part.captures_iter(&body[1]).map(|found| found[1].to_owned()).collect();
        assert_eq!(parts, defined, "docs/architecture.md, messages of {name}: left is the document, right is {place}");
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

/// Lines of Markdown wider than 160 columns, without tables and code.
fn wide_lines(text: &str) -> Vec<usize> {
    let mut is_code = false;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        is_code ^= line.trim_start().starts_with("```");
        let is_table_or_code = is_code || line.starts_with("    ") || line.trim_start().starts_with('|');
        if !is_table_or_code && line.chars().count() > 160 {
            found.push(number);
        }
    }
    found
}

#[test]
fn the_lines_of_the_documents_have_at_most_160_columns() {
    for (document, text) in documents() {
        let found = wide_lines(&text);
        assert!(found.is_empty(), "{}: break the lines {found:?} after 120 columns", document.display());
    }
    let wide = "x ".repeat(81);
    assert_eq!(wide_lines(&format!("{wide}\n```text\n{wide}\n```\n| {wide} |\n{wide}")), [1, 6]);
}

#[test]
fn every_link_in_the_documents_leads_somewhere() {
    let link = pattern(r"\]\(([^)#:]+)(#[^)]*)?\)");
    for (document, text) in documents() {
        let folder = document.parent().unwrap_or(Path::new(""));
        for found in link.captures_iter(&text) {
            let target = root().join(folder).join(&found[1]);
            assert!(target.exists(), "{}: {} is nowhere", document.display(), &found[1]);
        }
    }
}

#[test]
fn every_path_that_a_document_names_is_there() {
    let tops = r"src|crates|tests|tools|examples|benchmarks|perl|pkg|fuzz|docs|\.ci";
    let named = pattern(&format!(r"(?:^|[^\w/.-])((?:{tops})/[\w/.-]*[\w/])"));
    for (document, text) in documents() {
        let folder = document.parent().unwrap_or(Path::new(""));
        for found in text.lines().flat_map(|line| named.captures_iter(line)) {
            let is_there = [Path::new(""), folder].iter().any(|from| root().join(from).join(&found[1]).exists());
            assert!(is_there, "{}: {} is nowhere", document.display(), &found[1]);
        }
    }
}

#[test]
fn every_file_in_the_first_column_of_a_readme_is_there() {
    let first_cell = pattern(r"(?m)^\| (`[^|\n]+) \|");
    let named = pattern(r"`([\w./-]+(?:/|\.\w+))`");
    let mut seen = 0;
    for (document, text) in documents().into_iter().filter(|(path, _)| path.ends_with("README.md")) {
        for cell in first_cell.captures_iter(&text) {
            for found in named.captures_iter(&cell[1]) {
                let file = root().join(&document).with_file_name("").join(&found[1]);
                assert!(file.exists(), "{}: {} is nowhere", document.display(), &found[1]);
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "{seen} files");
}

#[test]
fn every_target_of_make_that_a_document_names_is_there() {
    let makefile = text("Makefile");
    let named = pattern(r"(?m)(?:^    |`)make (?:-\w+ )*([\w-]+)");
    let mut seen = 0;
    for (document, text) in documents() {
        for found in named.captures_iter(&text) {
            let is_there = makefile.contains(&format!("\n{}:", &found[1]));
            assert!(is_there, "{}: the Makefile has no {}", document.display(), &found[1]);
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen} targets");
}

/// `psgi::plackup::a_name` is in tests/psgi/plackup.rs or tests/psgi/plackup/mod.rs.
fn has_test(name: &str) -> bool {
    let Some((module, test)) = name.rsplit_once("::") else { return false };
    let file = format!("tests/{}", module.replace("::", "/"));
    let definition = format!("\nfn {test}() {{");
    let files = [format!("{file}.rs"), format!("{file}/mod.rs")];
    files.iter().filter(|file| root().join(file).is_file()).any(|file| text(file).contains(&definition))
}

#[test]
fn the_page_about_other_servers_names_tests_that_exist_and_counts_its_rows() {
    let page = text("docs/operating/beside-other-servers.md");
    let named = pattern("`([a-z0-9_]+(?:::[a-z0-9_]+){2,})`");
    let tests: Vec<String> = named.captures_iter(&page).map(|found| found[1].to_owned()).collect();
    assert!(tests.len() > 30, "{} tests", tests.len());
    for name in tests {
        assert!(has_test(&name), "there is no test {name}");
    }
    let row = pattern(r"(?m)^\| (\d+) \|[^|]*\| (has|partly|lacks) \|");
    let rows: Vec<(usize, String)> =
        row.captures_iter(&page).map(|found| (found[1].parse().expect("a number"), found[2].to_owned())).collect();
    assert!(rows.iter().map(|row| row.0).eq(1..=40), "{rows:?}");
    let count = |word: &str| rows.iter().filter(|row| row.1 == word).count();
    let counted = format!("{} has, {} partly, {} lacks", count("has"), count("partly"), count("lacks"));
    assert!(page.replace('\n', " ").contains(&counted), "{counted}");
}

#[test]
fn each_module_that_pages_for_users_name_is_listed_as_stable() {
    let stable = text("docs/stability.md");
    let named = pattern(r"\b(?:Cameleer::(?:[A-Z]\w*::)*[A-Z]\w*|Plack::Handler::Cameleer)");
    let mut seen = BTreeSet::new();
    for folder in ["docs/guide", "docs/operating", "docs/reference"] {
        for page in files(Path::new(folder), "md") {
            for found in named.find_iter(&text(&page)) {
                seen.insert(found.as_str().to_owned());
            }
        }
    }
    assert!(seen.len() > 2, "{seen:?}");
    for module in seen {
        assert!(stable.contains(&format!("`{module}`")), "docs/stability.md does not name {module}");
    }
}

#[test]
fn every_file_of_the_shim_is_described() {
    let described = text("docs/architecture.md");
    for file in files(Path::new("crates/libperl-sys/src"), "c") {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(described.contains(&format!("`{name}`")), "docs/architecture.md does not say what {name} holds");
    }
}

/// `make test` runs no doc tests: rustdoc would start once for each crate, and find none.
#[test]
fn no_doc_comment_has_a_doc_test() {
    for folder in ["crates", "src", "tools"] {
        for file in files(Path::new(folder), "rs") {
            let content = text(&file);
            let fences = pattern(r"(?m)^\s*//[/!]\s*```(.*)$");
            let languages = fences.captures_iter(&content).map(|fence| fence[1].to_owned());
            let opened: Vec<String> = languages.step_by(2).collect();
            assert!(opened.iter().all(|language| language == "text"), "{}: {opened:?}", file.display());
        }
    }
}
