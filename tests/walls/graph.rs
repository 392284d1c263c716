//! The dependency graph of modules, derived from `use` lines and from paths that begin at a module.
//!
//! An arrow leads to the module that defines an item, not to a module that re-exports it. The graph is not a
//! compiler's: macro expansions and the return types of methods are invisible.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use super::source::{Source, pattern, sources};

/// A module's path below its crate: `["front", "queue"]`.
pub type Name = Vec<String>;

/// The modules of a crate, and their dependencies.
pub struct Graph {
    modules: BTreeMap<Name, Module>,
    pub arrows: Vec<Arrow>,
}

/// A dependency: `from` uses an item of `to`.
#[derive(Clone)]
pub struct Arrow {
    pub from: Name,
    pub to: Name,
    /// The file, and the path as written in the file.
    pub place: String,
}

struct Module {
    file: String,
    /// The names of the items that the module defines.
    items: BTreeSet<String>,
    /// The imports of its `use` lines: the local name and the path.
    imports: Vec<(String, Name)>,
    /// The paths in the module's functions and types.
    paths: Vec<Name>,
}

impl Graph {
    /// The graph of the crate with its sources in `folder`.
    pub fn of(folder: &str) -> Graph {
        Graph::new(folder, sources(folder))
    }

    fn new(folder: &str, sources: Vec<Source>) -> Graph {
        let mut modules = BTreeMap::new();
        for source in sources {
            let path = Path::new(&source.name).strip_prefix(folder).expect("below its folder").with_extension("");
            let mut name: Name = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if name == ["main"] {
                continue;
            }
            name.pop_if(|last| last == "mod" || last == "lib");
            modules.insert(name, module(source));
        }
        let mut graph = Graph { modules, arrows: Vec::new() };
        graph.arrows = graph.modules.keys().flat_map(|name| graph.arrows_of(name)).collect();
        graph
    }

    /// Whether the crate has the module `name`.
    pub fn has(&self, name: &[String]) -> bool {
        self.modules.contains_key(name)
    }

    /// The modules directly below the module `folder`.
    pub fn children(&self, folder: &[String]) -> Vec<&str> {
        let below = self.modules.keys().filter(|name| name.len() == folder.len() + 1 && name.starts_with(folder));
        below.filter_map(|name| name.last()).map(String::as_str).collect()
    }

    fn arrows_of(&self, from: &Name) -> Vec<Arrow> {
        let module = &self.modules[from];
        let imported = module.imports.iter().map(|(_, path)| path).filter(|path| !self.is_folder(from, path));
        let mut arrows: Vec<Arrow> = Vec::new();
        for path in imported.chain(&module.paths) {
            let Some(to) = self.definer(from, path, 0).or_else(|| self.deepest(from, path)) else { continue };
            // Imports from an ancestor module are no dependency: a module may use the declarations of its parents.
            if !from.starts_with(&to) && !arrows.iter().any(|arrow| arrow.to == to) {
                let written = format!("{}: {}", module.file, path.join("::"));
                arrows.push(Arrow { from: from.clone(), to, place: written });
            }
        }
        arrows
    }

    /// Whether a path ends at a module with submodules. Importing such a module uses none of its items yet.
    fn is_folder(&self, from: &Name, path: &[String]) -> bool {
        let Some((base, rest)) = self.start(from, path) else { return false };
        let whole: Name = base.iter().chain(rest).cloned().collect();
        self.has(&whole) && !self.children(&whole).is_empty()
    }

    /// The module that defines the item of `path` as seen from `from`; `None` for items of other crates.
    fn definer(&self, from: &Name, path: &[String], depth: usize) -> Option<Name> {
        let (base, rest) = self.start(from, path)?;
        self.descend(base, rest, depth)
    }

    /// The last module in `path`. Needed for items defined by macros, which the graph does not see.
    fn deepest(&self, from: &Name, path: &[String]) -> Option<Name> {
        let (base, rest) = self.start(from, path)?;
        let prefixes = (0..=rest.len()).rev().map(|length| [&base, &rest[..length]].concat());
        prefixes.into_iter().find(|name| self.has(name))
    }

