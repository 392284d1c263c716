//! CGI scripts that are compiled in the mold, so that all workers share them: `RegistryPreload`.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use libperl::Interpreter;

use super::mistakes::blamed;
use crate::program_kind::is_program;
use config::{At, ConfigError};

/// Files of a folder that are looked at: somebody may name a disk.
const MAX_FILES: usize = 10_000;
/// Folders in one another; links could lead in circles.
const MAX_DEPTH: usize = 8;

/// Compiles the script `path`, or all of a folder, under the URI that requests will have. Returns what is wrong with
/// each that cannot be compiled, at its own line.
pub fn preload(perl: &Interpreter, uri: &str, path: &Path) -> Vec<ConfigError> {
    if !path.is_dir() {
        if is_program(path) {
            return Vec::new();
        }
        return compile(perl, uri, path).into_iter().collect();
    }
    let mut scripts = Vec::new();
    if let Err(error) = find(path, MAX_DEPTH, &mut scripts) {
        return vec![ConfigError { at: None, message: format!("{}: cannot be searched: {error}", path.display()) }];
    }
    scripts.sort();
    let uri_of = |script: &PathBuf| {
        let inside = script.strip_prefix(path).unwrap_or(script).to_string_lossy().into_owned();
        format!("{}/{inside}", uri.trim_end_matches('/'))
    };
    scripts.iter().filter_map(|script| compile(perl, &uri_of(script), script)).collect()
}

fn compile(perl: &Interpreter, uri: &str, file: &Path) -> Option<ConfigError> {
    let name = file.to_string_lossy();
    let begin = At { file: name.as_ref().into(), line: 1 };
    let said = perl.ask(c"Cameleer::StartUp::preload_script", &format!("{uri}\0{name}"));
    let message = said.unwrap_or_else(|error| error.to_string());
    (!message.is_empty()).then(|| ConfigError { at: Some(blamed(&begin, &message)), message })
}

/// The Perl scripts in a folder that its users may run.
fn find(folder: &Path, depth: usize, scripts: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if scripts.len() >= MAX_FILES {
            break;
        }
        // A link may lead nowhere.
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if metadata.is_dir() && depth > 0 {
            find(&path, depth - 1, scripts)?;
        } else if metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 && is_perl(&path) {
            scripts.push(path);
        }
    }
    Ok(())
}

/// By its `#!` line; without one, by its name.
fn is_perl(file: &Path) -> bool {
    let mut first = [0; 128];
    let length = File::open(file).and_then(|mut file| file.read(&mut first)).unwrap_or(0);
    let line = first[..length].split(|byte| *byte == b'\n').next().unwrap_or_default();
    match line.strip_prefix(b"#!") {
        Some(_) => !is_program(file),
        None => file.extension().is_some_and(|extension| extension == "pl" || extension == "cgi"),
    }
}
