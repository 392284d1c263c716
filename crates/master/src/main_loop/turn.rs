//! A turn of the loop: wait, read messages, act on deadlines.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::Master;
use crate::children::MoldId;
use crate::children::peer::Peer;
use crate::front::Wait;
use crate::inspections::ReportAsker;
use crate::sockets::control_socket::ControlClient;
use base::log;

/// Maximum number of messages read from one child before the other children are read.
pub(super) const A_TURN: usize = 64;
/// Larger than the capacity of a socket, so that all messages of an ended child are read. Limited because another
/// process may hold the socket and continue to send.
pub(super) const ALL_LEFT: usize = 8192;

#[derive(Debug, Clone, Copy)]
enum Source {
    Signals,
    NewClient,
    Client(ControlClient),
    Front,
    Mold(MoldId),
    Expander,
    /// A worker that is to become a mold.
    Candidate,
    Sampler,
    Profiler,
    Monitor,
    Acme,
    /// The inspection is complete.
    Inspected(ReportAsker),
    Certificates,
    /// A readiness check has ended.
    Check(u16),
}

impl Master {
    /// Waits until something happens or is due, and does it.
    pub(crate) fn turn(&mut self) -> anyhow::Result<()> {
        let (ready, wait) = self.wait()?;
        for source in ready {
            match source {
                Source::Signals => self.handle_signals(),
                Source::NewClient => self.control.accept(),
                Source::Client(client) => self.serve_client(client),
                Source::Front => self.read_front(A_TURN),
                Source::Mold(mold) => self.read_mold(mold, A_TURN),
                Source::Candidate => self.read_candidate(),
                Source::Expander => self.read_expander(),
                Source::Sampler => self.read_sampler(),
                Source::Profiler => self.read_profiler(),
                Source::Monitor => self.read_monitor(),
                Source::Acme => self.read_acme(A_TURN),
                Source::Inspected(asker) => self.answer_inspection(asker),
                Source::Certificates => self.certificates.changed(Instant::now()),
                Source::Check(number) => self.read_check(number),
            }
        }
        self.front.waited(wait, self.checked.config.timeouts.front);
        self.on_time(Instant::now());
        Ok(())
    }

