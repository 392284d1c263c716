//! The layers of modules within a crate, cycles of modules, and the number of files in a folder. The layers of crates
//! are in their manifests: [`super::manifests`].
//!
//! When a module is added or removed, only the tables at the top change.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::graph::{Arrow, Graph, Name};
use super::source::{files, root};

/// The layers within a folder. A module may use modules in rows below its own row, but not in its own row or above. The
/// folder's `mod.rs` may use all modules, and all may use it.
struct Layers {
    of: &'static str,
    order: &'static [&'static [&'static str]],
}

const LAYERS: &[Layers] = &[
    Layers {
        of: "crates/front/src",
        order: &[
            &["control", "clock", "scoreboard"],
            &["threads"],
            &["accept"],
            &["http1", "http2"],
            &["request"],
            &["generation"],
            &["cache", "routing", "workers"],
            &["limits"],
            &["client"],
            &["log"],
            &["trace"],
            &["base", "panics"],
        ],
    },
    Layers {
        of: "crates/config/src",
        order: &[&["bundle", "reference", "resolve"], &["build"], &["table"], &["draft"], &["model"], &["syntax"]],
    },
    Layers {
        of: "src/cli",
        order: &[
            &["bench", "completions", "man", "run", "serve", "tips"],
            &["check", "explain", "single"],
            &["built_in", "compat", "daemon"],
            &["cgi_programs", "ready"],
        ],
    },
    Layers {
        of: "tools/toolkit/src",
        order: &[
            &["client"],
            &["directives", "origin"],
            &["conf"],
            &["development", "options"],
            &["output", "path_pattern", "units"],
        ],
    },
    Layers { of: "tools/perlcost/src", order: &[&["bloat", "profile", "size"], &["embedded"]] },
    Layers {
        of: "crates/master/src",
        order: &[
            &["main_loop"],
            &["announcer", "budget", "exits", "refork"],
            &["front_requests", "inspections", "loaded", "monitor", "pool", "reload", "sizing", "stop"],
            &["certificates", "front", "generation", "logs", "memory_grants", "pid_file", "profiling", "sockets"],
            &["configuration"],
            &["backoff", "children", "notify", "signals"],
        ],
    },
    Layers { of: "crates/monitor/src", order: &[&["connections"], &["pages"], &["access", "dashboard", "hub"]] },
    Layers {
        of: "crates/worker/src",
        order: &[
            &["expander", "mold", "single", "standalone"],
            &["cgi", "inspection", "promotion", "warm_up"],
            &["request"],
            &["site"],
            &["fcgid", "location", "start_up"],
            &[
                "error_logs",
                "forking",
                "growth",
                "log_context",
                "memory_limit",
                "memory_pages",
                "place",
                "program",
                "request_limit",
                "trace",
            ],
        ],
    },
    Layers {
        of: "crates/apache/src",
        order: &[
            &["exports"],
            &["internal_request", "response", "worker_api"],
            &["tied_env"],
            &["filters"],
            &["request_stack"],
            &["request_rec"],
            &["engine", "error_page", "output", "place"],
            &["log", "unchunk"],
        ],
    },
];

/// The limit on files per folder. A longer list is hard to survey.
const MOST_FILES: usize = 20;

/// The source folder of each crate.
fn crates() -> Vec<String> {
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
            panic!("{size} modules of {folder} need each other: cut one of\n{}", shortest(&graph, circle));
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
    way.iter().map(|arrow| arrow.said.clone()).collect()
}

#[test]
fn no_folder_is_a_crowd() {
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    let homes = crates().into_iter().chain(["tests".to_owned()]);
    for file in homes.flat_map(|home| ["rs", "c", "h"].map(|ending| files(Path::new(&home), ending))).flatten() {
        *sizes.entry(file.with_file_name("").display().to_string().trim_end_matches('/').to_owned()).or_default() += 1;
    }
    let crowded: Vec<_> = sizes.iter().filter(|(_, size)| **size > MOST_FILES).collect();
    assert!(crowded.is_empty(), "{crowded:?}: more than {MOST_FILES} files; give those of one idea a folder");
}
