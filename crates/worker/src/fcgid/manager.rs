//! The parent of all FastCGI programs of a generation: `cameleer: fcgid`. It starts programs for leases, and ends those
//! that are idle, old or outdated. It ends when nobody can ask any more.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::mkdtemp;
use wire::channel::{Channel, try_receive_packet};
use wire::fcgid::{FromManager, ProgramSpec, ToManager};

use super::policy::{ProcessChoice, choose, is_idle_too_long, is_worn};
use super::process::{FcgidProcess, stamp};
use super::show::Shown;
use super::spec::StandingProgram;
use super::standing::{PAUSE as BACK_OFF, StandingStarts};
use crate::program::kind::cannot_execute;
use base::log;

/// Interval of checks for idle processes.
const TICK: Duration = Duration::from_secs(1);
/// Pause after a lease that could not be accepted.
const PAUSE: Duration = Duration::from_millis(50);

/// The manager's state.
struct Manager {
    asks: OwnedFd,
    folder: PathBuf,
    no_input: File,
    leases: BTreeMap<u64, Lease>,
    processes: Vec<FcgidProcess>,
    /// Programs of `FastCgiServer`.
    standing: Vec<(Rc<ProgramSpec>, StandingStarts)>,
    /// Numbers leases and sockets.
    next: u64,
    title: String,
    shown: Shown,
}

struct Lease {
    channel: Channel<FromManager, ToManager>,
    /// The wanted program, until there is a process for it.
    wanted: Option<Rc<ProgramSpec>>,
    /// Whether the process must have answered no request.
    is_fresh: bool,
    /// Method and path of the request.
    request: String,
}

#[derive(Default)]
struct Ready {
    asks: bool,
    leases: Vec<u64>,
    processes: Vec<usize>,
}

/// Manages programs until all other ends of `asks` are closed, and starts those of `FastCgiServer`. Sockets are in a
/// private folder within `above`; the state is written to `board`.
///
/// # Errors
/// If the folder cannot be made, or descriptors cannot be watched.
pub fn run(asks: OwnedFd, above: &Path, board: OwnedFd, standing: &[StandingProgram]) -> io::Result<()> {
    libperl::set_title("cameleer: fcgid");
    let folder = mkdtemp(&above.join("cameleer-fcgid-XXXXXX"))?;
    let no_input = File::open("/dev/null")?;
    sys::replace(std::os::fd::AsRawFd::as_raw_fd(&no_input), 0)?;
    let (leases, processes) = (BTreeMap::new(), Vec::new());
    let (title, shown) = (String::new(), Shown::on(board));
    let now = Instant::now();
    let standing = standing.iter().map(|it| (it.spec.clone(), StandingStarts::new(&it.server, now))).collect();
    let mut manager = Manager { asks, folder, no_input, leases, processes, standing, next: 0, title, shown };
    let ended = manager.serve();
    manager.stop_all();
    let _ = std::fs::remove_dir_all(&manager.folder);
    ended
}

impl Manager {
    fn serve(&mut self) -> io::Result<()> {
        loop {
            self.start_standing();
            let ready = self.wait(self.next_check())?;
            if ready.asks && !self.accept() {
                return Ok(());
            }
            ready.leases.into_iter().for_each(|lease| self.hear(lease));
            ready.processes.into_iter().rev().for_each(|at| self.reap(at));
            self.end_some();
            self.serve_leases();
            self.show();
        }
    }

    /// Time until processes must be looked at, or the board be written; `None` while there is nothing to do.
    fn next_check(&self) -> Option<Duration> {
        let due = self.standing.iter().filter_map(|(spec, starts)| starts.due(self.running(spec))).min();
        let until_due = due.map(|due| due.saturating_duration_since(Instant::now()));
        let tick = (!self.processes.is_empty() || self.shown.is_behind).then_some(TICK);
        until_due.into_iter().chain(tick).min()
    }

