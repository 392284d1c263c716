//! Handles one request: from its frame to its `End`, and back to the worker's initial state.

mod access_control;
mod actions;
mod added;
mod complaint;
mod connection;
mod engine;
mod error_document;
mod filters;
mod folders;
mod hooks;
mod phases;
mod program;
mod redirect;
mod resolve;
mod set_env;
mod subrequest;
mod translate;
mod variables;
mod warm_up;

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use apache::Outcome;
use libperl::Interrupted;
use wire::frame::{Field, Flags, Frame};
use wire::reply::{LeaveReason, Outgoing};
use wire::transport::{Presence, in_memory};

use self::phases::{DECLINED, OK, RequestKind, Stop};
pub use self::warm_up::{WarmUpAnswer, WarmUpRequest};
use super::location::{LocationKey, ResolvedLocation};
use super::site::Site;
use super::{Next, Port, activity_begins};
use crate::log_context::{LogContext, note, report};
use crate::trace;
use config::{Host, Phase};

/// The receiver of a worker's answer: the front, or the mold itself during warm-up.
pub trait Asker {
    /// Returns the client that receives the answer to this request number.
    fn client(&self, request: u64) -> Box<dyn apache::Client>;
}

impl Asker for Port {
    fn client(&self, request: u64) -> Box<dyn apache::Client> {
        Box::new(ToFront { port: self.clone(), request })
    }
}

/// The output of a request: to the front, or discarded in a process forked from the worker.
struct ToFront {
    port: Port,
    request: u64,
}

impl apache::Client for ToFront {
    fn send(&mut self, said: &Outgoing<'_>) -> io::Result<()> {
        if libperl::is_forked_child() {
            return Ok(());
        }
        self.port.borrow_mut().send(said)
    }

    fn presence(&mut self) -> Presence {
        if libperl::is_forked_child() {
            return Presence::Here;
        }
        self.port.borrow_mut().presence(self.request).unwrap_or(Presence::Gone)
    }

    fn has_lost_front(&self) -> bool {
        self.port.borrow().is_greeted()
    }
}

impl Site {
    /// Answers one request. Returns the frame's buffer for reuse.
    pub(super) fn answer(
        &self,
        frame: Frame,
        body: Option<OwnedFd>,
        asker: &dyn Asker,
        last: Option<LeaveReason>,
    ) -> io::Result<(Next, Vec<u8>)> {
        let key = LocationKey::of(&frame);
        let is_connection = frame.flags().has(Flags::CONNECTION);
        let (body, socket) = if is_connection { (None, body) } else { (body, None) };
        self.open_body(&frame, body)?;
        let has_phases = frame.flags().has(Flags::PHASES);
        let context = LogContext::of(&frame);
        context.becomes_current();
        let config = self.config.clone();
        let host = config.hosts.get(usize::from(frame.host()));
        self.error_logs.borrow().enter(&config, host)?;
        let location = self.location(key, frame.field(Field::Filename));
        self.end_forked_child(location.as_ref().err());
        let place = location.as_ref().map(|l| l.place.clone()).unwrap_or_default();
        let number = frame.id();
        let client = asker.client(number);
        libperl::request_is(number);
        activity_begins(&frame);
        trace::begin(frame.flags().has(Flags::TRACED));
        let request = apache::begin(apache::Incoming { frame, place, client });
        let location = match location {
            Ok(location) if is_connection => {
                self.converse(request, location, socket);
                None
            }
            Ok(location) => Some(self.answer_as_client(request, location, has_phases)),
            Err(error) => {
                report(&error.to_string());
                apache::send_page(request, 500, apache::Page::Ours(""));
                None
            }
        };
        let leaves = last.or_else(|| self.must_leave());
        leaves.into_iter().for_each(apache::leave_after);
        if let Some(parts) = trace::parts() {
            apache::tell_parts(parts);
        }
        if apache::finish().is_some_and(|finished| finished.cleanup) {
            self.clean_up(location.as_deref(), request);
            // A cleanup handler may have changed the process in a way that requires its exit.
            if leaves.is_none() {
                self.must_leave().into_iter().for_each(apache::leave_after);
            }
        }
        self.over(&context, host)
    }

