//! The phases of one request, in httpd's order, and the meaning of handlers' return values.
//!
//! ```text
//!   PostReadRequest ─▶ Trans ─▶ sections ─▶ HeaderParser ─▶ Access ─▶ Authen ─▶ Authz ─▶ Type ─▶ Fixup ─▶ Handler
//! ```
//!
//! A phase's handlers run until one returns a value other than OK and DECLINED. DONE ends the request without an error,
//! a status ends it as an error; both are a [`Stop`], which is returned as an error.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use libperl::{Code, Interrupted};

use super::set_env;
use crate::location::ResolvedLocation;
use crate::log_context::{note, report};
use crate::place::language_of;
use crate::site::Site;
use crate::trace;
use config::response::PathInfo;
use config::{Handler, Phase};

/// Handler return values that are no HTTP status.
pub const OK: i32 = 0;
pub const DECLINED: i32 = -1;

/// A phase has ended the request with this return value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop(pub i32);

pub(super) type Going = Result<(), Stop>;

/// Kind of the request that runs through the phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// The client's own request.
    Whole,
    /// An internal redirect.
    Redirect,
    /// A subrequest for a URI: the header phases are skipped.
    Sub,
    /// A subrequest for a file: translation is skipped, too.
    File,
}

impl Site {
    /// Runs the phases before the response. Returns the request's final location, whose handler answers.
    pub(super) fn prepare(
        &self,
        request: u64,
        first: Rc<ResolvedLocation>,
        kind: RequestKind,
    ) -> Result<Rc<ResolvedLocation>, Stop> {
        let is_whole = matches!(kind, RequestKind::Whole | RequestKind::Redirect);
        if kind != RequestKind::File {
            apache::begin_translation(request);
        }
        set_env::postpone(request, &first);
        if is_whole {
            self.all(&first, request, Phase::ServerInit)?;
            self.all(&first, request, Phase::PostReadRequest)?;
        }
        let (location, has_moved) =
            if kind == RequestKind::File { (first, true) } else { self.translated(request, first)? };
        let mut location = self.after(location, request, Phase::MapToStorage)?;
        if is_whole {
            location = self.after(location, request, Phase::Init)?;
            location = self.after(location, request, Phase::HeaderParser)?;
        }
        self.admit(&location, request, kind == RequestKind::Whole && !has_moved)?;
        location = self.renewed(request, location);
        location = self.after(location, request, Phase::Type)?;
        self.say_language(request, &location);
        set_env::make_up(request, &location);
        self.after(location, request, Phase::Fixup)
    }

    /// Sets Content-Language, for handlers too.
    pub(super) fn say_language(&self, request: u64, location: &ResolvedLocation) {
        if let Some(language) = language_of(&self.config, &location.settings, request) {
            apache::say_language(request, &language);
        }
    }

    /// Runs one phase. Returns the request's location afterwards.
    fn after(&self, location: Rc<ResolvedLocation>, request: u64, phase: Phase) -> Result<Rc<ResolvedLocation>, Stop> {
        self.first(&location, request, phase)?;
        Ok(self.renewed(request, location))
    }

    /// Runs the Trans phase. A handler that sets the file name, URI or document root moves the request to another
    /// location.
    pub(super) fn translated(
        &self,
        request: u64,
        first: Rc<ResolvedLocation>,
    ) -> Result<(Rc<ResolvedLocation>, bool), Stop> {
        let requested = apache::requested(request);
        let is_translated = self.first(&first, request, Phase::Trans)? == OK;
        let said = apache::set_by_handlers(request);
        let is_same = said.uri == requested.path && said.filename.is_none() && said.document_root.is_none();
        let stays = is_same && !requested.filename.is_empty();
        if stays && !is_translated {
            apache::end_translation(request);
            return Ok((first, false));
        }
        let key = self.resolve_target(request, is_translated)?;
        Ok((self.moved(request, Some(&*first), key)?, true))
    }

    /// Runs a phase and ends the request on any value other than OK and DECLINED. Returns which of the two it was.
    pub(super) fn first(&self, location: &Rc<ResolvedLocation>, request: u64, phase: Phase) -> Result<i32, Stop> {
        self.runs_in(request, location);
        match self.phase(location, request, phase) {
            said @ (OK | DECLINED) => Ok(said),
            said => Err(Stop(said)),
        }
    }

