//! A process that runs CGI programs, one at a time, for requests that the front sends.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use apache::{ErrorPage, HandlerOutcome};
use wire::frame::{Field, Flags, Frame};
use wire::reply::{Outgoing, Reply};
use wire::transport::{Inbound, Presence, WorkerPort, in_memory};

use super::fcgid::FcgidPrograms;
use super::locations::ProgramLocation;
use super::{Programs, fcgid, guard};
use crate::log_context::{self, LogContext, report};
use crate::place::language_of;
use crate::program::child::Child;
use crate::program::relay::{self, Deadline, TransferEnd};
use crate::program::{arguments, lost, refused, started, too_late};
use crate::{Port, WorkerIdentity, activity_begins};
use base::log;
use config::response::PathInfo;
use config::{Handler, Settings};

/// Return value of a handler that has answered.
const OK: i32 = 0;

pub struct ProgramWorker {
    programs: Programs,
    port: Port,
    identity: WorkerIdentity,
    /// Standard input between requests. No program gets this file, which it could write to.
    no_body: OwnedFd,
}

impl ProgramWorker {
    /// Prepares this process, which was forked, to answer on `port`.
    pub fn new(programs: Programs, port: WorkerPort, identity: WorkerIdentity) -> io::Result<ProgramWorker> {
        if let Err(error) = sys::do_not_preempt() {
            log::info("cgi", format_args!("worker={} cannot change its scheduling policy: {error}", identity.slot));
        }
        libperl::set_title(&format!("cameleer: cgi {}", identity.slot));
        log_context::worker_is(identity.slot);
        // RequestTimeout is enforced by this process, while it waits for a program.
        sys::survive_deadline_signal()?;
        let no_body = in_memory("request body", b"")?.into();
        Ok(ProgramWorker { programs, port: Rc::new(port.into()), identity, no_body })
    }

    /// Answers requests until the front orders this process to leave, or has gone; then exits.
    pub fn run(self) -> anyhow::Result<()> {
        let code = match self.answer_all() {
            Ok(()) => 0,
            Err(error) => {
                log::error("cgi", format_args!("worker={} exits: {error}", self.identity.slot));
                1
            }
        };
        std::process::exit(code)
    }

    fn answer_all(&self) -> io::Result<()> {
        let fork_us = self.identity.forked.elapsed().as_micros().min(u128::from(u32::MAX)) as u32;
        self.port.borrow_mut().send_reply(&Reply::Ready { fork_us })?;
        let mut buffer = Vec::new();
        loop {
            let inbound = self.port.borrow_mut().next(std::mem::take(&mut buffer))?;
            match inbound {
                None | Some(Inbound::Leave) => return Ok(()),
                Some(Inbound::Greet) => self.port.borrow_mut().send_reply(&Reply::Greeted { fork_us })?,
                Some(Inbound::Bells(bells)) => self.port.borrow_mut().take_bells(bells)?,
                Some(Inbound::Logs { first, logs }) => {
                    for (number, log) in (first..).zip(logs) {
                        self.programs.error_logs.borrow_mut().renew(number, log)?;
                    }
                }
                Some(Inbound::Request(frame, body)) => {
                    let ended = self.answer(frame, body)?;
                    if ended.front_is_gone {
                        return Ok(());
                    }
                    buffer = ended.buffer;
                }
                // The client of a finished request has left; or an order is about Perl.
                Some(Inbound::Abandoned(_) | Inbound::HungUp(_) | Inbound::Bell) => {}
                Some(Inbound::Inspect { .. } | Inbound::Promote(_) | Inbound::Stream(_)) => {}
                Some(Inbound::Broadcast(_) | Inbound::CloseWebSockets) => {}
            }
        }
    }

    fn answer(&self, frame: Frame, body: Option<OwnedFd>) -> io::Result<apache::EndedRequest> {
        let begun = Instant::now();
        let Programs { config, locations, error_logs, .. } = &self.programs;
        LogContext::of(&frame).becomes_current();
        let host = config.hosts.get(usize::from(frame.host()));
        error_logs.borrow().enter(config, host)?;
        open_body(&frame, body)?;
        activity_begins(&frame);
        let command = frame.field(Field::Task).to_vec();
        let is_guard = frame.flags().has(Flags::GUARD);
        let location = locations.of(&frame);
        let place = location.as_ref().map(|location| location.place.clone()).unwrap_or_default();
        let place = if is_guard { guard::place(&place) } else { place };
        let client = Box::new(Front { port: self.port.clone(), request: frame.id() });
        let request = apache::begin(apache::Incoming { frame, place, client });
        match location {
            Ok(location) => {
                apache::speak(location.view.api);
                let status = match command.is_empty() {
                    _ if is_guard => guard::respond(&self.programs, &location.settings, request, begun, &command),
                    true => respond(&self.programs, &location, request, begun),
                    false => respond_with_command(&location, request, begun, command),
                };
                conclude(request, status);
            }
            Err(error) => {
                report(&error);
                apache::refuse(request, 500);
            }
        }
        apache::finish();
        libperl::activity_ends();
        let ended = apache::end();
        sys::replace(self.no_body.as_raw_fd(), 0)?;
        error_logs.borrow().leave(config, host)?;
        LogContext::none();
        Ok(ended)
    }
}