    /// Number of processes of a program in its current version.
    fn running(&self, spec: &ProgramSpec) -> usize {
        let current = stamp(spec);
        let states = self.processes.iter().map(|process| process.state(spec, current));
        states.filter(|it| it.is_of_class && !it.is_ending).count()
    }

    /// Starts one process of each program of `FastCgiServer` that lacks some.
    fn start_standing(&mut self) {
        for at in 0..self.standing.len() {
            let Some((spec, starts)) = self.standing.get(at) else { return };
            let spec = spec.clone();
            if starts.due(self.running(&spec)).is_none_or(|due| due > Instant::now()) {
                continue;
            }
            if let Err(error) = self.launch(&spec) {
                log::error("fcgid", format_args!("FastCgiServer: {}", cannot_execute(&spec.file, &error)));
                self.standing_ended(&spec, Duration::ZERO, 0);
            }
        }
    }

    /// The starts of a program of `FastCgiServer`.
    fn starts_of(&mut self, spec: &ProgramSpec) -> Option<&mut StandingStarts> {
        self.standing.iter_mut().find(|(known, _)| **known == *spec).map(|(_, starts)| starts)
    }

    /// Delays the next start of a program of `FastCgiServer` whose process has ended by itself, or did not start.
    fn standing_ended(&mut self, spec: &ProgramSpec, age: Duration, answered: u64) {
        let Some(starts) = self.starts_of(spec) else { return };
        if starts.has_ended(age, answered, Instant::now()) {
            let (file, time) = (spec.file.display(), BACK_OFF.as_secs());
            log::error(
                "fcgid",
                format_args!(
                    "{file}: FastCgiServer: processes end before they answer a request; the next one starts in {time} s; \
                     correct the program, whose messages are in this log, and reload"
                ),
            );
        }
    }

    fn wait(&self, time: Option<Duration>) -> io::Result<Ready> {
        let watched: Vec<BorrowedFd<'_>> = std::iter::once(self.asks.as_fd())
            .chain(self.leases.values().map(|lease| lease.channel.as_fd()))
            .chain(self.processes.iter().map(FcgidProcess::end))
            .collect();
        let mut fds: Vec<PollFd<'_>> = watched.iter().map(|fd| PollFd::new(*fd, PollFlags::POLLIN)).collect();
        let time = time.map_or(PollTimeout::NONE, |time| PollTimeout::try_from(time).unwrap_or(PollTimeout::ZERO));
        match poll(&mut fds, time) {
            Err(Errno::EINTR) => return Ok(Ready::default()),
            other => other?,
        };
        let mut is_ready = fds.iter().map(|fd| fd.any().unwrap_or(true));
        let asks = is_ready.next().unwrap_or(false);
        let leases = self.leases.keys().zip(is_ready.by_ref()).filter(|(_, ready)| *ready).map(|(lease, _)| *lease);
        let leases = leases.collect();
        let processes = is_ready.enumerate().filter(|(_, ready)| *ready).map(|(at, _)| at).collect();
        Ok(Ready { asks, leases, processes })
    }

    /// Accepts leases. False when nobody can ask any more. A lack of descriptors or memory passes: the worker whose
    /// lease is lost gets an error.
    fn accept(&mut self) -> bool {
        loop {
            let (mut fds, mut mark) = (Vec::new(), [0; 1]);
            match try_receive_packet(self.asks.as_fd(), &mut mark, &mut fds) {
                Ok(None) => return false,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return true,
                Err(error) => {
                    log::warn("fcgid", format_args!("cannot accept a request for a FastCGI program: {error}"));
                    sleep(PAUSE);
                    return true;
                }
                Ok(Some(_)) => {
                    for channel in fds {
                        self.next += 1;
                        let channel = Channel::new(channel);
                        self.leases.insert(
                            self.next,
                            Lease { channel, wanted: None, is_fresh: false, request: String::new() },
                        );
                    }
                }
            }
        }
    }

