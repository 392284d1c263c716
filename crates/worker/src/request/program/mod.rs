//! CGI programs: executed as in httpd's mod_cgi, one process per request. Their output is handled like a script's, so
//! headers, limits and errors are the same.
//!
//! `CgiMode` and `program_kind` decide which files are executed, `refusal` rejects files, `child` is the process,
//! `forked` a fork of the worker, `relay` transfers the output.

mod child;
mod forked;
mod refusal;
mod relay;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use libperl::Interrupted;

use super::phases::{DECLINED, OK};
use crate::location::ResolvedLocation;
use crate::program_kind::cannot_execute;
use crate::site::Site;
use child::Child;
use config::program::CgiMode;
use relay::Ended;

const FAILED: i32 = 500;
/// Time that a late script has to report its position, in ms.
const LAST_WORDS: u16 = 2000;

impl Site {
    /// Answers with the output of a process. `None` if the file is a script that runs in the worker.
    pub(super) fn run_program(&self, location: &ResolvedLocation, request: u64) -> Option<i32> {
        if self.is_the_servers_folder(location, request) {
            return Some(DECLINED);
        }
        let name = apache::filename(request);
        let file = Path::new(OsStr::from_bytes(&name));
        match location.settings.program.mode {
            CgiMode::Persistent if !self.kinds.is_program(file) => None,
            CgiMode::Fork if !self.kinds.is_program(file) => Some(self.run_in_process(location, request, file, true)),
            _ => Some(self.run_in_process(location, request, file, false)),
        }
    }

    fn run_in_process(&self, location: &ResolvedLocation, request: u64, file: &Path, forks: bool) -> i32 {
        if let Some((status, reason)) = refusal::of(&location.settings, request, file) {
            let text = format!("access to {} failed, reason: {reason}", file.display());
            apache::say(apache::Level::Error, &text);
            return status;
        }
        let forks = forks && self.is_compiled(file);
        let started = match forks {
            true => self.fork_script(request, file),
            false => Child::start(file, arguments(request), &location.settings.program),
        };
        let mut child = match started {
            Ok(child) => child,
            Err(error) => {
                apache::say(apache::Level::Error, &cannot_execute(file, &error));
                return FAILED;
            }
        };
        match relay::all(&mut child, request) {
            Ended::Whole | Ended::Unheard => OK,
            Ended::TooLate => {
                if forks {
                    child.is_late(apache::requested(request).number);
                    relay::last_words(&mut child, LAST_WORDS);
                }
                let text = format!("{}: the program took longer than RequestTimeout and was ended", file.display());
                self.left(request, Interrupted::Died(text))
            }
            Ended::Lost(error) => {
                self.left(request, Interrupted::Died(format!("{}: its output was lost: {error}", file.display())))
            }
        }
    }
}

/// The words of a query without `=`, as command-line arguments (RFC 3875, section 4.4).
fn arguments(request: u64) -> Vec<Vec<u8>> {
    let query = apache::set_by_handlers(request).args;
    if query.is_empty() || query.contains(&b'=') || !matches!(apache::method(request).as_str(), "GET" | "HEAD") {
        return Vec::new();
    }
    let words: Vec<_> = query.split(|byte| *byte == b'+').map(apache::percent_decoded).collect();
    // A NUL would cut an argument short.
    if words.iter().any(|word| word.contains(&0)) { Vec::new() } else { words }
}
