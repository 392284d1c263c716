//! CGI scripts compiled in the mold, so that all workers share them: `RegistryPreload`.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use libperl::Interpreter;

use super::doubt::may_end_the_process;
use super::mistakes::{blamed, without_folders};
use super::trial;
use crate::program::kind::is_program;
use config::{At, ConfigError};

/// Maximum number of scripts from one folder: the path may name a whole disk.
const MAX_FILES: usize = 10_000;
/// Maximum depth of nested folders; symbolic links may form cycles.
const MAX_DEPTH: usize = 8;

/// A script and the URI of its requests.
struct Script {
    uri: String,
    file: PathBuf,
}

#[derive(Default)]
pub struct Preloaded {
    /// Errors of the scripts that are not compiled, each with its line.
    pub broken: Vec<ConfigError>,
    /// Scripts that end the process that compiles them.
    pub fatal: Vec<PathBuf>,
}

/// Compiles the script `path`, or all scripts of a folder. Scripts that may end the process are compiled in a child
/// process first.
pub fn preload(perl: &Interpreter, uri: &str, path: &Path) -> Preloaded {
    let mut done = Preloaded::default();
    let scripts = match scripts_of(uri, path) {
        Ok(scripts) => scripts,
        Err(error) => {
            let message = format!("{}: cannot be searched: {error}", path.display());
            done.broken.push(ConfigError { at: None, message });
            return done;
        }
    };
    let folders = folders_of(perl);
    // Not all scripts: a trial runs BEGIN blocks twice.
    let doubtful = scripts.iter().filter(|script| may_end_the_process(&script.file, &folders)).collect();
    let fatal = trial::fatal(doubtful, |script: &&Script| drop(compile(perl, script)));
    for (Script { file, .. }, how) in fatal {
        done.broken.push(ConfigError { at: Some(begin(file)), message: format!("{FATAL} ({how})") });
        done.fatal.push(file.clone());
    }
    let sound = scripts.iter().filter(|script| !done.fatal.contains(&script.file));
    done.broken.extend(sound.filter_map(|script| compile(perl, script)));
    done
}

const FATAL: &str = "compiling the script ends the process, so the script runs as a program; remove exec, _exit and kill from its BEGIN blocks and from the modules that it loads";

/// The folders of `@INC`, without perl's own.
fn folders_of(perl: &Interpreter) -> Vec<PathBuf> {
    let folders = perl.call_for_text(c"Cameleer::StartUp::folders", "").unwrap_or_default();
    folders.split('\0').filter(|folder| !folder.is_empty()).map(PathBuf::from).collect()
}

fn scripts_of(uri: &str, path: &Path) -> io::Result<Vec<Script>> {
    if !path.is_dir() {
        let script = Script { uri: uri.to_owned(), file: path.to_owned() };
        return Ok(if is_program(path) { Vec::new() } else { vec![script] });
    }
    let mut scripts = Vec::new();
    find(path, MAX_DEPTH, &mut scripts)?;
    scripts.sort();
    let script = |file: PathBuf| {
        let inside = file.strip_prefix(path).unwrap_or(&file).to_string_lossy().into_owned();
        Script { uri: format!("{}/{inside}", uri.trim_end_matches('/')), file }
    };
    Ok(scripts.into_iter().map(script).collect())
}

fn begin(file: &Path) -> At {
    At { file: file.to_string_lossy().as_ref().into(), line: 1 }
}

/// Compiles one script. Returns the error, if any.
fn compile(perl: &Interpreter, Script { uri, file }: &Script) -> Option<ConfigError> {
    let (name, begin) = (file.to_string_lossy(), begin(file));
    let outcome = perl.call_for_text(c"Cameleer::StartUp::preload_script", &format!("{uri}\0{name}"));
    let message = without_folders(&outcome.unwrap_or_else(|error| error.to_string()));
    (!message.is_empty()).then(|| ConfigError { at: Some(blamed(&begin, &message)), message })
}

/// Finds executable Perl scripts in a folder.
fn find(folder: &Path, depth: usize, scripts: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if scripts.len() >= MAX_FILES {
            break;
        }
        // A dangling symbolic link has no metadata.
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if metadata.is_dir() && depth > 0 {
            find(&path, depth - 1, scripts)?;
        } else if metadata.is_file() && metadata.permissions().mode() & 0o111 != 0 && is_perl(&path) {
            scripts.push(path);
        }
    }
    Ok(())
}

/// Whether a file is a Perl script, by its `#!` line or, without one, by its extension.
fn is_perl(file: &Path) -> bool {
    let mut first = [0; 128];
    let length = File::open(file).and_then(|mut file| file.read(&mut first)).unwrap_or(0);
    let line = first[..length].split(|byte| *byte == b'\n').next().unwrap_or_default();
    match line.strip_prefix(b"#!") {
        Some(_) => !is_program(file),
        None => file.extension().is_some_and(|extension| extension == "pl" || extension == "cgi"),
    }
}