    /// [`Self::first`] for a phase in which OK and DECLINED are equivalent.
    pub(super) fn all(&self, location: &Rc<ResolvedLocation>, request: u64, phase: Phase) -> Going {
        self.first(location, request, phase).map(drop)
    }

    pub(super) fn has_handlers(&self, location: &ResolvedLocation, request: u64, phase: Phase) -> bool {
        apache::stack(request, phase as u32) != apache::Stack::Configured || !location.names(phase).is_empty()
    }

    /// Runs a phase's handlers: first those of the configuration, then those pushed by Perl code. The last return
    /// value counts.
    pub(super) fn phase(&self, location: &ResolvedLocation, request: u64, phase: Phase) -> i32 {
        trace::within(phase, || self.handlers_of(location, request, phase))
    }

    fn handlers_of(&self, location: &ResolvedLocation, request: u64, phase: Phase) -> i32 {
        let mut said = DECLINED;
        if apache::enter_phase(request, phase as u32) != apache::Stack::Replaced {
            for at in 0.. {
                let handler = match self.handler(location, phase, at) {
                    Some(Ok(handler)) => handler,
                    Some(Err(error)) => return self.left(request, error),
                    None => break,
                };
                said = trace::phase(phase, || self.call(handler, request)).0;
                let is_emptied = apache::stack(request, phase as u32) == apache::Stack::Replaced;
                if is_emptied || ends(phase, said) {
                    return said;
                }
            }
        }
        match apache::stack(request, phase as u32) {
            apache::Stack::Configured => said,
            _ => self.pushed(request).unwrap_or(said),
        }
    }

    /// Runs the handlers that Perl code pushed for the current phase.
    fn pushed(&self, request: u64) -> Option<i32> {
        let run = self.pushed.as_ref()?;
        loop {
            // A pushed handler that exits ends only itself.
            if let (said, true) = self.call(run, request) {
                return Some(said);
            }
        }
    }

    /// Returns a handler's value, and whether the handler returned.
    fn call(&self, handler: &Code, request: u64) -> (i32, bool) {
        let result = self.perl.call_handler(handler, request);
        self.end_forked_child(result.as_ref().err());
        match result {
            // A script that prints its own status line may return that status, too.
            Ok(said) if apache::has_said(request, said) => (OK, true),
            Ok(said) => (meant(said), true),
            Err(interrupted) => {
                let status = status_said(&interrupted);
                let exited = !matches!(interrupted, Interrupted::Died(_)) && status.is_none();
                (self.left_with(request, interrupted, status), !exited)
            }
        }
    }

    /// Handles a handler that did not return: `exit` counts as OK, `die` is logged.
    pub(super) fn left(&self, request: u64, interrupted: Interrupted) -> i32 {
        self.left_with(request, interrupted, None)
    }

    fn left_with(&self, request: u64, interrupted: Interrupted, status: Option<u16>) -> i32 {
        let said = match (interrupted, status) {
            (Interrupted::Exited(_), None) => OK,
            (Interrupted::Unheard, _) => {
                apache::say(
                    apache::Level::Info,
                    "the client has disconnected: the program was ended because it continued to print",
                );
                OK
            }
            (Interrupted::Died(text), None) if text.starts_with(WRITER_DIED) => {
                apache::say(apache::Level::Info, text.trim_end());
                OK
            }
            // The status is deliberate: the program has no error.
            (Interrupted::Exited(_), Some(status)) | (Interrupted::Died(_), Some(status @ ..500)) => {
                apache::fail(request, status);
                i32::from(status)
            }
            (Interrupted::Died(text), status) => {
                apache::set_note(request, b"error-notes", text.trim_end().as_bytes());
                let status = if libperl::timed_out() { 504 } else { status.unwrap_or(500) };
                apache::fail(request, status);
                report(&text);
                self.died.set(true);
                self.remember(&text);
                i32::from(status)
            }
        };
        self.unwind();
        said
    }

    /// Stores the error in `$@{$r->uri}` for the error document.
    fn remember(&self, text: &str) {
        if self.mod_perl {
            note(self.perl.call(c"Apache::_remember", Some(text)));
        }
    }

