//! The sources as the rules see them: without comments, contents of strings, and tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

/// A source file of the program.
pub struct Source {
    pub name: String,
    pub code: String,
}

/// The Rust files below `folder` without tests, because tests are exempt from the rules.
pub fn sources(folder: &str) -> Vec<Source> {
    let files: Vec<(PathBuf, String)> =
        files(Path::new(folder), "rs").into_iter().map(|path| (path.clone(), text(path))).collect();
    let tests: Vec<PathBuf> = files.iter().flat_map(|(path, text)| test_modules(path, text)).collect();
    let program =
        files.into_iter().filter(|(path, _)| !tests.iter().any(|test| path.with_extension("").starts_with(test)));
    program.map(|(path, text)| Source { name: path.display().to_string(), code: code(&text) }).collect()
}

static TEST_MODULE: LazyLock<Regex> = LazyLock::new(|| pattern(r"#\[cfg\(test\)\]\s*(?:pub(?:\(\w+\))? )?mod (\w+);"));

/// The paths, without `.rs`, of the test-only modules that a file declares.
fn test_modules(path: &Path, text: &str) -> Vec<PathBuf> {
    let is_folder = path.file_stem().is_some_and(|stem| stem == "mod" || stem == "lib");
    let folder = if is_folder { path.with_file_name("") } else { path.with_extension("") };
    TEST_MODULE.captures_iter(text).map(|found| folder.join(&found[1])).collect()
}

/// The code of `text` that the compiler builds into the program, with empty string literals.
pub fn code(text: &str) -> String {
    without_tests(&bare(text))
}

/// Comments, string literals and character literals.
static NO_CODE: LazyLock<Regex> = LazyLock::new(|| {
    let comment = r"(?<comment>//[^\n]*|(?s:/\*.*?\*/))";
    let quoted = r##"r"[^"]*"|(?s:r#".*?"#)|(?s:"(?:[^"\\]|\\.)*")|'(?:[^'\\\n]|\\[^'\n]+|\\')'"##;
    pattern(&format!("{comment}|{quoted}"))
});

/// `text` without comments, with empty string literals.
pub fn bare(text: &str) -> String {
    let emptied = |found: &regex::Captures| if found.name("comment").is_some() { "" } else { "\"\"" };
    NO_CODE.replace_all(text, emptied).into_owned()
}

fn without_tests(code: &str) -> String {
    let mut program = String::new();
    let mut rest = code;
    while let Some((before, item)) = rest.split_once("#[cfg(test)]") {
        program += before;
        rest = &item[end_of_item(item)..];
    }
    program + rest
}

/// The offset after the first semicolon of `code`, or after its first pair of braces if that comes first.
fn end_of_item(code: &str) -> usize {
    let mut depth = 0;
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            b';' => {}
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

/// The files below `folder` with the extension `extension`, sorted.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries.flatten() {
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

pub fn text(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern")
}

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn comments_and_what_is_quoted_are_no_code() {
    let cases = [
        ("a; // crate::b\nc", "a; \nc"),
        ("/* crate::b\n */c", "c"),
        (r#"f("// no comment \" crate::b") // c"#, r#"f("") "#),
        ("f(r#\"a \"quoted\" b\"#, c)", "f(\"\", c)"),
        ("f('\"', '\\'', b'\\n'); g::<'a>()", "f(\"\", \"\", b\"\"); g::<'a>()"),
    ];
    for (text, expected) in cases {
        assert_eq!(code(text), expected, "{text}");
    }
}

#[test]
fn test_code_is_not_counted_as_code() {
    assert_eq!(code("a\n#[cfg(test)]\nmod tests { fn b() { \"}\"; } }\nc"), "a\n\nc");
    assert_eq!(code("#[cfg(test)]\nmod golden;\nmod d;"), "\nmod d;");
    let folder = test_modules(Path::new("src/a/mod.rs"), "#[cfg(test)]\npub(crate) mod tests;\nmod b;");
    assert_eq!(folder, [Path::new("src/a/tests")]);
    assert_eq!(test_modules(Path::new("src/a.rs"), "#[cfg(test)]\nmod tests;"), [Path::new("src/a/tests")]);
}
