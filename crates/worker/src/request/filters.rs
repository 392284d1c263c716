//! Filters of mod_perl 2: Perl code that transforms a request's body before a program reads it, and the response
//! before the front receives it. The filter chains are Perl's (`Cameleer::Filters`); this module inserts filters and
//! passes data.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use apache::PieceEnd;
use libperl::Interrupted;

use super::at::LocatedRequest;
use super::copy_file::copy_file;
use super::phases::OK;
use crate::log_context::report;
use crate::site::Site;
use base::path::Text;
use config::Handler;
use files::mime;

/// Inserts the configured filters after those that Perl code added in earlier phases. PSGI applications have no
/// filters.
pub(super) fn insert(at: LocatedRequest<'_>) -> Result<(), Interrupted> {
    let filters = &at.settings().perl_filters;
    let is_needed = !filters.is_empty() || apache::has_filtered_body(at.request);
    if !is_needed || at.handler() == Handler::Psgi {
        return Ok(());
    }
    let perl = &at.site.perl;
    for (way, names) in [("output", &filters.output), ("input", &filters.input)] {
        if !names.is_empty() {
            perl.call(c"Cameleer::ModPerl2::insert_filters", Some(&format!("{way}\0{}", names.join("\0"))))?;
        }
    }
    match at.handler() {
        Handler::PerlScript | Handler::CgiScript | Handler::FcgidScript if apache::has_filtered_body(at.request) => {
            perl.call(c"Cameleer::Filters::spool_body", Some(""))
        }
        _ => Ok(()),
    }
}

/// Passes a piece of a response to its filters.
pub(super) fn pass(site: &Site, request: u64, piece: &[u8], end: PieceEnd) {
    let sub = match end {
        PieceEnd::More => c"Cameleer::Filters::pass",
        PieceEnd::Flush => c"Cameleer::Filters::flush",
        PieceEnd::Eos => c"Cameleer::Filters::end",
    };
    let before = apache::run(request);
    let passed = site.perl.call_aside(sub, piece);
    site.calls.end_forked_child(passed.as_ref().err());
    if let Err(Interrupted::Died(text)) = passed {
        report(&text);
        apache::fail(request, 500);
    }
    if libperl::timed_out() && apache::failed(request).is_some() {
        apache::fail(request, 504);
    }
    apache::run(before);
}

/// Answers with a file that must pass filters and that no handler answered. Returns the status. Folders and other
/// methods than GET and HEAD are left to the front.
pub(super) fn filtered_file(at: LocatedRequest<'_>, path: &[u8]) -> Option<i32> {
    let LocatedRequest { site, request, .. } = at;
    let file = Path::new(OsStr::from_bytes(path));
    let reads = matches!(apache::method(request).as_str(), "GET" | "HEAD");
    if !apache::is_filtered(request) || !reads || !file.is_file() {
        return None;
    }
    if mime::handler(&site.config, at.settings(), file).is_some_and(Handler::is_cgi)
        || hides_named_file(site, request, file)
    {
        return Some(403);
    }
    apache::set_file_type(request, &mime::describe(&site.config, at.settings(), file).mime.unwrap_or_default());
    if let Some(status) = validate_file(site, request) {
        return Some(status);
    }
    Some(match copy_file(at, path) {
        OK => i32::from(apache::failed(request).unwrap_or_default()),
        status => status,
    })
}

/// Sets the file's date and tag in the response. Returns a status if the client does not need the file.
fn validate_file(site: &Site, request: u64) -> Option<i32> {
    if apache::is_internal(request) || apache::error_before(request).is_some() {
        return None;
    }
    match site.perl.call_for_text(c"Cameleer::ModPerl2::validate_file", "") {
        Ok(status) => status.parse().ok().filter(|status| *status != OK),
        Err(error) => {
            report(&error.to_string());
            Some(500)
        }
    }
}

/// Whether a handler named a file that the configuration hides from clients. The front has checked only the requested
/// file.
fn hides_named_file(site: &Site, request: u64, file: &Path) -> bool {
    let current = apache::set_by_handlers(request);
    let host = apache::requested(request).host;
    current.filename.is_some() && site.paths.key(host, false, &Text::new(&current.uri), file).is_err()
}
