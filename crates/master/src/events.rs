//! One turn of the loop: wait, hear who has something to say, do what is due.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use wire::control::Exit;

use super::children::MoldId;
use super::children::peer::Peer;
use super::signals::Request;
use super::sockets::control_socket::{Client, Command, How};
use super::{Detail, Master};
use base::log;

/// So many messages of one child are heard before the others have their turn.
const A_TURN: usize = 64;
/// More than a socket holds: all that a child has said before it ended. Its socket may have another holder who talks on.
const ALL_LEFT: usize = 8192;

/// Who has something to say.
#[derive(Debug, Clone, Copy)]
enum Source {
    Signals,
    NewClient,
    Client(Client),
    Front,
    Mold(MoldId),
    Expander,
    /// A worker that is to become a mold.
    Candidate,
    /// What measures memory.
    Sampler,
    /// What reads stacks.
    Profiler,
    /// What shows the server.
    Monitor,
    /// Processes have told about themselves.
    Told(Option<Client>),
    Certificates,
}

impl Master {
    /// Waits until something happens or is due, and does it.
    pub(super) fn turn(&mut self) -> anyhow::Result<()> {
        for source in self.wait()? {
            match source {
                Source::Signals => self.obey_signals(),
                Source::NewClient => self.control.accept(),
                Source::Client(client) => self.serve_client(client),
                Source::Front => self.listen_to_front(A_TURN),
                Source::Mold(mold) => self.listen_to_mold(mold, A_TURN),
                Source::Candidate => self.listen_to_candidate(),
                Source::Expander => self.listen_to_expander(),
                Source::Sampler => self.listen_to_sampler(),
                Source::Profiler => self.listen_to_profiler(),
                Source::Monitor => self.listen_to_monitor(),
                Source::Told(client) => self.answer_inspection(client),
                Source::Certificates => self.certificates_stir(),
            }
        }
        self.on_time(Instant::now());
        Ok(())
    }

    fn wait(&self) -> anyhow::Result<Vec<Source>> {
        let watched = self.watched();
        let mut fds: Vec<PollFd> = watched.iter().map(|(_, fd, flags)| PollFd::new(*fd, *flags)).collect();
        match poll(&mut fds, self.timeout(Instant::now())) {
            Err(Errno::EINTR) => return Ok(Vec::new()),
            result => result?,
        };
        let ready = watched.iter().zip(&fds).filter(|(_, fd)| fd.any().unwrap_or(true));
        Ok(ready.map(|((source, ..), _)| *source).collect())
    }

    fn watched(&self) -> Vec<(Source, BorrowedFd<'_>, PollFlags)> {
        let read = PollFlags::POLLIN;
        let mut watched =
            vec![(Source::Signals, self.signals.as_fd(), read), (Source::NewClient, self.control.as_fd(), read)];
        let clients = self.control.clients();
        watched.extend(clients.map(|(client, fd, unsent)| (Source::Client(client), fd, flags(unsent))));
        if let Some(front) = &self.front {
            watched.extend(watch(Source::Front, &front.peer));
        }
        if let Some(expansion) = &self.expansion {
            watched.extend(watch(Source::Expander, &expansion.child.peer));
        }
        watched.extend(self.certificates.as_fd().map(|fd| (Source::Certificates, fd, read)));
        watched.extend(self.molds().filter_map(|(id, mold)| watch(Source::Mold(id), &mold.peer)));
        watched.extend(self.refork.candidate_peer().and_then(|peer| watch(Source::Candidate, peer)));
        watched.extend(self.budget.sampler_peer().and_then(|peer| watch(Source::Sampler, peer)));
        watched.extend(self.profiling.peer().and_then(|peer| watch(Source::Profiler, peer)));
        watched.extend(self.monitor.peer().and_then(|peer| watch(Source::Monitor, peer)));
        watched.extend(self.inspections().map(|(client, told)| (Source::Told(client), told, read)));
        watched
    }

