//! `conf/srm.conf` and `conf/access.conf`, which Apache 1.3 reads after its main file without a line that names them.

use std::path::{Path, PathBuf};

use config::{At, Directive, LineReader, split_words};

use super::OldFile;

/// Directives that only Apache 1.3 has.
const SIGNS: [&str; 4] = ["servertype", "port", "addmodule", "clearmodulelist"];
/// The directive and the default of each file.
const FILES: [(&str, &str); 2] = [("ResourceConfig", "srm.conf"), ("AccessConfig", "access.conf")];

/// The lines that name the files; `None` if the server is none of Apache 1.3, has no such files, or names others.
pub fn lines(
    tree: &[Directive],
    passed: &[Directive],
    files: &[OldFile],
    server_root: &Path,
    main: &Path,
) -> Option<String> {
    let is_sign = |directive: &Directive| SIGNS.contains(&directive.name.to_ascii_lowercase().as_str());
    if !tree.iter().any(is_sign) {
        return None;
    }
    let mut lines = String::new();
    for (name, file) in FILES {
        let mut places = [server_root.join("conf").join(file), main.with_file_name(file)].into_iter();
        let is_there = |place: &PathBuf| place.symlink_metadata().is_ok();
        if let Some(place) = places.find(is_there).filter(|place| !is_read(name, place, passed, files)) {
            let place = crate::naming::quoted(&place.to_string_lossy());
            lines.push_str(&format!("# Apache 1.3 read this file without a line.\n{name} {place}\n"));
        }
    }
    (!lines.is_empty()).then_some(lines)
}

/// Whether a line names another file or none, or includes this one.
fn is_read(name: &str, place: &Path, passed: &[Directive], files: &[OldFile]) -> bool {
    let real = place.canonicalize().ok();
    let is_included = |file: &OldFile| real.is_some() && file.path.canonicalize().ok() == real;
    files.iter().any(|file| is_included(file) || names_another(name, file, passed))
}

/// Whether a line of the file with this directive applied. `/dev/null` is in no list.
fn names_another(name: &str, file: &OldFile, passed: &[Directive]) -> bool {
    LineReader::new(&file.text).any(|line| {
        let words = split_words(&line.text).unwrap_or_default();
        let at = At { file: file.path.to_string_lossy().into(), line: line.number };
        words.first().is_some_and(|word| word.eq_ignore_ascii_case(name))
            && (words.get(1).is_some_and(|value| value == "/dev/null") || passed.iter().any(|one| one.at == at))
    })
}
