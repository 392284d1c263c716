//! The loop of a worker with Perl: it answers one request at a time, until a limit or the front ends it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use nix::errno::Errno;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use wire::frame::Field;
use wire::reply::{LeaveReason, Reply};
use wire::transport::{Inbound, WorkerPort, is_awaited};

use crate::broadcast::Broadcast;
use crate::growth::Growth;
use crate::inspection::{self, LoopFacts};
use crate::memory_limit::{FIRST_REQUESTS, MemoryLimit, TooLarge};
use crate::promotion::{Record, Successor, promote};
use crate::request::AfterRequest;
use crate::request_limit::RequestLimit;
use crate::site::Site;
use crate::{Port, WorkerIdentity, event_loop, log_context, request};
use base::log;
use config::Phase;
use sys::Words;

/// Answers one request at a time, until a limit or the front ends it.
pub struct PerlWorker {
    site: Rc<Site>,
    port: Port,
    broadcast: Rc<Broadcast>,
    identity: WorkerIdentity,
    /// Whether the worker is a process of its own. The process of `-X` has children that its program did not start.
    is_forked: bool,
    limit: RequestLimit,
    memory: MemoryLimit,
    growth: Growth,
    /// Whether earlier requests left children that still run.
    has_children: bool,
    /// Time from fork to ready, in µs.
    fork_us: u32,
    record: Record,
}

enum WorkerEnd {
    Leave,
    /// The worker becomes a mold, with this channel to the master.
    Promote(OwnedFd),
}

impl PerlWorker {
    /// Creates a worker for `site` that answers on `port`. Runs the ChildInit handlers.
    pub fn new(site: Rc<Site>, port: WorkerPort, identity: WorkerIdentity, words: Rc<Words>) -> PerlWorker {
        if let Err(error) = sys::do_not_preempt() {
            log::info("perl", format_args!("worker={} cannot change its scheduling policy: {error}", identity.slot));
        }
        site.is_forked();
        libperl::set_title(&format!("cameleer: worker {}", identity.slot));
        log_context::worker_is(identity.slot);
        libperl::keep_from_children(port.fds());
        site.answers_here();
        let port: Port = Rc::new(port.into());
        let broadcast = Broadcast::begin(&site.config, &port, identity.master);
        site.run_phase(Phase::ChildInit);
        site.perl.remember_state();
        let limit = RequestLimit::draw(&site.config.pool.max_requests);
        let memory = MemoryLimit::new(words, identity.slot, site.config.pool.worker.max_private);
        let (growth, record) = (Growth::default(), Record::default());
        let is_forked = identity.master != std::process::id();
        PerlWorker {
            site,
            port,
            broadcast,
            identity,
            is_forked,
            limit,
            memory,
            growth,
            has_children: false,
            fork_us: 0,
            record,
        }
    }

    /// Answers requests until the front orders the worker to exit, its limit is reached, or the front has ended; then
    /// exits. Returns only in the fork of a worker that is promoted to mold.
    pub fn run(mut self) -> Successor {
        let answered = match self.site.config.pool.is_event() {
            true => event_loop::run(&self.site, &self.port, self.identity, &self.broadcast, self.memory)
                .map(|()| WorkerEnd::Leave),
            false => self.answer_all(),
        };
        let code = match answered {
            Ok(WorkerEnd::Leave) => 0,
            Ok(WorkerEnd::Promote(control)) => match promote(self.site.clone(), control, self.identity, self.record) {
                Some(successor) => return successor,
                None => 0,
            },
            Err(error) => {
                log::error("perl", format_args!("worker={} exits: {error}", self.identity.slot));
                1
            }
        };
        self.site.child_exit();
        std::process::exit(code)
    }

