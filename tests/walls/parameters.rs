//! Parameters have names: a tuple or array pattern in a parameter list hides what a caller passes, and bypasses the
//! limit on the number of arguments. Structs and plain names say it.

use std::path::Path;

use super::source::{bare, files, pattern, text};

/// The functions of a text with a tuple or array pattern in the parameter list, as `line number: name`.
fn unnamed_parameters(text: &str) -> Vec<String> {
    let code = bare(text);
    let definition = pattern(r"\bfn (\w+)");
    let of = |found: regex::Captures<'_>| {
        let (whole, name) = (found.get(0).expect("a match"), &found[1]);
        let line = code[..whole.start()].lines().count().max(1);
        has_pattern(&code[whole.end()..]).then(|| format!("{line}: {name}"))
    };
    definition.captures_iter(&code).filter_map(of).collect()
}

/// Whether a parameter begins with `(` or `[`; `signature` begins behind the name of the function.
fn has_pattern(signature: &str) -> bool {
    let Some(list) = signature[generics(signature)..].strip_prefix('(') else { return false };
    let (mut depth, mut is_begin, mut before) = (1, true, b' ');
    for byte in list.bytes() {
        match byte {
            b'(' | b'[' if depth == 1 && is_begin => return true,
            b'(' | b'[' | b'{' | b'<' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b'>' if before != b'-' => depth -= 1,
            _ => {}
        }
        before = byte;
        if depth == 0 {
            break;
        }
        is_begin = depth == 1 && (byte == b',' || is_begin && byte.is_ascii_whitespace());
    }
    false
}

/// The length of the generic parameters.
fn generics(signature: &str) -> usize {
    let mut depth = 0;
    let mut before = ' ';
    for (at, c) in signature.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            '(' if depth == 0 => return at,
            _ => {}
        }
        before = c;
    }
    signature.len()
}

#[test]
fn no_parameter_is_a_tuple_pattern_or_an_array_pattern() {
    let folders = ["crates", "src", "tools", "fuzz", "tests"].into_iter();
    let found = folders.flat_map(|folder| files(Path::new(folder), "rs")).flat_map(|file| {
        let found = unnamed_parameters(&text(&file));
        found.into_iter().map(move |at| format!("{}:{at}", file.display()))
    });
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "pass a struct, or plain names:\n{}", found.join("\n"));
}

#[test]
fn a_pattern_within_a_type_or_a_struct_pattern_is_none() {
    for code in
        ["fn a((b, c): (u8, u8)) {}", "fn a(b: u8, [c, d]: [u8; 2]) {}", "fn a<F: Fn(u8) -> u8>(\n    (b, c): F) {}"]
    {
        assert_eq!(unnamed_parameters(code).len(), 1, "{code}");
    }
    for code in
        ["fn a(b: (u8, u8), c: Cow<'_, [u8]>) {}", "fn a(Sizes { b, c }: Sizes) {}", "// fn a((b, c): D)", "fn a() {}"]
    {
        assert!(unnamed_parameters(code).is_empty(), "{code}");
    }
}
