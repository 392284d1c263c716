//! Handles one request: from its frame to its `End`, and back to the worker's initial state.

mod access_control;
mod actions;
mod at;
mod clean_up;
mod conclude;
mod connection;
mod copy_file;
mod engine;
mod filters;
mod folders;
mod onward;
mod pass_on;
mod phases;
mod prepare;
mod program;
mod request_error;
mod resolve;
mod respond;
mod set_env;
mod translate;
mod variables;
mod warm_up;

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use libperl::Interpreter;
use wire::frame::{Field, Flags, Frame};
use wire::reply::{LeaveReason, Outgoing};
use wire::transport::{Presence, in_memory};

use self::at::LocatedRequest;
use self::clean_up::clean_up;
use self::conclude::conclude;
use self::pass_on::pass_on;
use self::phases::PhaseEnd;
use self::prepare::{RequestKind, prepare, set_language};
use self::respond::respond;
pub use self::warm_up::{WarmUpOutcome, WarmUpPlace, WarmUpRequest};
use super::location::{LocationKey, ResolvedLocation};
use super::site::Site;
use super::{Port, activity_begins};
use crate::log_context::{LogContext, report};
use crate::trace;
use config::{Host, Phase};

/// The receiver of a worker's answer: the front, or the mold itself during warm-up.
pub trait Asker {
    /// Returns the client that receives the response to this request number.
    fn client(&self, request: u64) -> Box<dyn apache::ResponseReceiver>;
}

impl Asker for Port {
    fn client(&self, request: u64) -> Box<dyn apache::ResponseReceiver> {
        Box::new(ToFront { port: self.clone(), request })
    }
}

/// The output of a request: to the front, or discarded in a process forked from the worker.
struct ToFront {
    port: Port,
    request: u64,
}

