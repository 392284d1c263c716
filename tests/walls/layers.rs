//! The layers of modules within a crate, cycles of modules, and the number of files in a folder. The layers of crates
//! are in their manifests: [`super::manifests`].
//!
//! When a module is added or removed, only tests/walls/layers.txt changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::graph::{Arrow, Graph, Name};
use super::source::{files, root};

/// The layers within a folder, top to bottom. The folder's `mod.rs` or `lib.rs` may use all modules, and all may use
/// it.
struct Layers {
    of: &'static str,
    order: Vec<Vec<&'static str>>,
}

/// The tables of tests/walls/layers.txt: a folder, then a line for each of its rows.
fn tables() -> Vec<Layers> {
    let mut tables: Vec<Layers> = Vec::new();
    for line in include_str!("layers.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix("    ") {
            None => tables.push(Layers { of: line, order: Vec::new() }),
            Some(row) => tables.last_mut().expect("a folder above").order.push(row.split(' ').collect()),
        }
    }
    tables
}

/// The limit on files per folder. A longer list is hard to survey.
const MAX_FILES: usize = 20;

/// The source folder of each crate.
pub fn crates() -> Vec<String> {
    let members = ["crates", "tools"].map(|home| {
        fs::read_dir(root().join(home)).expect("a folder of crates").flatten().map(move |entry| (home, entry))
    });
    let members = members.into_iter().flatten();
    let folders = members.map(|(home, entry)| format!("{home}/{}/src", entry.file_name().to_string_lossy()));
    let mut folders: Vec<String> =
        folders.filter(|folder| root().join(folder).is_dir()).chain(["src".to_owned()]).collect();
    folders.sort();
    folders
}

#[test]
fn every_import_leads_downward() {
    for layers in tables() {
        let (graph, folder) = graph_around(layers.of);
        for child in graph.children(&folder) {
            assert!(row(&layers, child).is_some(), "{}/{child} stands in no row of {TABLES}", layers.of);
        }
        for name in layers.order.concat() {
            assert!(graph.children(&folder).contains(&name), "{} has no {name} any more: {TABLES}", layers.of);
        }
        let upward: Vec<String> = graph.arrows.iter().filter_map(|arrow| upward(&layers, &folder, arrow)).collect();
        assert!(upward.is_empty(), "{}\n{WHAT_TO_DO}", upward.join("\n"));
    }
}

const TABLES: &str = "tests/walls/layers.txt";
const WHAT_TO_DO: &str = "Move what both need into a layer below, or hand it down as an argument; \
    when the order itself is wrong, change tests/walls/layers.txt and docs/architecture.md";

fn row(layers: &Layers, name: &str) -> Option<usize> {
    layers.order.iter().position(|row| row.contains(&name))
}

fn upward(layers: &Layers, folder: &Name, arrow: &Arrow) -> Option<String> {
    let child = |name: &Name| name.strip_prefix(folder.as_slice()).and_then(|below| below.first()).cloned();
    let (from, to) = (child(&arrow.from)?, child(&arrow.to)?);
    let allowed = from == to || row(layers, &from) < row(layers, &to);
    (!allowed).then(|| format!("{} — in {}, {from} does not stand above {to}", arrow.place, layers.of))
}

#[test]
fn every_crate_has_its_layers() {
    let tables = tables();
    for home in crates() {
        let modules = Graph::of(&home).children(&[]).len();
        let has_table = tables.iter().any(|layers| Path::new(layers.of).starts_with(&home));
        assert!(modules < 2 || has_table, "{home} has {modules} modules, and no table in {TABLES}");
    }
}

/// The graph of the crate that contains `folder`, and the name of the folder's module.
fn graph_around(folder: &str) -> (Graph, Name) {
    let home = crates().into_iter().find(|home| Path::new(folder).starts_with(home)).expect("a folder of a crate");
    let below = Path::new(folder).strip_prefix(&home).expect("below its crate");
    (Graph::of(&home), below.iter().map(|part| part.to_string_lossy().into_owned()).collect())
}

#[test]
fn modules_need_each_other_in_no_circle() {
    for home in crates() {
        let graph = Graph::of(&home);
        if let Some(circle) = graph.circles().first() {
            let (size, folder) = (circle.len(), folder_of(&home, circle));
            panic!("{size} modules of {folder} need each other; cut one of\n{}", shortest(&graph, circle));
        }
    }
}

/// The deepest folder that contains every module of `circle`.
fn folder_of(home: &str, circle: &BTreeSet<Name>) -> String {
    let first = circle.first().expect("a circle has members");
    let common = (0..first.len()).rev().find(|length| circle.iter().all(|name| name.starts_with(&first[..*length])));
    [&[home.to_owned()], &first[..common.unwrap_or(0)]].concat().join("/")
}

/// A shortest cycle within `circle`, one import a line.
fn shortest(graph: &Graph, circle: &BTreeSet<Name>) -> String {
    let within: Vec<&Arrow> =
        graph.arrows.iter().filter(|arrow| circle.contains(&arrow.from) && circle.contains(&arrow.to)).collect();
    let rounds = circle.iter().map(|start| round(&within, start));
    rounds.min_by_key(Vec::len).expect("a circle has members").join("\n")
}

/// A shortest chain of imports from `start` back to `start`.
fn round(arrows: &[&Arrow], start: &Name) -> Vec<String> {
    let mut came: BTreeMap<&Name, &Arrow> = BTreeMap::new();
    let mut reached = vec![start];
    while !came.contains_key(start) {
        let next = arrows.iter().filter(|arrow| reached.contains(&&arrow.from) && !came.contains_key(&arrow.to));
        let next: Vec<&Arrow> = next.copied().collect();
        reached = next.iter().map(|arrow| &arrow.to).collect();
        came.extend(next.into_iter().map(|arrow| (&arrow.to, arrow)));
    }
    let mut way = vec![came[start]];
    while way[0].from != *start {
        way.insert(0, came[&way[0].from]);
    }
    way.iter().map(|arrow| arrow.place.clone()).collect()
}

#[test]
fn no_folder_has_too_many_files() {
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    let homes = crates().into_iter().chain(["tests".to_owned()]);
    for file in homes.flat_map(|home| ["rs", "c", "h"].map(|ending| files(Path::new(&home), ending))).flatten() {
        *sizes.entry(file.with_file_name("").display().to_string().trim_end_matches('/').to_owned()).or_default() += 1;
    }
    let crowded: Vec<_> = sizes.iter().filter(|(_, size)| **size > MAX_FILES).collect();
    assert!(crowded.is_empty(), "{crowded:?}: more than {MAX_FILES} files; give those of one idea a folder");
}
