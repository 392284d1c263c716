//! What stands above what, where modules go round in circles, and how many files lie in a folder.
//!
//! The three lists at the top are all there is to change: a table for each folder with layers, and the folders that are
//! not yet in order. Those must become fewer: one that is in order and still listed fails the test as well.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::graph::{Arrow, Graph, Name};
use super::source::files;

/// The order within a folder. A name may use those in the rows below it, none beside it and none above it; the folder's
/// own `mod.rs` may use them all, and all of them may use it.
struct Layers {
    of: &'static str,
    order: &'static [&'static [&'static str]],
}

const LAYERS: &[Layers] = &[
    Layers {
        of: "src",
        order: &[
            &["cli"],
            &["compat", "master"],
            &["front", "worker"],
            &["access", "tls"],
            &["log", "mime", "open", "privileges", "sys"],
            &["config"],
            &["path", "printable"],
        ],
    },
    Layers {
        of: "src/front",
        order: &[
            &["control", "clock", "scoreboard"],
            &["accept"],
            &["http1", "http2"],
            &["request"],
            &["site"],
            &["routing", "workers"],
            &["limits"],
            &["client"],
            &["log"],
            &["base", "panics"],
        ],
    },
    Layers {
        of: "src/config",
        order: &[&["bundle", "reference", "resolve"], &["build"], &["table"], &["draft"], &["model"], &["syntax"]],
    },
    Layers {
        of: "src/cli",
        order: &[
            &["completions", "man", "serve", "tips"],
            &["check", "reload", "single", "status", "stop"],
            &["run"],
            &["built_in", "client", "compat", "daemon", "directives", "memory"],
            &["conf", "development", "options", "ready"],
        ],
    },
    Layers {
        of: "src/master",
        order: &[
            &["certificates", "events", "front", "reload", "stop"],
            &["generation", "watchdog"],
            &["logs", "pid_file", "pool", "sockets"],
            &["site", "status"],
            &["backoff", "children", "notify", "signals"],
        ],
    },
    Layers {
        of: "src/worker",
        order: &[
            &["expander", "mold", "single"],
            &["request"],
            &["site"],
            &["location", "start_up"],
            &["error_logs", "limits", "log_context", "place", "program_kind"],
        ],
    },
    Layers {
        of: "crates/apache/src",
        order: &[
            &["exports"],
            &["internal_request", "response", "worker_api"],
            &["request_stack"],
            &["request_rec"],
            &["engine", "error_page", "output", "place"],
            &["log"],
        ],
    },
];

/// Folders in which modules still need each other in a circle.
const IN_CIRCLES: &[&str] = &[];

/// Folders in which too many files lie side by side.
const CROWDED: &[&str] = &[];

/// More files than these are a list, not a picture.
const MOST_FILES: usize = 20;

const CRATES: [&str; 6] =
    ["src", "crates/wire/src", "crates/form/src", "crates/apache/src", "crates/libperl/src", "crates/libperl-sys/src"];

#[test]
fn every_import_leads_downward() {
    for layers in LAYERS {
        let (graph, folder) = graph_around(layers.of);
        let row = |name: &str| layers.order.iter().position(|row| row.contains(&name));
        for child in graph.children(&folder) {
            assert!(row(child).is_some(), "{}/{child} stands in no row: say in {} where", layers.of, file!());
        }
        for name in layers.order.concat() {
            assert!(graph.children(&folder).contains(&name), "{} has no {name} any more: {}", layers.of, file!());
        }
        let upward: Vec<String> = graph.arrows.iter().filter_map(|arrow| upward(layers, &folder, arrow)).collect();
        assert!(upward.is_empty(), "{}\n{WHAT_TO_DO}", upward.join("\n"));
    }
}

const WHAT_TO_DO: &str = "Move what both need into a layer below, or hand it down as an argument; \
    when the order itself is wrong, say so in LAYERS and in docs/architecture.md";

fn upward(layers: &Layers, folder: &Name, arrow: &Arrow) -> Option<String> {
    let child = |name: &Name| name.strip_prefix(folder.as_slice()).and_then(|below| below.first()).cloned();
    let (from, to) = (child(&arrow.from)?, child(&arrow.to)?);
    let row = |name: &String| layers.order.iter().position(|row| row.contains(&name.as_str()));
    let allowed = from == to || row(&from) < row(&to);
    (!allowed).then(|| format!("{} — in {}, {from} does not stand above {to}", arrow.said, layers.of))
}

/// The graph of the crate that `folder` belongs to, and the module that the folder is.
fn graph_around(folder: &str) -> (Graph, Name) {
    let home = CRATES.into_iter().find(|home| Path::new(folder).starts_with(home)).expect("a folder of a crate");
    let below = Path::new(folder).strip_prefix(home).expect("below its crate");
    (Graph::of(home), below.iter().map(|part| part.to_string_lossy().into_owned()).collect())
}

#[test]
fn modules_need_each_other_in_no_circle() {
    let (mut listed, mut new) = (BTreeSet::new(), Vec::new());
    for home in CRATES {
        let graph = Graph::of(home);
        for circle in graph.circles() {
            let folder = folder_of(home, &circle);
            match IN_CIRCLES.iter().find(|listed| Path::new(&folder).starts_with(listed)) {
                Some(known) => _ = listed.insert(*known),
                None => {
                    new.push(format!("{} modules of {folder}; cut one of\n{}", circle.len(), shortest(&graph, &circle)))
                }
            }
        }
    }
    assert!(new.is_empty(), "in a circle: {}", new.join("\n"));
    let done = IN_CIRCLES.iter().find(|folder| !listed.contains(*folder));
    assert!(done.is_none(), "{done:?} has no circle any more: take it off IN_CIRCLES in {}", file!());
}

/// The folder that holds all of `circle`.
fn folder_of(home: &str, circle: &BTreeSet<Name>) -> String {
    let first = circle.first().expect("a circle has members");
    let common = (0..first.len()).rev().find(|length| circle.iter().all(|name| name.starts_with(&first[..*length])));
    [&[home.to_owned()], &first[..common.unwrap_or(0)]].concat().join("/")
}

/// A shortest way round within `circle`, an import a line.
fn shortest(graph: &Graph, circle: &BTreeSet<Name>) -> String {
    let within: Vec<&Arrow> =
        graph.arrows.iter().filter(|arrow| circle.contains(&arrow.from) && circle.contains(&arrow.to)).collect();
    let rounds = circle.iter().map(|start| round(&within, start));
    rounds.min_by_key(Vec::len).expect("a circle has members").join("\n")
}

/// The imports from `start` back to it.
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
    way.iter().map(|arrow| arrow.said.clone()).collect()
}

#[test]
fn no_folder_is_a_crowd() {
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    for file in CRATES.iter().flat_map(|home| ["rs", "c", "h"].map(|ending| files(Path::new(home), ending))).flatten() {
        *sizes.entry(file.with_file_name("").display().to_string().trim_end_matches('/').to_owned()).or_default() += 1;
    }
    let crowded: Vec<&str> =
        sizes.iter().filter(|(_, size)| **size > MOST_FILES).map(|(folder, _)| folder.as_str()).collect();
    let new: Vec<&&str> = crowded.iter().filter(|folder| !CROWDED.contains(folder)).collect();
    assert!(new.is_empty(), "{new:?}: more than {MOST_FILES} files; give those of one idea a folder");
    let done: Vec<&&str> = CROWDED.iter().filter(|folder| !crowded.contains(folder)).collect();
    assert!(done.is_empty(), "{done:?}: no crowd any more; take it off CROWDED in {}", file!());
}