    fn timeout(&self, now: Instant) -> PollTimeout {
        let deadlines = [
            self.generations_wake(now),
            self.front_wakes(now),
            self.watchdog_wakes(),
            self.pool_wakes(now),
            self.stop_wakes(),
            self.logs.wakes(now),
            self.notify.wakes(),
            self.workers.expels(),
            self.status_by,
            self.certificates.due(),
            self.expansion.as_ref().map(|expansion| expansion.by),
            self.refork.wakes(),
            self.inspections_wake(),
            self.sampling_wakes(),
            self.profiling_wakes(),
            self.limits_wake(),
            self.exits_settle(),
            self.monitors(),
        ];
        let Some(next) = deadlines.into_iter().flatten().min() else { return PollTimeout::NONE };
        // poll counts in whole milliseconds; rounded down it would return just before the deadline, again and again.
        let wait = next.saturating_duration_since(now) + Duration::from_millis(1);
        PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX)
    }

    fn on_time(&mut self, now: Instant) {
        self.notify.beat(now);
        self.watch_front(now);
        self.end_unheard();
        self.enforce_stop(now);
        self.workers.expel(now);
        self.enforce_expansion(now);
        self.enforce_inspections(now);
        self.settle_exits(now);
        if self.stop.is_none() {
            self.enforce_deadlines(now);
            self.end_stopped_molds(now);
            self.restart_mold(now);
            self.restart_front(now);
            self.renew_certificates(now);
            self.enforce_refork(now);
            self.sample(now);
            self.profile(now);
            self.ask_front(now);
            self.keep_limits(now);
            self.keep_monitor(now);
            if self.pool_wakes(now).is_some_and(|at| at <= now) {
                self.tend();
            }
        }
        for failure in self.logs.restart(now) {
            log::error("master", format_args!("{failure:#}"));
        }
        if self.status_by.is_some_and(|by| by <= now) {
            self.answer_status(None);
        }
    }

    fn obey_signals(&mut self) {
        while let Some(request) = self.signals.next() {
            match request {
                Request::Reap => self.reap(),
                Request::StopGracefully => self.ask_stop(How::Graceful),
                Request::StopFast => self.ask_stop(How::Fast),
                Request::Reload => self.ask_reload(None),
                Request::ReopenLogs => self.reopen_logs(),
                Request::OneMore => self.shift_pool(1),
                Request::OneFewer => self.shift_pool(-1),
                Request::Refork => self.ask_refork(None),
                Request::Nothing => log::notice("master", "USR2 has no meaning here; HUP reloads"),
            }
        }
    }

    fn serve_client(&mut self, client: Client) {
        for command in self.control.serve(client) {
            match command {
                Command::Status => self.ask_status(client, Detail::Shown),
                Command::Snapshot => self.ask_status(client, Detail::Counted),
                Command::Recycle { worker } => self.recycle(client, worker),
                Command::Reload => self.ask_reload(Some(client)),
                Command::Inspect { what } => self.ask_inspection(client, what),
                Command::Record { seconds, hertz } => self.ask_record(client, seconds, hertz),
                Command::SlowRequests => self.ask_slow_requests(client),
                Command::Look { worker } => self.ask_look(client, worker),
                Command::Weigh { code } => self.ask_weigh(client, code),
                Command::Refork => self.ask_refork(Some(client)),
                Command::Reopen => {
                    self.reopen_logs();
                    self.tell(Some(client), &super::ControlReply::ok());
                }
                Command::Size { workers, busy } => {
                    self.size_pool(workers, busy);
                    self.tell(Some(client), &super::ControlReply::ok());
                }
                Command::Purge { url } => self.ask_purge(client, url),
                Command::Stop { how } => {
                    self.tell(Some(client), &super::ControlReply::ok());
                    self.ask_stop(how);
                }
            }
        }
    }

    fn listen_to_front(&mut self, most: usize) {
        for _ in 0..most {
            let Some(front) = &mut self.front else { return };
            front.peer.flush();
            match front.peer.receive() {
                Ok(Some(message)) => self.hear_front(message),
                Ok(None) => return,
                Err(error) => {
                    log::error("master", format_args!("front pid={} talks nonsense and is killed: {error}", front.pid));
                    return front.kill();
                }
            }
        }
    }

    fn listen_to_mold(&mut self, id: MoldId, most: usize) {
        for _ in 0..most {
            let Some(mold) = self.mold(id) else { return };
            mold.peer.flush();
            match mold.peer.receive() {
                Ok(Some(message)) => self.hear_mold(id, message),
                Ok(None) => return,
                Err(error) => {
                    log::error("master", format_args!("mold pid={} talks nonsense and is killed: {error}", mold.pid));
                    return mold.kill();
                }
            }
        }
    }

    /// Our own children, and workers and others whose parent went before them.
    fn reap(&mut self) {
        while let Ok(status) = waitpid(None, Some(WaitPidFlag::WNOHANG | WaitPidFlag::WUNTRACED)) {
            match status {
                WaitStatus::Exited(pid, code) => self.ended(pid, Exit::Code(code)),
                WaitStatus::Signaled(pid, signal, _) => self.ended(pid, Exit::Signal(signal as i32)),
                WaitStatus::Stopped(pid, _) => self.child_stopped(pid),
                WaitStatus::StillAlive => return,
                _ => {}
            }
        }
    }

    /// Whether it is a child of ours that is no worker.
    pub(super) fn has_started(&self, pid: Pid) -> bool {
        let front = self.front.iter().map(|front| front.pid);
        let expander = self.expansion.iter().map(|expansion| expansion.child.pid);
        let molds = self.molds().map(|(_, mold)| mold.pid);
        let tools = [self.budget.sampler_pid(), self.profiling.pid(), self.monitor.pid()].into_iter().flatten();
        front.chain(expander).chain(tools).chain(molds).any(|ours| ours == pid) || self.logs.has_started(pid)
    }

    fn ended(&mut self, pid: Pid, exit: Exit) {
        if self.front.as_ref().is_some_and(|front| front.pid == pid) {
            self.listen_to_front(ALL_LEFT);
            return self.front_ended(exit);
        }
        if self.expansion.as_ref().is_some_and(|expansion| expansion.child.pid == pid) {
            return self.expander_ended();
        }
        if self.budget.sampler_pid() == Some(pid) {
            return self.sampler_ended();
        }
        if self.profiling.pid() == Some(pid) {
            return self.profiler_ended();
        }
        if self.monitor.pid() == Some(pid) {
            return self.monitor_ended();
        }
        if let Some(mold) = self.mold_of(pid) {
            self.listen_to_mold(mold, ALL_LEFT);
            return self.mold_ended(mold, exit);
        }
        if let Some(slot) = self.workers.slot_of(pid) {
            return self.worker_ended(slot, exit);
        }
        if self.logs.reap(pid, Instant::now()) {
            log::error("master", format_args!("piped log pid={pid} ended {exit}; it is started again"));
        }
    }
}

fn flags(unsent: bool) -> PollFlags {
    if unsent { PollFlags::POLLIN | PollFlags::POLLOUT } else { PollFlags::POLLIN }
}

/// A side that has closed its end is reaped, not polled: it would be ready for ever.
fn watch<Out: serde::Serialize, In: serde::de::DeserializeOwned>(
    source: Source,
    peer: &Peer<Out, In>,
) -> Option<(Source, BorrowedFd<'_>, PollFlags)> {
    (!peer.is_gone()).then(|| (source, peer.as_fd(), flags(peer.has_unsent())))
}