    /// Ends a request: frees its state and restores the process.
    fn over(&self, context: &LogContext, host: Option<&Host>) -> io::Result<(Next, Vec<u8>)> {
        libperl::request_is_answered();
        libperl::activity_ends();
        self.forget_subrequests();
        self.forget_told_sections();
        let ended = apache::end();
        self.error_logs.borrow().leave(&self.config, host)?;
        self.restore(context.path());
        // Destructors may have forked.
        self.end_forked_child(None);
        libperl::request_is(NO_REQUEST);
        LogContext::none();
        Ok((Next::of(&ended), ended.buffer))
    }

    /// Makes the body descriptor 0. An inline body becomes a memory file, because programs started by scripts read it
    /// too.
    fn open_body(&self, frame: &Frame, body: Option<OwnedFd>) -> io::Result<()> {
        let body = match (body, frame.body()) {
            (Some(file), _) => Some(file),
            (None, []) => None,
            (None, bytes) => Some(in_memory("request body", bytes)?.into()),
        };
        self.perl.set_stdin(body)
    }

    fn answer_as_client(&self, request: u64, location: Rc<ResolvedLocation>, has_phases: bool) -> Rc<ResolvedLocation> {
        self.perl.env_begin();
        let location = self.process(request, location, has_phases.then_some(RequestKind::Whole));
        let waits = |phase| !location.names(phase).is_empty();
        if waits(Phase::Cleanup) || waits(Phase::Log) {
            apache::want_cleanup();
        }
        location
    }

    /// Runs a request and sends its response, or that of the redirect that it results in. Returns the request's
    /// location.
    pub(super) fn process(
        &self,
        request: u64,
        first: Rc<ResolvedLocation>,
        phases: Option<RequestKind>,
    ) -> Rc<ResolvedLocation> {
        let prepared = match phases {
            Some(kind) => self.prepare(request, first.clone(), kind),
            None => {
                self.say_language(request, &first);
                Ok(first.clone())
            }
        };
        let (location, said) = match prepared {
            Ok(location) => {
                if phases.is_some() {
                    self.perl.env_refresh();
                }
                apache::tie_env(request);
                self.runs_in(request, &location);
                let said = self.respond(&location, request);
                (location, said)
            }
            Err(Stop(said)) => (first, said),
        };
        self.perl.drain_output();
        apache::keep_env(request);
        apache::end_filtered_answer(request, said);
        self.conclude(request, &location, said);
        location
    }

    pub(super) fn conclude(&self, request: u64, location: &ResolvedLocation, said: i32) {
        let handler = self.handler_of(location, request);
        if let (DECLINED, true, Some(page)) = (said, handler.is_page(), handler.name()) {
            // Safe as a marker: a file name would be an absolute path.
            return apache::send_file(request, page.as_bytes());
        }
        match apache::outcome(request, said) {
            Outcome::Answered => {}
            Outcome::File(path) => self.conclude_with_file(request, location, &path),
            Outcome::Error(status) => self.conclude_with_error(request, location, status),
        }
    }

    pub(super) fn run_psgi(&self, location: &ResolvedLocation, request: u64) -> i32 {
        let app = match self.app_of(location) {
            Ok(app) => app,
            Err(error) => return self.left(request, error),
        };
        self.perl.psgi_begin(apache::is_https(request), 24);
        apache::psgi_env(&mut |key, value| self.perl.psgi_put(key, value));
        let (result, run) = self.perl.psgi_run(&app);
        self.psgi_cleanup.set(self.psgi_cleanup.get() || run.needs_cleanup);
        self.leave.set(self.leave.get() || run.leave);
        if run.needs_cleanup {
            apache::want_cleanup();
        }
        self.end_forked_child(result.as_ref().err());
        match result {
            Ok(()) => OK,
            // Scripts end by exit, PSGI applications by returning: after exit there is no response, or an incomplete
            // one.
            Err(Interrupted::Exited(code)) => {
                self.left(request, Interrupted::Died(format!("PSGI: the application called exit({code})")))
            }
            Err(interrupted) => self.left(request, interrupted),
        }
    }