/// Makes the body descriptor 0, which programs inherit. An inline body becomes a memory file.
fn open_body(frame: &Frame, body: Option<OwnedFd>) -> io::Result<()> {
    let body = match body {
        Some(file) => file,
        None => in_memory("request body", frame.body())?.into(),
    };
    sys::replace(body.as_raw_fd(), 0)
}

/// Answers with the output of the program. Returns OK, or the status of an error.
fn respond(programs: &Programs, location: &ProgramLocation, request: u64, begun: Instant) -> i32 {
    let ProgramLocation { settings, view, .. } = location;
    if let Some(language) = language_of(&view.config, settings, request) {
        apache::set_language(request, &language);
    }
    if settings.response.path_info == Some(PathInfo::Off) && !apache::path_info(request).is_empty() {
        return 404;
    }
    if let (Handler::FcgidScript, Some(manager)) = (&settings.handler, &programs.manager) {
        return fcgid::respond(&FcgidPrograms { manager, standing: &programs.standing }, settings, request, begun);
    }
    let name = apache::filename(request);
    let file = Path::new(OsStr::from_bytes(&name));
    if let Some(status) = refused(settings, request, file) {
        return status;
    }
    let child = started(Child::start(file, arguments(request), &settings.program), file);
    relay_output(child, request, file, deadline_of(settings, begun))
}

/// Answers with the output of a command of the shell, for a page with server-side includes.
fn respond_with_command(location: &ProgramLocation, request: u64, begun: Instant, command: Vec<u8>) -> i32 {
    let settings = &location.settings;
    let shell = Path::new("/bin/sh");
    let name = apache::filename(request);
    let folder = Path::new(OsStr::from_bytes(&name)).parent().unwrap_or(Path::new("/"));
    let arguments = vec![b"-c".to_vec(), command];
    let child = started(Child::start_in(folder, shell, arguments, &settings.program), shell);
    // The page shows the output as it is, so the command writes no header.
    apache::output(b"Content-Type: text/html\n\n");
    relay_output(child, request, shell, deadline_of(settings, begun))
}

/// The time at which `RequestTimeout` ends a program. `None`: no limit.
fn deadline_of(settings: &Settings, begun: Instant) -> Option<Instant> {
    let limit = settings.request_timeout;
    if limit.is_zero() { None } else { begun.checked_add(limit) }
}

/// Transfers the output of a program. Returns OK, or the status of an error.
fn relay_output(child: Result<Child, i32>, request: u64, file: &Path, deadline: Option<Instant>) -> i32 {
    let mut child = match child {
        Ok(child) => child,
        Err(status) => return status,
    };
    match relay::all(&mut child, request, Deadline::At(deadline)) {
        TransferEnd::Whole | TransferEnd::Unheard => OK,
        TransferEnd::TooLate => failed(request, 504, &too_late(file)),
        TransferEnd::Lost(error) => failed(request, 500, &lost(file, &error)),
    }
}

fn failed(request: u64, status: u16, why: &str) -> i32 {
    apache::set_note(request, b"error-notes", why.as_bytes());
    apache::fail(request, status);
    report(why);
    i32::from(status)
}

fn conclude(request: u64, status: i32) {
    match apache::outcome(request, status) {
        // Only a handler that declines leaves the response to a file.
        HandlerOutcome::Answered | HandlerOutcome::File(_) => {}
        // A redirect: the program has set the location.
        HandlerOutcome::Error(status @ 300..400) => apache::send_page(request, status, ErrorPage::Ours("")),
        HandlerOutcome::Error(status) => apache::refuse(request, status),
    }
}

/// The front, which receives the output of a request.
struct Front {
    port: Port,
    request: u64,
}

impl apache::ResponseReceiver for Front {
    fn send(&mut self, outgoing: &Outgoing<'_>) -> io::Result<()> {
        self.port.borrow_mut().send(outgoing)
    }

    fn presence(&mut self) -> Presence {
        self.port.borrow_mut().presence(self.request).unwrap_or(Presence::Gone)
    }

    fn has_lost_front(&self) -> bool {
        self.port.borrow().is_greeted()
    }
}