    /// Runs the response handler that the configuration or an earlier phase names.
    pub(super) fn respond(&self, location: &ResolvedLocation, request: u64) -> i32 {
        if let Err(interrupted) = self.insert_filters(location, request) {
            return self.left(request, interrupted);
        }
        let handler = self.handler_of(location, request);
        if apache::api() == apache::Api::One {
            return self.respond_with(&handler, location, request);
        }
        // Under mod_perl 2's own handler STDOUT belongs to the server, and only `$r` writes to the client. A subrequest
        // may have another handler.
        let before = self.perl.stdout_is_log(handler == Handler::ModPerl);
        let said = self.respond_with(&handler, location, request);
        self.perl.stdout_is_log(before);
        said
    }

    fn respond_with(&self, handler: &Handler, location: &ResolvedLocation, request: u64) -> i32 {
        match handler {
            Handler::PerlScript | Handler::ModPerl => self.phase(location, request, Phase::Handler),
            Handler::CgiScript
                if location.settings.response.path_info == Some(PathInfo::Off)
                    && !apache::path_info(request).is_empty() =>
            {
                404
            }
            Handler::CgiScript => trace::within(Phase::Handler, || self.run_script(location, request)),
            Handler::Psgi => trace::within(Phase::Handler, || self.run_psgi(location, request)),
            Handler::Default if location.settings.asks_perl_for_folders() && names_folder(request) => {
                self.phase(location, request, Phase::Handler)
            }
            page if page.is_page() => DECLINED,
            handler => self.act(location, request, handler.name()),
        }
    }

    /// The response handler: set by Perl code, or else by the configuration.
    pub(super) fn handler_of(&self, location: &ResolvedLocation, request: u64) -> Handler {
        match apache::handler(request) {
            None => location.settings.handler.clone(),
            Some(name) => name.map_or(Handler::Default, |name| Handler::named(&String::from_utf8_lossy(&name))),
        }
    }

    fn run_script(&self, location: &ResolvedLocation, request: u64) -> i32 {
        apache::enter_phase(request, Phase::Handler as u32);
        if let Some(said) = self.run_program(location, request) {
            return said;
        }
        match self.registry() {
            Ok(registry) => self.call(registry, request).0,
            Err(error) => self.left(request, error),
        }
    }
}

/// Maps a handler's return value. Values that are no statuses are OK in mod_perl 1 and error 500 in mod_perl 2.
fn meant(said: i32) -> i32 {
    match (said, apache::api()) {
        (1 | 200 | 601.., apache::Api::One) => OK,
        (-2..=0 | 100..=103 | 200..=208 | 226 | 300..=308 | 400..=451 | 500..=511, _) | (_, apache::Api::One) => said,
        _ => 500,
    }
}

/// Whether the return value ends the phase, so that later handlers are skipped. In mod_perl 2 OK ends some phases.
fn ends(phase: Phase, said: i32) -> bool {
    let one_is_enough = [
        Phase::Trans,
        Phase::MapToStorage,
        Phase::Authen,
        Phase::Authz,
        Phase::Type,
        Phase::Handler,
        Phase::ProcessConnection,
    ];
    match (said, apache::api()) {
        (DECLINED, _) => false,
        (OK, apache::Api::Two) => one_is_enough.contains(&phase),
        (OK, apache::Api::One) => false,
        _ => true,
    }
}

/// Status from `die 404` or `exit 403`: mod_perl 1 uses a number as status if `$@` holds only the number and its place.
/// Cameleer restricts it to 300 to 599.
fn status_said(interrupted: &Interrupted) -> Option<u16> {
    let code = match interrupted {
        Interrupted::Unheard => None,
        Interrupted::Exited(code) => u16::try_from(*code).ok(),
        Interrupted::Died(text) => {
            let (digits, rest) = text.split_at_checked(3)?;
            let is_all = matches!(rest, "" | "\n") || rest.starts_with(" at ") && rest.contains(" line ");
            digits.parse().ok().filter(|_| is_all && digits.bytes().all(|byte| byte.is_ascii_digit()))
        }
    };
    code.filter(|code| (300..600).contains(code))
}

/// Error text of a PSGI writer whose client has disconnected. The application is not at fault if it does not catch
/// it.
const WRITER_DIED: &str = "PSGI: the client has left at ";

fn names_folder(request: u64) -> bool {
    apache::has_file(request) && Path::new(OsStr::from_bytes(&apache::filename(request))).is_dir()
}
