//! CGI programs: files that are executed as by httpd's mod_cgi, one process for each request. Their output is handled
//! like a script's, so headers, limits and errors are the same. Nothing here needs an interpreter.
//!
//! `kind` and `refusal` decide which files are executed, `child` is the process, `relay` transfers its output.

pub mod child;
pub mod kind;
mod refusal;
pub mod relay;

use std::io;
use std::path::Path;

use config::Settings;

use child::Child;
use kind::cannot_execute;

const FAILED: i32 = 500;

/// The status for a file that may not be executed, whose reason is then in the log.
pub fn refused(settings: &Settings, request: u64, file: &Path) -> Option<i32> {
    let (status, reason) = refusal::of(settings, request, file)?;
    apache::log_line(apache::Level::Error, &format!("access to {} failed, reason: {reason}", file.display()));
    Some(status)
}

/// As [`refused`], for a script that a wrapper of mod_fcgid runs: it need not be executable, nor exist if it is
/// `is_virtual`.
pub fn refused_wrapped(settings: &Settings, request: u64, file: &Path, is_virtual: bool) -> Option<i32> {
    let (status, reason) = refusal::of_wrapped(settings, request, file, is_virtual)?;
    apache::log_line(apache::Level::Error, &format!("access to {} failed, reason: {reason}", file.display()));
    Some(status)
}

/// The process, or the status of the response if there is none. The reason is then in the log.
pub fn started(started: io::Result<Child>, file: &Path) -> Result<Child, i32> {
    started.map_err(|error| {
        apache::log_line(apache::Level::Error, &cannot_execute(file, &error));
        FAILED
    })
}

/// Error message for a program that exceeded `RequestTimeout`.
pub fn too_late(file: &Path) -> String {
    format!("{}: the program took longer than RequestTimeout and was ended", file.display())
}

/// Error message for a program whose output cannot be read.
pub fn lost(file: &Path, error: &io::Error) -> String {
    format!("{}: the output of the program cannot be read: {error}", file.display())
}

/// Characters with a meaning for a shell, to which a program may pass its arguments.
const OF_SHELLS: &[u8] = b"&;`'\"|*?~<>^()[]{}$\\\n";

/// The words of a query without `=`, as command-line arguments (RFC 3875, section 4.4). As in httpd, a backslash stands
/// before characters with a meaning for a shell.
pub fn arguments(request: u64) -> Vec<Vec<u8>> {
    let query = apache::set_by_handlers(request).args;
    if query.is_empty() || query.contains(&b'=') || !matches!(apache::method(request).as_str(), "GET" | "HEAD") {
        return Vec::new();
    }
    let words: Vec<_> = query.split(|byte| *byte == b'+').map(apache::percent_decoded).collect();
    // A NUL would cut an argument short.
    let are_whole = words.iter().all(|word| !word.contains(&0));
    words.iter().filter(|_| are_whole).map(|word| escaped(word)).collect()
}

fn escaped(word: &[u8]) -> Vec<u8> {
    let mark = |byte: &u8| OF_SHELLS.contains(byte).then_some(b'\\');
    word.iter().flat_map(|byte| mark(byte).into_iter().chain([*byte])).collect()
}