    /// Waits for the next event or deadline. Returns the sources that are ready, and how long the master waited.
    fn wait(&self) -> anyhow::Result<(Vec<Source>, Wait)> {
        let watched = self.watched();
        let mut fds: Vec<PollFd> = watched.iter().map(|(_, fd, flags)| PollFd::new(*fd, *flags)).collect();
        let began = Instant::now();
        let planned = self.next_deadline(began).map(|next| next.saturating_duration_since(began));
        // poll counts whole milliseconds. A timeout rounded down would end just before the deadline, again and again.
        let rounded = planned.map(|wait| wait + Duration::from_millis(1));
        let timeout = rounded.map_or(PollTimeout::NONE, |wait| PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX));
        let polled = poll(&mut fds, timeout);
        let actual = began.elapsed();
        let wait = Wait { planned: planned.unwrap_or(actual), actual };
        match polled {
            Err(Errno::EINTR) => return Ok((Vec::new(), wait)),
            result => result?,
        };
        let ready = watched.iter().zip(&fds).filter(|(_, fd)| fd.any().unwrap_or(true));
        Ok((ready.map(|((source, ..), _)| *source).collect(), wait))
    }

    fn watched(&self) -> Vec<(Source, BorrowedFd<'_>, PollFlags)> {
        let read = PollFlags::POLLIN;
        let mut watched =
            vec![(Source::Signals, self.signals.as_fd(), read), (Source::NewClient, self.control.as_fd(), read)];
        let clients = self.control.clients();
        watched.extend(clients.map(|(client, fd, unsent)| (Source::Client(client), fd, flags(unsent))));
        let children = &self.children;
        watched.extend(children.front.iter().filter_map(|front| watch(Source::Front, &front.peer)));
        watched.extend(self.next.expansion().and_then(|it| watch(Source::Expander, &it.child.peer)));
        watched.extend(self.certificates.as_fd().map(|fd| (Source::Certificates, fd, read)));
        watched.extend(children.molds().filter_map(|(id, mold)| watch(Source::Mold(id), &mold.peer)));
        watched.extend(children.candidate.iter().filter_map(|peer| watch(Source::Candidate, peer)));
        watched.extend(children.sampler.iter().filter_map(|sampler| watch(Source::Sampler, &sampler.peer)));
        watched.extend(children.profiler.iter().filter_map(|profiler| watch(Source::Profiler, &profiler.peer)));
        watched.extend(children.monitor.iter().filter_map(|monitor| watch(Source::Monitor, &monitor.peer)));
        watched.extend(children.acme.iter().filter_map(|acme| watch(Source::Acme, &acme.peer)));
        watched.extend(self.running_checks.iter().map(|one| (Source::Check(one.number), one.done.as_fd(), read)));
        watched.extend(self.inspections.watched().map(|(asker, done)| (Source::Inspected(asker), done, read)));
        watched
    }

    fn next_deadline(&self, now: Instant) -> Option<Instant> {
        let deadlines = [
            self.announcer.wakes(),
            self.next_front_check(now),
            self.stop.wakes(),
            self.workers.leave_by(),
            self.next.expansion().map(|expansion| expansion.by),
            self.inspections.wakes(),
            self.exits.wakes(),
            self.logs.wakes(now),
            self.front_requests.wakes(),
            self.pools_wake(now),
        ];
        let while_running = if self.stop.is_under_way() { Vec::new() } else { self.deadlines_while_running(now) };
        deadlines.into_iter().chain(while_running).flatten().min()
    }

    fn deadlines_while_running(&self, now: Instant) -> Vec<Option<Instant>> {
        vec![
            self.generations.wakes(now),
            self.starts_wake(now),
            self.certificates.due(),
            self.refork.wakes(),
            self.sampling_wakes(),
            self.profiler.wakes(self.slow_after().is_some()),
            self.limits_wake(now),
            self.monitor_wakes(),
            self.acme_wakes(now),
            self.prepared_wakes(),
            self.drain.wakes(),
            self.checks_wake(),
            self.preloads.wakes(),
        ]
    }

    fn on_time(&mut self, now: Instant) {
        self.announcer.beat(now);
        self.supervise_front(now);
        self.end_unreachable();
        let actions = self.stop.tick(now);
        self.do_stop(actions);
        self.end_late_to_leave(now);
        self.enforce_expansion(now);
        self.enforce_inspections(now);
        self.settle_exits(now);
        if !self.stop.is_under_way() {
            self.on_time_while_running(now);
        }
        for failure in self.logs.restart(now) {
            log::error("master", format_args!("{failure:#}"));
        }
        if self.front_requests.is_status_due(now) {
            self.answer_status(None);
        }
    }

    fn on_time_while_running(&mut self, now: Instant) {
        self.enforce_deadlines(now);
        self.end_stopped_molds(now);
        self.restart_mold(now);
        self.renew_certificates(now);
        let late = self.refork.tick(now);
        self.do_refork(late);
        self.sample(now);
        self.profile(now);
        self.request_front_status(now);
        self.keep_limits(now);
        self.run_monitor(now);
        self.run_acme(now);
        self.end_prepared(now);
        self.end_drain(now);
        self.run_checks(now);
        self.survey_when_due(now);
        if self.pools_wake(now).is_some_and(|at| at <= now) {
            self.tend();
        }
    }
}

fn flags(unsent: bool) -> PollFlags {
    if unsent { PollFlags::POLLIN | PollFlags::POLLOUT } else { PollFlags::POLLIN }
}

/// A channel that the peer has closed is not polled, because it would always be readable; its process is reaped.
fn watch<Out: serde::Serialize, In: serde::de::DeserializeOwned>(
    source: Source,
    peer: &Peer<Out, In>,
) -> Option<(Source, BorrowedFd<'_>, PollFlags)> {
    (!peer.is_gone()).then(|| (source, peer.as_fd(), flags(peer.has_unsent())))
}