    fn hear(&mut self, number: u64) {
        let Some(lease) = self.leases.get_mut(&number) else { return };
        match lease.channel.receive() {
            Ok(Some((ToManager::Lease { spec, is_fresh, request }, _))) => {
                (lease.wanted, lease.is_fresh, lease.request) = (Some(Rc::new(*spec)), is_fresh, request);
            }
            Ok(Some((ToManager::Done { reusable }, _))) => self.end_lease(number, reusable),
            Ok(None) | Err(_) => self.end_lease(number, false),
        }
    }

    fn end_lease(&mut self, number: u64, reusable: bool) {
        self.leases.remove(&number);
        let now = Instant::now();
        let Some(process) = self.processes.iter_mut().find(|it| it.lease == Some(number)) else { return };
        process.is_free(now);
        if reusable {
            self.shown.answered(&process.spec);
        }
        let (spec, current) = (process.spec.clone(), stamp(&process.spec));
        let state = process.state(&spec, current);
        if !reusable || !state.is_of_class || is_worn(&state, &spec, now) {
            process.stop(now);
        }
        if let Some(starts) = self.starts_of(&spec).filter(|_| reusable) {
            starts.has_answered();
        }
    }

    fn reap(&mut self, at: usize) {
        let Some(how) = self.processes.get(at).and_then(FcgidProcess::reap) else { return };
        let process = self.processes.swap_remove(at);
        let (file, pid) = (process.spec.file.display(), process.pid);
        let message = format_args!("{file}: FastCGI program with pid {pid} {how} after {} requests", process.requests);
        match process.is_ending() {
            true => log::info("fcgid", message),
            false => {
                log::warn("fcgid", message);
                self.shown.failed(&process.spec);
                let (spec, age) = (process.spec.clone(), process.age(Instant::now()));
                // A request that ends processes must not lead to a pause.
                let answered = process.requests + u64::from(process.lease.is_some());
                self.standing_ended(&spec, age, answered);
            }
        }
    }

    /// Ends idle processes that are idle for too long, too old, or whose file has changed, and kills those that do not
    /// end.
    fn end_some(&mut self) {
        let now = Instant::now();
        let mut remaining: Vec<Rc<ProgramSpec>> = Vec::new();
        let running = |it: &&FcgidProcess| !it.is_ending();
        remaining.extend(self.processes.iter().filter(running).map(|it| it.spec.clone()));
        for process in &mut self.processes {
            process.kill_if_due(now);
            let spec = process.spec.clone();
            let others = remaining.iter().filter(|it| **it == spec).count().saturating_sub(1);
            let state = process.state(&spec, None);
            let is_idle = !state.is_busy && !state.is_ending;
            let is_over = is_idle && (process.is_outdated() || is_worn(&state, &spec, now));
            if is_over || is_idle_too_long(&state, &spec, others, now) {
                process.stop(now);
                if let Some(at) = remaining.iter().position(|it| *it == spec) {
                    remaining.swap_remove(at);
                }
            }
        }
    }

    fn serve_leases(&mut self) {
        let waiting =
            self.leases.iter().filter_map(|(number, lease)| Some((*number, lease.wanted.clone()?, lease.is_fresh)));
        for (number, spec, is_fresh) in waiting.collect::<Vec<_>>() {
            let current = stamp(&spec);
            let states: Vec<_> = self.processes.iter().map(|process| process.state(&spec, current)).collect();
            match choose(&states, &spec, is_fresh) {
                ProcessChoice::Use(at) => self.grant(number, at),
                ProcessChoice::Start => self.start(number, &spec),
                ProcessChoice::Replace(at) => {
                    self.processes.get_mut(at).into_iter().for_each(|process| process.stop(Instant::now()));
                }
                ProcessChoice::Wait => {}
            }
        }
    }