    /// The module where a path begins, and the rest of the path.
    fn start<'p>(&self, from: &Name, path: &'p [String]) -> Option<(Name, &'p [String])> {
        let supers = path.iter().take_while(|part| *part == "super").count();
        match path.first()?.as_str() {
            "crate" => Some((Name::new(), &path[1..])),
            "self" => Some((from.clone(), &path[1..])),
            "super" => Some((from[..from.len().checked_sub(supers)?].to_vec(), &path[supers..])),
            _ => Some((from.clone(), path)),
        }
    }

    /// Follows `rest` from the module `base`, including re-exports.
    fn descend(&self, base: Name, rest: &[String], depth: usize) -> Option<Name> {
        /// A limit deeper than any chain of re-exports. Two globs that import each other would never end.
        const MAX_DEPTH: usize = 8;
        let Some((first, after)) = rest.split_first() else { return Some(base) };
        let module = self.modules.get(&base)?;
        let child: Name = base.iter().chain([first]).cloned().collect();
        if self.has(&child) {
            return self.descend(child, after, depth);
        }
        if first == "*" || module.items.contains(first) {
            return Some(base);
        }
        let named = module.imports.iter().filter(|(name, _)| name == first || name == "*");
        named.filter(|_| depth < MAX_DEPTH).find_map(|(name, path)| {
            let path = if name == "*" { &path[..path.len() - 1] } else { path };
            let rest = if name == "*" { rest } else { after };
            self.definer(&base, &[path, rest].concat(), depth + 1)
        })
    }

    /// The sets of modules that all depend on each other.
    pub fn circles(&self) -> Vec<BTreeSet<Name>> {
        let reach: BTreeMap<&Name, BTreeSet<&Name>> =
            self.modules.keys().map(|name| (name, self.reach(name))).collect();
        let mut circles = BTreeSet::new();
        for (name, reached) in &reach {
            let circle: BTreeSet<Name> =
                reached.iter().filter(|other| reach[*other].contains(name)).map(|other| (*other).clone()).collect();
            if circle.len() > 1 {
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }

    /// The direct and indirect dependencies of a module.
    fn reach<'g>(&'g self, name: &'g Name) -> BTreeSet<&'g Name> {
        let mut reached = BTreeSet::new();
        let mut waiting = VecDeque::from([name]);
        while let Some(from) = waiting.pop_front() {
            let next = self.arrows.iter().filter(|arrow| arrow.from == *from).map(|arrow| &arrow.to);
            waiting.extend(next.filter(|to| reached.insert(*to)));
        }
        reached
    }
}

/// An item definition at the beginning of a line.
static ITEM: LazyLock<Regex> = LazyLock::new(|| {
    let visible = r"(?m)^(?:pub(?:\([^)]*\))? )?(?:(?:const|async|unsafe|extern \S+) )*";
    let kind = "(?:fn|struct|enum|trait|type|static|union|const|macro_rules!)";
    pattern(&format!(r"{visible}{kind} (\w+)"))
});
static IMPORT: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^\s*(?:pub(?:\([^)]*\))? )?use ([^;]+);"));
static PATH: LazyLock<Regex> = LazyLock::new(|| pattern(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+"));

fn module(source: Source) -> Module {
    let items = ITEM.captures_iter(&source.code).map(|found| found[1].to_owned()).collect();
    let imports = IMPORT.captures_iter(&source.code).flat_map(|found| expand(&found[1])).collect();
    let rest = IMPORT.replace_all(&source.code, "");
    let paths = PATH.find_iter(&rest).map(|found| parts(found.as_str())).collect();
    Module { file: source.name, items, imports, paths }
}

/// The leaves of a `use` tree: the local name and the whole path of each.
fn expand(tree: &str) -> Vec<(String, Name)> {
    let tree = tree.trim();
    if let Some((stem, list)) = tree.strip_suffix('}').and_then(|tree| tree.split_once('{')) {
        let leaves = split(list).into_iter().flat_map(expand);
        return leaves
            .map(|(name, path)| (name, [parts(stem), path].concat()))
            .map(|(name, path)| without_self(name, path))
            .collect();
    }
    let (path, renamed) = tree.split_once(" as ").map_or((tree, None), |(path, name)| (path, Some(name.trim())));
    let path = parts(path);
    let name = renamed.or(path.last().map(String::as_str)).unwrap_or_default().to_owned();
    vec![(name, path)]
}

/// `a::{self}` names the module `a`.
fn without_self(name: String, mut path: Name) -> (String, Name) {
    if path.len() > 1 && path.pop_if(|last| last == "self").is_some() {
        let last = path.last().cloned().unwrap_or_default();
        return (if name == "self" { last } else { name }, path);
    }
    (name, path)
}

/// Splits a list at its top-level commas.
fn split(list: &str) -> Vec<&str> {
    let mut depth = 0;
    let between = list.split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    between.filter(|tree| !tree.trim().is_empty()).collect()
}

fn parts(path: &str) -> Name {
    path.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[test]
fn a_use_tree_has_these_leaves() {
    let leaves = |tree| expand(tree).into_iter().map(|(name, path)| format!("{name}={}", path.join("::")));
    let cases = [
        ("crate::a::B", vec!["B=crate::a::B"]),
        (
            "crate::a::{B, c::{self, D as E}, f::*}",
            vec!["B=crate::a::B", "c=crate::a::c", "E=crate::a::c::D", "*=crate::a::f::*"],
        ),
        ("super::a::{self as b,\n    C,\n}", vec!["b=super::a", "C=super::a::C"]),
    ];
    for (tree, expected) in cases {
        assert_eq!(leaves(tree).collect::<Vec<_>>(), expected, "{tree}");
    }
}

/// The graph of a crate with these files, and its arrows as `from>to`.
fn drawn(files: &[(&str, &str)]) -> (Graph, Vec<String>) {
    let source = |(name, text): &(&str, &str)| Source { name: format!("s/{name}"), code: super::source::code(text) };
    let graph = Graph::new("s", files.iter().map(source).collect());
    let arrow = |arrow: &Arrow| format!("{}>{}", arrow.from.join("::"), arrow.to.join("::"));
    let drawn = graph.arrows.iter().map(arrow).collect();
    (graph, drawn)
}

#[test]
fn an_arrow_leads_to_the_module_that_defines_the_item() {
    let below = ("a/mod.rs", "mod b;\nmod c;\npub use b::Thing;\npub use c::*;");
    let (b, c) = (("a/b.rs", "pub struct Thing;"), ("a/c.rs", "pub fn call() {}"));
    let uses = |code| drawn(&[("lib.rs", ""), below, b, c, ("d.rs", code)]).1;
    assert_eq!(uses("use crate::a::Thing;"), ["a>a::b", "a>a::c", "d>a::b"]);
    assert_eq!(uses("fn f() { super::a::call() }"), ["a>a::b", "a>a::c", "d>a::c"]);
    assert_eq!(uses("use crate::a;\nfn f() { a::b::Thing::new(); }"), ["a>a::b", "a>a::c", "d>a::b"]);
    assert_eq!(uses("use std::a::Thing;\n// crate::a::Thing"), ["a>a::b", "a>a::c"]);
}

#[test]
fn a_circle_is_found_but_not_that_of_a_module_with_its_children() {
    let child = ("a/b.rs", "use super::A;");
    let (graph, _) = drawn(&[("a/mod.rs", "pub use b::B;\npub struct A;"), child]);
    assert!(graph.circles().is_empty());
    let (graph, _) = drawn(&[("a/mod.rs", ""), ("a/b.rs", "use super::c::C;"), ("a/c.rs", "use crate::a::b::B;")]);
    assert_eq!(graph.circles().len(), 1);
    let through_it = ("d.rs", "use crate::a::A;");
    let (graph, _) = drawn(&[("a/mod.rs", "pub use b::B;\npub struct A;"), ("a/b.rs", "use crate::d::D;"), through_it]);
    assert_eq!(graph.circles()[0].len(), 3);
}
