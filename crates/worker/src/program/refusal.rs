//! Files of a CGI folder that are not executed, with the statuses of httpd's mod_cgi.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use config::Settings;

const FORBIDDEN: i32 = 403;
const NOT_FOUND: i32 = 404;
const FAILED: i32 = 500;

/// Returns the status and the reason for the log, or `None` if the file may be executed.
pub fn of(settings: &Settings, request: u64, file: &Path) -> Option<(i32, &'static str)> {
    let found = std::fs::metadata(file).ok().filter(|_| apache::has_file(request));
    let Some(found) = found else { return Some((NOT_FOUND, "there is no such file")) };
    let mode = found.permissions().mode();
    Some(match () {
        () if found.is_dir() => (FORBIDDEN, "the path is a folder, not a script"),
        () if !found.is_file() => (NOT_FOUND, "the path is a pipe or a device, not a script"),
        () if !settings.may_exec_cgi() => (FORBIDDEN, "Options ExecCGI is off here"),
        () if mode & 0o111 == 0 => (FAILED, "the script is not executable (chmod +x)"),
        () => return None,
    })
}

/// As [`of`], for a script that another program runs.
pub fn of_wrapped(settings: &Settings, request: u64, file: &Path, is_virtual: bool) -> Option<(i32, &'static str)> {
    let is_file = || std::fs::metadata(file).is_ok_and(|found| found.is_file()) && apache::has_file(request);
    match () {
        () if !settings.may_exec_cgi() => Some((FORBIDDEN, "Options ExecCGI is off here")),
        () if !is_virtual && !is_file() => Some((NOT_FOUND, "there is no such file")),
        () => None,
    }
}
