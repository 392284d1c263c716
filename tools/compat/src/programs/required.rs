//! Files beside a script that its `require` does not find: Perl does not search the current folder since 5.26.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::perl_text::code_lines;
use base::current_folder::is_bare;

/// A file that a script does not find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissedFile {
    /// Line of the `require`, from 1.
    pub line: u32,
    /// The name as written.
    pub name: String,
}

static REQUIRE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:^|[\s;{(&|])(?:require|do)\s*\(?\s*['\x22]([^'\x22]+)['\x22]").ok());
static ADDS_FOLDERS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\buse\s+lib\b|@INC\b|\bFindBin\b|^#!.*\s-\S*I|PERL_USE_UNSAFE_INC|\bchdir\b").ok());

/// The files beside the script at `file` that its `require` does not find. None for a script that adds folders itself.
pub fn missed(file: &Path, text: &str) -> Vec<MissedFile> {
    let (Some(require), Some(adds)) = (REQUIRE.as_ref(), ADDS_FOLDERS.as_ref()) else { return Vec::new() };
    if text.lines().take(1).chain(code_lines(text).map(|(_, code)| code)).any(|code| adds.is_match(code)) {
        return Vec::new();
    }
    let folder = file.parent().unwrap_or(Path::new("/"));
    let mut missed: Vec<MissedFile> = Vec::new();
    for (line, code) in code_lines(text) {
        let Some(name) = require.captures(code).and_then(|found| found.get(1)).map(|name| name.as_str()) else {
            continue;
        };
        let is_known = missed.iter().any(|known| known.name == name);
        if !is_known && is_bare(name) && folder.join(name).is_file() {
            missed.push(MissedFile { line, name: name.to_owned() });
        }
    }
    missed
}
