//! The master's child processes: started from this binary with a role, reached over a control channel, killed.

pub mod handles;
pub mod peer;
pub mod process;

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use wire::control::{FromExpander, FromFront, FromMold, PoolId, ToExpander, ToFront, ToMold};

use self::handles::Handles;
use self::peer::Peer;
use machine::sampler::{Sampled, ToSampler};
use profiler::{FromProfiler, ToProfiler};
use status::monitor::ToMonitor;
use tls::acme::{FromAcme, ToAcme};

/// The role of a process that the master starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Serves clients.
    Front,
    /// Loads the site's Perl and forks workers.
    Mold,
    /// Runs the Perl of the configuration.
    Expander,
    /// Measures memory.
    Sampler,
    /// Reads stacks.
    Profiler,
    /// The monitor for administrators.
    Monitor,
    /// Gets certificates from authorities.
    Acme,
}

impl Role {
    /// The hidden subcommand; `ps` shows `cameleer: front`.
    fn argument(self) -> &'static str {
        match self {
            Role::Front => "front",
            Role::Mold => "mold",
            Role::Expander => "expander",
            Role::Sampler => "sampler",
            Role::Profiler => "profiler",
            Role::Monitor => "monitor",
            Role::Acme => "acme",
        }
    }
}

/// Variables that systemd and Server::Starter set for the master only.
const OURS_ALONE: [&str; 8] = [
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
    "NOTIFY_SOCKET",
    "WATCHDOG_USEC",
    "WATCHDOG_PID",
    "SERVER_STARTER_PORT",
    "SERVER_STARTER_GENERATION",
];

/// Time for END blocks to run.
const LEAVE: Duration = Duration::from_secs(2);

/// A child of the master that receives messages `Out` and sends messages `In`.
#[derive(Debug)]
pub struct ChildProcess<Out, In> {
    /// The process; its number is not reused before the master has reaped it.
    pub pid: Pid,
    /// The control channel to the process.
    pub peer: Peer<Out, In>,
}

/// The process that serves clients.
pub type Front = ChildProcess<ToFront, FromFront>;
/// A process that has loaded the code of a pool and forks its workers.
pub type Mold = ChildProcess<ToMold, FromMold>;

/// Number of promotions between a mold and the mold that has loaded the code, which has 0.
pub type ReforkNumber = u32;

/// Identifies a mold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoldId {
    /// The pool whose code the mold has loaded.
    pub pool: PoolId,
    /// The mold's number within the pool.
    pub refork: ReforkNumber,
}

/// The process that measures the memory of the others.
pub type Sampler = ChildProcess<ToSampler, Sampled>;

/// The process that reads the stacks of workers.
pub type Profiler = ChildProcess<ToProfiler, FromProfiler>;

/// The monitor, which sends nothing.
pub type Monitor = ChildProcess<ToMonitor, ()>;

/// The process that gets certificates from authorities.
pub type Acme = ChildProcess<ToAcme, FromAcme>;

/// The process that runs the Perl code of a configuration.
pub type Expander = ChildProcess<ToExpander, FromExpander>;

#[derive(Debug, Default)]
pub struct Children {
    /// `None` between the end of a front and the start of the next one.
    pub front: Option<Front>,
    /// The channel to a worker that is to become a mold.
    pub candidate: Option<Peer<ToMold, FromMold>>,
    /// Runs with a `MemoryBudget` or a memory limit.
    pub sampler: Option<Sampler>,
    /// Runs from the first profile or `SlowLog` on.
    pub profiler: Option<Profiler>,
    /// Runs with `AdminListen` or `HistoryFile`.
    pub monitor: Option<Monitor>,
    /// Runs while certificates are requested.
    pub acme: Option<Acme>,
    /// The workers, which are children of their molds.
    pub workers: Handles,
    molds: Vec<(MoldId, Mold)>,
    /// Boards with the FastCGI programs of molds.
    boards: Vec<(MoldId, File)>,
}

impl Children {
    pub fn add_mold(&mut self, id: MoldId, mold: Mold) {
        self.molds.push((id, mold));
    }

    pub fn remove_mold(&mut self, id: MoldId) {
        self.molds.retain(|(known, _)| *known != id);
        self.boards.retain(|(known, _)| *known != id);
    }

    /// Adds the board on which the FastCGI programs of a mold are shown.
    pub fn add_board(&mut self, id: MoldId, board: File) {
        self.boards.push((id, board));
    }

    /// The boards with FastCGI programs.
    pub fn boards(&self) -> impl Iterator<Item = (MoldId, &File)> {
        self.boards.iter().map(|(id, board)| (*id, board))
    }

    pub fn mold(&mut self, id: MoldId) -> Option<&mut Mold> {
        self.molds.iter_mut().find(|(known, _)| *known == id).map(|(_, mold)| mold)
    }

    /// Finds the mold with this process id.
    pub fn mold_of(&self, pid: Pid) -> Option<MoldId> {
        self.molds.iter().find(|(_, mold)| mold.pid == pid).map(|(id, _)| *id)
    }

