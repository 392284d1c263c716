//! Code that workers report to have loaded and that their mold has not.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use wire::control::LateCode;

use super::sockets::control_socket::SelfReport;

/// Maximum number of pieces of code that are considered, the most common ones first; their names fit into a command.
const MAX_PIECES: usize = 200;
const MAX_BYTES: usize = 48 * 1024;

/// A process's report of its loaded code: names, and the files that they came from. The site's code could have forged
/// it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct LoadedCode {
    /// Entries of `%INC`.
    pub modules: BTreeMap<String, String>,
    /// Scripts that Registry has compiled.
    pub scripts: BTreeMap<String, String>,
    /// Number of requests that the worker has answered, if it reports that.
    pub requests: Option<u64>,
}

/// The kinds of code that workers report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CodeKind {
    /// A module, loaded by `require`.
    Module,
    /// A script that Registry has compiled.
    Script,
}

/// Pieces of code, each with the number of workers that have it.
pub type LateCounts = HashMap<(CodeKind, String), usize>;

/// Code that workers have and the mold has not.
pub fn late(mold: &LoadedCode, workers: &[LoadedCode]) -> LateCounts {
    let mut counts = LateCounts::new();
    for worker in workers {
        let modules = worker.modules.keys().filter(|name| !mold.modules.contains_key(*name) && is_module(name));
        let scripts = worker.scripts.keys().filter(|key| !mold.scripts.contains_key(*key));
        let modules = modules.map(|name| (CodeKind::Module, name.clone()));
        for piece in modules.chain(scripts.map(|key| (CodeKind::Script, key.clone()))) {
            *counts.entry(piece).or_default() += 1;
        }
    }
    counts
}

/// Whether a name can be `require`d: not Unicode tables, old libraries, or files of AutoLoader.
pub fn is_module(name: &str) -> bool {
    let stem = name.strip_suffix(".pm");
    stem.is_some_and(|stem| {
        stem.split('/')
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
    })
}

/// The code that at least `least` workers have, as much as fits into a command.
pub fn code(counts: &LateCounts, workers: &[LoadedCode], least: usize) -> LateCode {
    let mut pieces: Vec<(&(CodeKind, String), &usize)> = counts.iter().filter(|(_, count)| **count >= least).collect();
    pieces.sort_by_key(|(piece, count)| (std::cmp::Reverse(**count), *piece));
    let (mut code, mut length) = (LateCode::default(), 0);
    for ((kind, name), _) in pieces.into_iter().take(MAX_PIECES) {
        let piece = (name.clone(), file_of(workers, *kind, name));
        length += piece.0.len() + piece.1.len();
        match kind {
            _ if length > MAX_BYTES => break,
            CodeKind::Module => code.modules.push(piece),
            CodeKind::Script => code.scripts.push(piece),
        }
    }
    code
}

/// The file of a piece of code in the first worker that has it.
fn file_of(workers: &[LoadedCode], kind: CodeKind, name: &str) -> String {
    let file = workers.iter().find_map(|worker| match kind {
        CodeKind::Module => worker.modules.get(name),
        CodeKind::Script => worker.scripts.get(name),
    });
    file.cloned().unwrap_or_default()
}

/// The code that a new mold is to load: pieces that at least half of the workers have. Workers that have answered no
/// request do not count.
pub fn wanted(reports: &[SelfReport]) -> LateCode {
    let Some(mold) = reports.iter().find(|one| one.worker.is_none()).and_then(SelfReport::read::<LoadedCode>) else {
        return LateCode::default();
    };
    let workers = reports.iter().filter(|one| one.worker.is_some()).filter_map(SelfReport::read::<LoadedCode>);
    let workers: Vec<LoadedCode> = workers.filter(|worker| worker.requests != Some(0)).collect();
    let half = workers.len().div_ceil(2);
    let mut code = LateCode::default();
    for ((kind, name), _) in late(&mold, &workers).into_iter().filter(|(_, count)| *count >= half) {
        let file = file_of(&workers, kind, &name);
        match kind {
            CodeKind::Module => code.modules.push((name, file)),
            CodeKind::Script => code.scripts.push((name, file)),
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(modules: &[&str], scripts: &[(&str, &str)]) -> LoadedCode {
        let pair = |(name, file): &(&str, &str)| ((*name).to_owned(), (*file).to_owned());
        LoadedCode {
            modules: modules.iter().map(|name| ((*name).to_owned(), String::new())).collect(),
            scripts: scripts.iter().map(pair).collect(),
            requests: None,
        }
    }

    #[test]
    fn code_of_the_mold_is_not_late_and_only_modules_are_required_by_name() {
        let mold = with(&["A.pm"], &[("/a.pl", "/a.pl")]);
        let odd = ["A.pm", "B/C.pm", "unicore/lib/Gc/Ll.pl", "/srv/x.pm", "a b.pm", ".pm"];
        let workers = [with(&odd, &[("/a.pl", "/a.pl"), ("/b.pl", "/b.pl")]), with(&["B/C.pm"], &[])];
        let counts = late(&mold, &workers);
        assert_eq!(counts.len(), 2, "{counts:?}");
        assert_eq!(counts[&(CodeKind::Module, "B/C.pm".to_owned())], 2);
        let code = code(&counts, &workers, 1);
        assert_eq!(code.modules, [("B/C.pm".to_owned(), String::new())]);
        assert_eq!(code.scripts, [("/b.pl".to_owned(), "/b.pl".to_owned())]);
    }

    #[test]
    fn a_command_holds_what_most_workers_have() {
        let names: Vec<String> = (0..400).map(|number| format!("{}{number}.pm", "X".repeat(400))).collect();
        let all = with(&names.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
        let counts = late(&LoadedCode::default(), &[all, with(&["Common.pm"], &[]), with(&["Common.pm"], &[])]);
        let code = code(&counts, &[], 1);
        assert_eq!(code.modules[0].0, "Common.pm");
        assert!(serde_json::to_string(&code).unwrap().len() < 64 * 1024);
    }

    #[test]
    fn workers_without_a_request_do_not_count() {
        let report = |worker, text: &str| SelfReport { worker, pid: 1, text: text.to_owned() };
        let new = "{\"requests\":0,\"modules\":{}}";
        let reports = [
            report(None, "{\"modules\":{\"A.pm\":\"/A.pm\"}}"),
            report(Some(0), "{\"requests\":7,\"modules\":{\"A.pm\":\"/A.pm\",\"B.pm\":\"/B.pm\"}}"),
            report(Some(1), new),
            report(Some(2), new),
        ];
        assert_eq!(wanted(&reports).modules, [("B.pm".to_owned(), "/B.pm".to_owned())]);
    }

    #[test]
    fn a_new_mold_is_to_load_what_half_of_the_workers_have() {
        let report = |worker, text: &str| SelfReport { worker, pid: 1, text: text.to_owned() };
        let loaded = |names: &str| format!("{{\"modules\":{{{names}}}}}");
        let reports = [
            report(None, &loaded("\"A.pm\":\"\"")),
            report(Some(0), &loaded("\"A.pm\":\"\",\"B.pm\":\"\",\"C.pm\":\"\"")),
            report(Some(1), &loaded("\"A.pm\":\"\",\"B.pm\":\"\"")),
            report(Some(2), &loaded("")),
            report(Some(3), "what nobody understands"),
        ];
        assert_eq!(wanted(&reports).modules, [("B.pm".to_owned(), String::new())]);
        assert_eq!(wanted(&reports[1..]), LateCode::default());
    }
}