    fn answer_all(&mut self) -> io::Result<WorkerEnd> {
        self.fork_us = self.identity.forked.elapsed().as_micros().min(u128::from(u32::MAX)) as u32;
        self.send_reply(Reply::Ready { fork_us: self.fork_us })?;
        self.has_children = self.reap();
        let mut buffer = Vec::new();
        loop {
            match self.wait(std::mem::take(&mut buffer))? {
                None | Some(Inbound::Leave) => return Ok(WorkerEnd::Leave),
                Some(Inbound::Inspect { what, into, done, with }) => {
                    // A report of a worker that was busy for too long would have no reader.
                    if is_awaited(done.as_fd()) {
                        let facts = LoopFacts { growth: Some(&self.growth), requests: Some(self.record.requests()) };
                        inspection::report(&self.site, facts, what, into, with);
                    }
                    drop(done);
                }
                Some(Inbound::Promote(control)) => return Ok(WorkerEnd::Promote(control)),
                // The client of a finished request has disconnected.
                Some(Inbound::Abandoned(_) | Inbound::HungUp(_) | Inbound::Bell) => {}
                // Streams are for event pools. Closing this one tells the front.
                Some(Inbound::Stream(_)) => {}
                // Only event workers subscribe, and have WebSockets.
                Some(Inbound::Broadcast(_) | Inbound::CloseWebSockets) => {}
                Some(Inbound::Bells(bells)) => {
                    let mut port = self.port.borrow_mut();
                    port.take_bells(bells)?;
                    libperl::keep_from_children(port.fds());
                }
                Some(Inbound::Greet) => self.send_reply(Reply::Greeted { fork_us: self.fork_us })?,
                Some(Inbound::Logs { first, logs }) => {
                    for (number, log) in (first..).zip(logs) {
                        self.site.error_logs.borrow_mut().renew(number, log)?;
                    }
                    if first == 0 {
                        self.site.perl.stderr_is_log();
                    }
                }
                Some(Inbound::Request(frame, body)) => {
                    let before = self.memory.look().map(|has| (frame.field(Field::Path).to_vec(), has));
                    let last = self.why_last(before.as_ref().map(|(_, has)| *has));
                    let (next, used) = request::answer(&self.site, frame, body, &self.port, last)?;
                    buffer = used;
                    if let Some((path, before)) = before {
                        self.growth.note(&path, before, self.memory.anonymous().unwrap_or(before));
                    }
                    self.record.answered(self.site.calls.take_died());
                    let is_busy = self.port.borrow().has_request();
                    self.has_children = libperl::may_have_children(is_busy) && self.reap();
                    if next == AfterRequest::Leave {
                        return Ok(WorkerEnd::Leave);
                    }
                }
            }
        }
    }

    /// Why the worker must exit after the next request, if it must. `has` is the sampled memory, in bytes; memory is
    /// not read for each request.
    fn why_last(&mut self, has: Option<u64>) -> Option<LeaveReason> {
        match self.limit.is_last() {
            true => Some(LeaveReason::MaxRequests),
            false if !has.is_some_and(|has| self.is_too_large(has)) => None,
            false if self.record.requests() < FIRST_REQUESTS => Some(LeaveReason::MemoryAtOnce),
            false => Some(LeaveReason::Memory),
        }
    }

    /// Whether the worker exceeds its memory limit with `has` bytes. Logs the reason.
    fn is_too_large(&self, has: u64) -> bool {
        let Some(TooLarge { grown, directive }) = self.memory.is_exceeded_by(has) else { return false };
        let grown = grown as f64 / f64::from(1 << 20);
        let (slot, requests) = (self.identity.slot, self.record.requests());
        log::notice(
            "perl",
            format_args!(
                "worker={slot} exits after this request: +{grown:.1} MB since the fork, {requests} requests ({directive})"
            ),
        );
        true
    }

    /// Waits for the next message. While children run, `SIGCHLD` is used to reap them immediately; a worker without
    /// children waits in a single call.
    fn wait(&mut self, buffer: Vec<u8>) -> io::Result<Option<Inbound>> {
        let reaping = if self.has_children { Some(sys::reap_at_once()?) } else { None };
        // Reap children that ended before reaping began.
        self.has_children = reaping.is_some() && self.reap();
        let inbound = self.port.borrow_mut().next(buffer);
        // End reaping before a program waits for its own children.
        if reaping.is_some() {
            drop(reaping);
            libperl::has_children(self.has_children, &sys::ended_children());
        }
        inbound
    }

    /// Reaps children that have ended and that their request did not wait for. Returns whether others still run.
    fn reap(&self) -> bool {
        let mut ended = sys::ended_children();
        let others_run = self.is_forked && others_run(&mut ended);
        libperl::has_children(others_run, &ended);
        others_run
    }

    /// Sends a reply that belongs to no request.
    fn send_reply(&mut self, reply: Reply<'_>) -> io::Result<()> {
        self.port.borrow_mut().send_reply(&reply)
    }
}

/// Reaps all ended children. Adds each pid with its `waitpid` status to `ended`. Returns whether other children still
/// run.
fn others_run(ended: &mut Vec<[i32; 2]>) -> bool {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) => return true,
            Ok(WaitStatus::Exited(pid, code)) => ended.push([pid.as_raw(), code << 8]),
            Ok(WaitStatus::Signaled(pid, signal, core)) => {
                ended.push([pid.as_raw(), signal as i32 | if core { 0x80 } else { 0 }])
            }
            Err(Errno::EINTR) | Ok(_) => {}
            Err(_) => return false,
        }
    }
}
