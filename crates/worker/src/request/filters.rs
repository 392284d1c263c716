//! Filters of mod_perl 2: Perl code that transforms a request's body before a program reads it, and the response
//! before the front receives it. The filter chains are Perl's (`Cameleer::Filters`); this module inserts filters and
//! passes data.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use apache::PieceEnd;
use libperl::Interrupted;

use super::phases::OK;
use crate::location::ResolvedLocation;
use crate::log_context::report;
use crate::site::Site;
use base::path::Text;
use config::Handler;
use files::mime;

impl Site {
    /// Inserts the configured filters after those that Perl code added in earlier phases. PSGI applications have no
    /// filters.
    pub(super) fn insert_filters(&self, location: &ResolvedLocation, request: u64) -> Result<(), Interrupted> {
        let filters = &location.settings.perl_filters;
        let is_needed = !filters.is_empty() || apache::has_filtered_body(request);
        if !is_needed || self.handler_of(location, request) == Handler::Psgi {
            return Ok(());
        }
        for (way, names) in [("output", &filters.output), ("input", &filters.input)] {
            if !names.is_empty() {
                self.perl.call(c"Cameleer::ModPerl2::insert_filters", Some(&format!("{way}\0{}", names.join("\0"))))?;
            }
        }
        match self.handler_of(location, request) {
            Handler::PerlScript | Handler::CgiScript if apache::has_filtered_body(request) => {
                self.perl.call(c"Cameleer::Filters::spool_body", Some(""))
            }
            _ => Ok(()),
        }
    }

    /// Passes a piece of a response to its filters.
    pub(super) fn pass(&self, request: u64, piece: &[u8], end: PieceEnd) {
        let sub = match end {
            PieceEnd::More => c"Cameleer::Filters::pass",
            PieceEnd::Flush => c"Cameleer::Filters::flush",
            PieceEnd::Eos => c"Cameleer::Filters::end",
        };
        let before = apache::run(request);
        let passed = self.perl.call_aside(sub, piece);
        self.end_forked_child(passed.as_ref().err());
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
    pub(super) fn filtered_file(&self, request: u64, location: &ResolvedLocation, path: &[u8]) -> Option<i32> {
        let file = Path::new(OsStr::from_bytes(path));
        let reads = matches!(apache::method(request).as_str(), "GET" | "HEAD");
        if !apache::is_filtered(request) || !reads || !file.is_file() {
            return None;
        }
        if location.settings.handler_of(file) == Some(&Handler::CgiScript) || self.hides_named_file(request, file) {
            return Some(403);
        }
        apache::say_type(request, &mime::describe(&self.config, &location.settings, file).mime.unwrap_or_default());
        if let Some(said) = self.validate_file(request) {
            return Some(said);
        }
        Some(match self.copy_file(request, location, path) {
            OK => i32::from(apache::failed(request).unwrap_or_default()),
            said => said,
        })
    }

    /// Sets the file's date and tag in the response. Returns a status if the client does not need the file.
    fn validate_file(&self, request: u64) -> Option<i32> {
        if apache::is_internal(request) || apache::error_before(request).is_some() {
            return None;
        }
        match self.perl.ask(c"Cameleer::ModPerl2::validate_file", "") {
            Ok(status) => status.parse().ok().filter(|status| *status != OK),
            Err(error) => {
                report(&error.to_string());
                Some(500)
            }
        }
    }

    /// Whether a handler named a file that the configuration hides from clients. The front has checked only the
    /// requested file.
    fn hides_named_file(&self, request: u64, file: &Path) -> bool {
        let said = apache::set_by_handlers(request);
        let host = apache::requested(request).host;
        said.filename.is_some() && self.key(host, false, &Text::new(&said.uri), file).is_err()
    }
}