    /// Starts a process for a lease. The starts of a program of `FastCgiServer` have delays, which the lease waits for.
    fn start(&mut self, number: u64, spec: &Rc<ProgramSpec>) {
        let (now, has_process) = (Instant::now(), self.running(spec) > 0);
        if let Some(starts) = self.starts_of(spec) {
            if starts.is_paused(now) && !has_process {
                let error = format!("{}: FastCgiServer: no process runs, because all end at once", spec.file.display());
                self.fail(number, &FromManager::Failed { number: 0, error });
                return;
            }
            if starts.due(0).is_some_and(|due| due > now) {
                return;
            }
        }
        match self.launch(spec) {
            Ok(at) => self.grant(number, at),
            Err(error) => {
                self.standing_ended(spec, Duration::ZERO, 0);
                let failed = FromManager::Failed {
                    number: error.raw_os_error().unwrap_or(0),
                    error: cannot_execute(&spec.file, &error),
                };
                self.fail(number, &failed);
            }
        }
    }

    fn fail(&mut self, number: u64, failed: &FromManager) {
        self.answer(number, failed);
        self.leases.remove(&number);
    }

    /// Starts a process. Returns its index.
    fn launch(&mut self, spec: &Rc<ProgramSpec>) -> io::Result<usize> {
        self.next += 1;
        let socket = self.folder.join(self.next.to_string());
        let process = FcgidProcess::start(spec.clone(), socket, self.no_input.as_fd())?;
        let (file, pid) = (spec.file.display(), process.pid);
        log::info("fcgid", format_args!("{file}: FastCGI program started with pid {pid}"));
        self.shown.started(spec);
        if let Some(starts) = self.starts_of(spec) {
            starts.has_started(Instant::now());
        }
        self.processes.push(process);
        Ok(self.processes.len() - 1)
    }

    fn grant(&mut self, number: u64, at: usize) {
        let Some(process) = self.processes.get_mut(at) else { return };
        process.lease = Some(number);
        let request = self.leases.get(&number).map(|lease| lease.request.clone()).unwrap_or_default();
        process.current = Some((Instant::now(), request));
        let (socket, pid) = (process.socket.clone(), process.pid.as_raw());
        let leased = FromManager::Leased { socket, pid, is_used: process.requests > 0 };
        self.answer(number, &leased);
    }

    /// Sends an answer. A worker that has gone is noticed by its closed channel.
    fn answer(&mut self, number: u64, message: &FromManager) {
        if let Some(lease) = self.leases.get_mut(&number) {
            lease.wanted = None;
            let _ = lease.channel.send(message, &[]);
        }
    }

    /// Shows the number of processes in the process list, and all of them on the board.
    fn show(&mut self) {
        let waiting = self.leases.values().filter_map(|lease| lease.wanted.as_deref());
        self.shown.show(&self.processes, waiting, Instant::now());
        let busy = self.processes.iter().filter(|process| process.lease.is_some()).count();
        let title = format!("cameleer: fcgid ({} programs, {busy} busy)", self.processes.len());
        if title != self.title {
            libperl::set_title(&title);
            self.title = title;
        }
    }

    fn stop_all(&mut self) {
        self.leases.clear();
        let now = Instant::now();
        self.processes.iter_mut().for_each(|process| process.stop(now));
        while !self.processes.is_empty() {
            let now = Instant::now();
            let due = self.processes.iter().filter_map(|process| process.kill_if_due(now)).min().unwrap_or(now);
            let time = due.saturating_duration_since(now).max(Duration::from_millis(10));
            let handles: Vec<BorrowedFd<'_>> = self.processes.iter().map(FcgidProcess::end).collect();
            let mut fds: Vec<_> = handles.iter().map(|fd| PollFd::new(*fd, PollFlags::POLLIN)).collect();
            let _ = poll(&mut fds, PollTimeout::try_from(time).unwrap_or(PollTimeout::ZERO));
            for at in (0..self.processes.len()).rev() {
                self.reap(at);
            }
        }
    }
}
