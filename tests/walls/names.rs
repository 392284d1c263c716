//! The names of public types: each is unique in the workspace, so a search for it leads to one definition.

use std::collections::BTreeMap;

use super::source::{Source, pattern, sources};

/// The sources of the crates and of the command line, without tests.
pub fn programs() -> impl Iterator<Item = Source> {
    let all = ["crates", "src", "tools"].into_iter().flat_map(sources);
    all.filter(|source| !source.name.split('/').any(|part| part == "tests"))
}

/// The places of each public type, by name.
fn public_types(sources: impl Iterator<Item = Source>) -> BTreeMap<String, Vec<String>> {
    let public = pattern(r"(?m)^\s*pub (?:unsafe )?(?:struct|enum|union|trait|type) (\w+)");
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources {
        for found in public.captures_iter(&source.code) {
            places.entry(found[1].to_owned()).or_default().push(source.name.clone());
        }
    }
    places
}

#[test]
fn no_two_public_types_have_one_name() {
    let places = public_types(programs());
    assert!(places.len() > 500, "{} public types", places.len());
    let twice: Vec<String> = places
        .iter()
        .filter(|(_, places)| places.len() > 1)
        .map(|(name, places)| format!("{name}: {}", places.join(", ")))
        .collect();
    assert!(
        twice.is_empty(),
        "a public type needs a name of its own, or less visibility (pub(super), pub(crate)):\n{}",
        twice.join("\n")
    );
}

#[test]
fn a_type_of_less_visibility_is_not_public() {
    let code = "pub struct A;\n  pub enum B<T> {}\npub(crate) struct C;\npub(super) enum D {}\nstruct E;\npub trait F {}\n\
        pub unsafe trait G {}\npub type H = A;\npub fn i() {}";
    let source = |name: &str| Source { name: name.to_owned(), code: code.to_owned() };
    let places = public_types([source("a.rs"), source("b.rs")].into_iter());
    assert_eq!(places.keys().map(String::as_str).collect::<Vec<_>>(), ["A", "B", "F", "G", "H"]);
    assert_eq!(places["A"], ["a.rs", "b.rs"]);
}
