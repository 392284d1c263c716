//! Programs in a place of CGI scripts that are not Perl: executed as httpd's mod_cgi does, a process for each request. Their
//! output passes the same way as a script's, so headers, limits and errors are the same.
//!
//! `program_kind` tells them from Perl, `child` is the process, `relay` carries what it says.

mod child;
mod relay;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use libperl::Interrupted;

use super::phases::OK;
use crate::worker::location::ResolvedLocation;
use crate::worker::site::Site;
use child::Child;
use relay::Ended;

const FORBIDDEN: i32 = 403;
const FAILED: i32 = 500;

impl Site {
    /// Answers with what the program says, if the request's file is one.
    pub(super) fn run_program(&self, location: &ResolvedLocation, request: u64) -> Option<i32> {
        let name = apache::filename(request);
        let file = Path::new(OsStr::from_bytes(&name));
        self.kinds.is_program(file).then(|| self.execute(location, request, file))
    }

    fn execute(&self, location: &ResolvedLocation, request: u64, file: &Path) -> i32 {
        if let Some(reason) = refusal(location, file) {
            apache::say(apache::Level::Error, &format!("access to {} failed, reason: {reason}", file.display()));
            return FORBIDDEN;
        }
        let child = match Child::start(file, arguments(request), &location.settings.program) {
            Ok(child) => child,
            Err(error) => {
                let advice =
                    "its first line must name an interpreter that is there, or it must be a program for this machine";
                apache::say(
                    apache::Level::Error,
                    &format!("{}: cannot be executed: {error}: {advice}", file.display()),
                );
                return FAILED;
            }
        };
        match relay::all(child, request) {
            Ended::Whole | Ended::Unheard => OK,
            Ended::TooLate => {
                let text = format!("{}: the program took longer than RequestTimeout and was ended", file.display());
                self.left(request, Interrupted::Died(text))
            }
            Ended::Lost(error) => {
                self.left(request, Interrupted::Died(format!("{}: its output was lost: {error}", file.display())))
            }
        }
    }
}

/// As scripts are refused.
fn refusal(location: &ResolvedLocation, file: &Path) -> Option<&'static str> {
    if !location.settings.options.exec_cgi {
        return Some("Options ExecCGI is off here");
    }
    let mode = std::fs::metadata(file).map_or(0, |file| file.permissions().mode());
    (mode & 0o111 == 0).then_some("it is not executable (chmod +x)")
}

/// The words of a query without `=`, as RFC 3875 gives them to a program.
fn arguments(request: u64) -> Vec<Vec<u8>> {
    let query = apache::set_by_handlers(request).args;
    if query.is_empty() || query.contains(&b'=') || !matches!(apache::method(request).as_str(), "GET" | "HEAD") {
        return Vec::new();
    }
    let words: Vec<_> = query.split(|byte| *byte == b'+').map(apache::percent_decoded).collect();
    // A NUL would end a word before its end.
    if words.iter().any(|word| word.contains(&0)) { Vec::new() } else { words }
}