    pub fn molds(&self) -> impl Iterator<Item = (MoldId, &Mold)> {
        self.molds.iter().map(|(id, mold)| (*id, mold))
    }

    /// The processes of all children.
    pub fn pids(&self) -> impl Iterator<Item = Pid> {
        let front = self.front.iter().map(|front| front.pid);
        let sampler = self.sampler.iter().map(|sampler| sampler.pid);
        let profiler = self.profiler.iter().map(|profiler| profiler.pid);
        let monitor = self.monitor.iter().map(|monitor| monitor.pid);
        let acme = self.acme.iter().map(|acme| acme.pid);
        front.chain(sampler).chain(profiler).chain(monitor).chain(acme).chain(self.molds().map(|(_, mold)| mold.pid))
    }

    /// Continues stopped processes: a stopped process can neither finish requests nor leave.
    pub fn resume(&self) {
        self.front.iter().for_each(ChildProcess::resume);
        self.molds().for_each(|(_, mold)| mold.resume());
        self.workers.resume_all();
    }
}

pub fn start_front(error_log: &OwnedFd) -> io::Result<Front> {
    let (pid, ours) = start(Role::Front, error_log, &[])?;
    Ok(ChildProcess { pid, peer: Peer::new(ours)? })
}

/// Starts a mold in the environment `env`; its first message must be `Configure`.
pub fn start_mold(error_log: &OwnedFd, env: &[(String, String)]) -> io::Result<Mold> {
    let (pid, ours) = start(Role::Mold, error_log, env)?;
    Ok(ChildProcess { pid, peer: Peer::new(ours)? })
}

/// Starts an expander in the environment `env`; its first message must be `Expand`.
pub fn start_expander(error_log: &OwnedFd, env: &[(String, String)]) -> io::Result<Expander> {
    let (pid, ours) = start(Role::Expander, error_log, env)?;
    Ok(ChildProcess { pid, peer: Peer::new(ours)? })
}

pub fn start_sampler(error_log: &OwnedFd) -> io::Result<Sampler> {
    let (pid, ours) = start(Role::Sampler, error_log, &[])?;
    Ok(ChildProcess { pid, peer: Peer::new(ours)? })
}

pub fn start_profiler(error_log: &OwnedFd) -> io::Result<Profiler> {
    let (pid, ours) = start(Role::Profiler, error_log, &[])?;
    Ok(ChildProcess { pid, peer: Peer::new(ours)? })
}

/// Starts the monitor; its first message must be `Configure`.
pub fn start_monitor(error_log: &OwnedFd) -> io::Result<Monitor> {
    let (pid, ours) = start(Role::Monitor, error_log, &[])?;
    Ok(ChildProcess { pid, peer: Peer::new(ours)? })
}

/// Starts the process that gets certificates; its first message must be `Work`.
pub fn start_acme(error_log: &OwnedFd) -> io::Result<Acme> {
    let (pid, ours) = start(Role::Acme, error_log, &[])?;
    Ok(ChildProcess { pid, peer: Peer::new(ours)? })
}

fn start(role: Role, error_log: &OwnedFd, env: &[(String, String)]) -> io::Result<(Pid, OwnedFd)> {
    use std::os::unix::process::CommandExt;
    let (ours, theirs) = wire::channel::pair()?;
    // Not argv[0]: an upgrade may have replaced that file, and this master starts its own binary.
    let mut command = Command::new("/proc/self/exe");
    command.arg0("cameleer:").arg(role.argument()).stdin(Stdio::null());
    // Not the master's standard output: the program that started the master waits until no process has it open.
    command.stdout(error_log.try_clone()?).stderr(error_log.try_clone()?);
    command.envs(env.iter().map(|(name, value)| (name, value)));
    for name in OURS_ALONE {
        command.env_remove(name);
    }
    sys::become_role(&mut command, theirs.as_raw_fd());
    // The process is reaped by waitpid(-1) with all others, not through this handle.
    let child = command.spawn()?;
    Ok((Pid::from_raw(child.id().cast_signed()), ours))
}

impl<Out, In> ChildProcess<Out, In> {
    pub fn kill(&self) {
        self.signal(Signal::SIGKILL);
    }

    /// Continues the process if it was stopped.
    pub fn resume(&self) {
        self.signal(Signal::SIGCONT);
    }

    /// Waits up to [`LEAVE`] for the process to exit, then kills it.
    pub fn dismiss(&self) {
        let by = Instant::now() + LEAVE;
        while Instant::now() < by && waitpid(self.pid, Some(WaitPidFlag::WNOHANG)) == Ok(WaitStatus::StillAlive) {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.kill();
        let _ = waitpid(self.pid, None);
    }

    fn signal(&self, signal: Signal) {
        // The child is not reaped, so the number cannot mean another process. A failure means that the child has ended.
        let _ = kill(self.pid, signal);
    }
}
