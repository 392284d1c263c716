//! The documents for users and contributors.

use std::path::{Path, PathBuf};

/// Each document's path below the root, and its text. CHANGELOG.md is not among them: it names things of the past.
pub fn documents() -> Vec<(PathBuf, String)> {
    let tops = ["README.md", "CONTRIBUTING.md", "SECURITY.md"].map(PathBuf::from);
    let readmes = ["examples", "benchmarks", "tests"].into_iter().flat_map(|folder| below(Path::new(folder)));
    let readmes = readmes.filter(|path| path.ends_with("README.md"));
    let paths = tops.into_iter().chain(below(Path::new("docs"))).chain(readmes);
    paths.map(|path| (path.clone(), std::fs::read_to_string(top().join(path)).expect("a document"))).collect()
}

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The documents below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(top().join(folder)).expect("a folder").flatten();
    let found = entries.flat_map(|entry| {
        let path = folder.join(entry.file_name());
        match entry.file_type().expect("its type").is_dir() {
            true => below(&path),
            false => vec![path],
        }
    });
    found.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect()
}