impl apache::ResponseReceiver for ToFront {
    fn send(&mut self, outgoing: &Outgoing<'_>) -> io::Result<()> {
        if libperl::is_forked_child() {
            return Ok(());
        }
        self.port.borrow_mut().send(outgoing)
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

/// Whether the worker continues after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterRequest {
    Stay,
    Leave,
}

impl AfterRequest {
    fn of(ended: &apache::EndedRequest) -> AfterRequest {
        if ended.leaving.is_some() || ended.front_is_gone { AfterRequest::Leave } else { AfterRequest::Stay }
    }
}

/// Answers one request. Returns the frame's buffer for reuse.
pub(super) fn answer(
    site: &Site,
    frame: Frame,
    body: Option<OwnedFd>,
    asker: &dyn Asker,
    last: Option<LeaveReason>,
) -> io::Result<(AfterRequest, Vec<u8>)> {
    let key = LocationKey::of(&frame);
    let is_connection = frame.flags().has(Flags::CONNECTION);
    let (body, socket) = if is_connection { (None, body) } else { (body, None) };
    open_body(&site.perl, &frame, body)?;
    let phases = match frame.flags() {
        flags if flags.has(Flags::ONWARD) => Some(RequestKind::Onward),
        flags => flags.has(Flags::PHASES).then_some(RequestKind::Whole),
    };
    let context = LogContext::of(&frame);
    context.becomes_current();
    let config = site.config.clone();
    let host = config.hosts.get(usize::from(frame.host()));
    site.error_logs.borrow().enter(&config, host)?;
    let location = site.locations.get(key, frame.field(Field::Filename));
    site.calls.end_forked_child(location.as_ref().err());
    let place = location.as_ref().map(|l| l.place.clone()).unwrap_or_default();
    let number = frame.id();
    let client = asker.client(number);
    libperl::request_is(number);
    activity_begins(&frame);
    trace::begin(frame.flags().has(Flags::TRACED));
    let request = apache::begin(apache::Incoming { frame, place, client });
    let location = match location {
        Ok(location) if is_connection => {
            connection::converse(LocatedRequest::new(site, request, &location), socket);
            None
        }
        Ok(location) => Some(answer_as_client(site, request, location, phases)),
        Err(error) => {
            report(&error.to_string());
            apache::send_page(request, 500, apache::ErrorPage::Ours(""));
            None
        }
    };
    let leaves = last.or_else(|| must_leave(site));
    leaves.into_iter().for_each(apache::leave_after);
    if let Some(parts) = trace::parts() {
        apache::report_parts(parts);
    }
    if apache::finish().is_some_and(|finished| finished.cleanup) {
        clean_up(site, request, location.as_ref());
        // A cleanup handler may have changed the process in a way that requires its exit.
        if leaves.is_none() {
            must_leave(site).into_iter().for_each(apache::leave_after);
        }
    }
    over(site, &context, host)
}

/// Ends a request: frees its state and restores the process.
fn over(site: &Site, context: &LogContext, host: Option<&Host>) -> io::Result<(AfterRequest, Vec<u8>)> {
    libperl::request_is_answered();
    libperl::activity_ends();
    site.under_way.forget();
    site.paths.next_request();
    site.locations.next_request();
    let ended = apache::end();
    site.error_logs.borrow().leave(&site.config, host)?;
    site.restoration.restore(context.path());
    // Destructors may have forked.
    site.calls.end_forked_child(None);
    libperl::request_is(NO_REQUEST);
    LogContext::none();
    Ok((AfterRequest::of(&ended), ended.buffer))
}

/// Makes the body descriptor 0. An inline body becomes a memory file, because programs started by scripts read it too.
fn open_body(perl: &Interpreter, frame: &Frame, body: Option<OwnedFd>) -> io::Result<()> {
    let body = match (body, frame.body()) {
        (Some(file), _) => Some(file),
        (None, []) => None,
        (None, bytes) => Some(in_memory("request body", bytes)?.into()),
    };
    perl.set_stdin(body)
}

fn answer_as_client(
    site: &Site,
    request: u64,
    location: Rc<ResolvedLocation>,
    phases: Option<RequestKind>,
) -> Rc<ResolvedLocation> {
    site.perl.env_begin();
    let location = process(site, request, location, phases);
    let waits = |phase| !location.names(phase).is_empty();
    if waits(Phase::Cleanup) || waits(Phase::Log) {
        apache::want_cleanup();
    }
    location
}

/// Runs a request and sends its response, or that of the redirect that it results in. Returns the request's
/// location.
fn process(
    site: &Site,
    request: u64,
    start: Rc<ResolvedLocation>,
    phases: Option<RequestKind>,
) -> Rc<ResolvedLocation> {
    let file = apache::requested(request).filename;
    let prepared = match phases {
        Some(kind) => prepare(site, request, start.clone(), kind),
        None => {
            set_language(LocatedRequest::new(site, request, &start));
            Ok(start.clone())
        }
    };
    let (location, status) = match prepared {
        Ok(location) if phases == Some(RequestKind::Onward) => {
            pass_on(LocatedRequest::new(site, request, &location), &file);
            return location;
        }
        Ok(location) => {
            if phases.is_some() {
                site.perl.env_refresh();
            }
            apache::tie_env(request);
            let at = LocatedRequest::new(site, request, &location);
            at.enter();
            let status = respond(at);
            (location, status)
        }
        Err(PhaseEnd(status)) => (start, status),
    };
    site.perl.drain_output();
    apache::keep_env(request);
    apache::end_filtered_response(request, status);
    conclude(LocatedRequest::new(site, request, &location), status);
    location
}

/// Why this worker must not take further requests, if so.
fn must_leave(site: &Site) -> Option<LeaveReason> {
    match () {
        () if site.psgi.leaves() => Some(LeaveReason::Program),
        () if libperl::gave_up() => Some(LeaveReason::Memory),
        () if is_spoilt(&site.perl) => Some(LeaveReason::Spoilt),
        () => None,
    }
}

/// Whether the request left changes that cannot be restored. Logs the reason.
fn is_spoilt(perl: &Interpreter) -> bool {
    let reason = perl.must_leave();
    if let Some(reason) = reason {
        apache::log_line(apache::Level::Warn, &format!("the worker exits: {reason}"));
    }
    reason.is_some()
}

/// Request number when no request runs: the front numbers requests from 1.
const NO_REQUEST: u64 = 0;