    /// Ends a child that Perl forked and that left its handler: the child must not send replies as the worker.
    pub(super) fn end_forked_child(&self, interrupted: Option<&Interrupted>) {
        if !libperl::is_forked_child() {
            return;
        }
        let code = match interrupted {
            Some(Interrupted::Exited(code)) => *code,
            Some(Interrupted::Died(text)) => {
                report(text);
                255
            }
            Some(Interrupted::Unheard) | None => 0,
        };
        self.perl.end(false);
        sys::exit_now(code);
    }

    /// Restores the API's state after a handler that did not return.
    pub(super) fn unwind(&self) {
        if self.mod_perl {
            note(self.perl.call(c"Apache::unwind", None));
        }
    }

    /// Runs the log phase and cleanups, after the client has its answer.
    fn clean_up(&self, location: Option<&ResolvedLocation>, request: u64) {
        libperl::request_is_answered();
        apache::run(request);
        if let Some(location) = location {
            self.phase(location, request, Phase::Log);
        }
        if self.mod_perl {
            // A cleanup that exits skips only itself; the remaining cleanups run.
            while let Err(interrupted) = self.perl.call(c"Apache::run_cleanups", None) {
                let again = !matches!(interrupted, Interrupted::Died(_));
                self.noted(Err(interrupted));
                if !again {
                    break;
                }
            }
            self.end_forked_child(None);
        }
        if let Some(location) = location {
            self.phase(location, request, Phase::Cleanup);
        }
        if self.psgi_cleanup.take() {
            let (result, leave) = self.perl.psgi_cleanup();
            if leave {
                apache::child_terminate();
            }
            self.noted(result);
        }
        if self.mod_perl {
            self.noted(self.perl.call(c"Apache::forget", None));
            if apache::api() == apache::Api::Two {
                self.noted(self.perl.call(c"Cameleer::ModPerl2::forget", None));
            }
        }
    }

    /// Ends a forked child that returned from code run after the answer; logs errors.
    fn noted(&self, result: libperl::Result<()>) {
        self.end_forked_child(result.as_ref().err());
        note(result);
    }

    /// Why this worker must not take further requests, if so.
    fn must_leave(&self) -> Option<LeaveReason> {
        match () {
            () if self.leave.get() => Some(LeaveReason::Program),
            () if libperl::gave_up() => Some(LeaveReason::Memory),
            () if self.is_spoilt() => Some(LeaveReason::Spoilt),
            () => None,
        }
    }

    /// Whether the request left changes that cannot be restored. Logs the reason.
    fn is_spoilt(&self) -> bool {
        let reason = self.perl.must_leave();
        if let Some(reason) = reason {
            apache::say(apache::Level::Warn, &format!("the worker exits: {reason}"));
        }
        reason.is_some()
    }

    /// Restores what the request changed. Logs each kind of change once per path.
    fn restore(&self, path: &[u8]) {
        let left = self.perl.restore_state();
        let mut told = self.told.borrow_mut();
        if left.is_ordinary() || told.len() >= MAX_TOLD || !told.insert((path.to_vec(), left.0)) {
            return;
        }
        let names = left.names().collect::<Vec<_>>().join(", ");
        apache::say(apache::Level::Warn, &format!("changed and restored: {names}"));
    }
}

/// Request number when no request runs: the front numbers requests from 1.
const NO_REQUEST: u64 = 0;

/// Limit of logged paths: clients choose paths, so the set must be bounded.
const MAX_TOLD: usize = 500;
