//! The list of what is linked into the program, which the packages have: CycloneDX 1.5.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::support::{Finished, Site};

const TREE: &str = env!("CARGO_MANIFEST_DIR");

/// The list as `pkg/third-party` writes it.
fn written() -> Value {
    let site = Site::new();
    let mut perl = Command::new("perl");
    perl.args(["pkg/third-party", "."]).arg(site.folder()).current_dir(TREE).env("SOURCE_DATE_EPOCH", "86400");
    Finished::of(&mut perl).succeeded();
    assert!(site.has("third-party-licences.txt"));
    serde_json::from_str(&site.read("cameleer.cdx.json")).expect("JSON")
}

/// The checksums in Cargo.lock, by `pkg:cargo/NAME@VERSION`.
fn checksums() -> BTreeMap<String, String> {
    let lock = std::fs::read_to_string(format!("{TREE}/Cargo.lock")).expect("a file of the tree");
    let field = |entry: &str, name: &str| {
        let (_, rest) = entry.split_once(&format!("{name} = \""))?;
        Some(rest.split('"').next()?.to_owned())
    };
    let entry = |entry: &str| {
        let purl = format!("pkg:cargo/{}@{}", field(entry, "\nname")?, field(entry, "\nversion")?);
        Some((purl, field(entry, "\nchecksum")?))
    };
    lock.split("[[package]]").filter_map(entry).collect()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("{key}: {value}"))
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("{key}: {value}"))
}

#[test]
fn the_list_of_linked_libraries_is_cyclonedx_with_checksums_and_the_c_libraries() {
    let bom = written();
    assert_eq!((text(&bom, "bomFormat"), text(&bom, "specVersion")), ("CycloneDX", "1.5"));
    assert_eq!(bom["version"], 1);
    let serial = regex::Regex::new("^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$");
    assert!(serial.expect("a pattern").is_match(text(&bom, "serialNumber")), "{}", bom["serialNumber"]);
    assert_eq!(text(&bom["metadata"], "timestamp"), "1970-01-02T00:00:00Z");
    let program = &bom["metadata"]["component"];
    assert_eq!((text(program, "name"), text(program, "version")), ("cameleer", env!("CARGO_PKG_VERSION")));

    let (checksums, components) = (checksums(), list(&bom, "components"));
    let mut refs = BTreeSet::from([text(program, "bom-ref")]);
    for component in components {
        assert_eq!(text(component, "type"), "library");
        assert!(refs.insert(text(component, "bom-ref")), "twice: {component}");
        assert!(!text(&list(component, "licenses")[0], "expression").contains("NOASSERTION"), "{component}");
        let purl = text(component, "purl");
        if purl.starts_with("pkg:cargo/") {
            let hash = &list(component, "hashes")[0];
            assert_eq!((text(hash, "alg"), text(hash, "content")), ("SHA-256", checksums[purl].as_str()), "{purl}");
        }
    }
    assert!(components.len() > 150, "{} components", components.len());
    for name in ["hyper", "rustls", "tokio"] {
        assert!(components.iter().any(|component| component["name"] == name), "{name}");
    }
    let of_c: Vec<&Value> = components.iter().filter(|component| !component["cpe"].is_null()).collect();
    let names: Vec<&str> = of_c.iter().map(|component| text(component, "name")).collect();
    assert_eq!(names, ["pcre2", "zstd"]);
    // The program tells which PCRE2 it has.
    let pcre2 = format!("PCRE2 {},", text(of_c[0], "version"));
    assert!(Site::new().cameleer(["--version"]).succeeded().out.contains(&pcre2), "{pcre2}");

    let mut needed = BTreeSet::new();
    for dependency in list(&bom, "dependencies") {
        assert!(refs.remove(text(dependency, "ref")), "{dependency}");
        needed.extend(list(dependency, "dependsOn").iter().filter_map(Value::as_str));
    }
    assert!(refs.is_empty(), "no row in dependencies: {refs:?}");
    for component in components {
        assert!(needed.contains(text(component, "bom-ref")), "nothing needs {component}");
    }
}

#[test]
fn the_same_source_has_the_same_list() {
    assert_eq!(written(), written());
}
