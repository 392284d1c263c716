//! Front and mold as processes: started from this very binary with a role, reached over a control channel, killed.

pub mod peer;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use wire::control::{FromExpander, FromFront, FromMold, PoolId, ToExpander, ToFront, ToMold};

use self::peer::Peer;
use machine::sampler::{Sampled, ToSampler};
use profiler::{FromProfiler, ToProfiler};
use status::monitor::ToMonitor;

/// What the program is when the master starts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Clients and HTTP.
    Front,
    /// Perl.
    Mold,
    /// Perl in the configuration.
    Expander,
    /// Memory.
    Sampler,
    /// Stacks.
    Profiler,
    /// What administrators see.
    Monitor,
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
        }
    }
}

/// What systemd told the master is not for its children.
const OURS_ALONE: [&str; 6] =
    ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// END blocks have so long.
const LEAVE: Duration = Duration::from_secs(2);

/// A started front or mold.
#[derive(Debug)]
pub struct Child<Out, In> {
    /// Its process; ours until the master has seen it end.
    pub pid: Pid,
    /// Its control channel.
    pub peer: Peer<Out, In>,
}

/// The front as the master holds it.
pub type Front = Child<ToFront, FromFront>;
/// A mold as the master holds it.
pub type Mold = Child<ToMold, FromMold>;

/// How many promotions lie between the mold that has loaded the code, which is 0, and a mold.
pub type Refork = u32;

/// Which mold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoldId {
    /// Whose code it has.
    pub pool: PoolId,
    /// See [`Refork`].
    pub refork: Refork,
}

/// The sampler as the master holds it.
pub type Sampler = Child<ToSampler, Sampled>;

/// The profiler as the master holds it.
pub type Profiler = Child<ToProfiler, FromProfiler>;

/// The monitor as the master holds it; it has nothing to say.
pub type Monitor = Child<ToMonitor, ()>;

/// An expander as the master holds it.
pub type Expander = Child<ToExpander, FromExpander>;

/// Starts the front.
pub fn start_front(error_log: &OwnedFd) -> io::Result<Front> {
    let (pid, ours) = start(Role::Front, error_log, &[])?;
    Ok(Child { pid, peer: Peer::new(ours)? })
}

/// Starts a mold in the environment `env`; its first message must be `Configure`.
pub fn start_mold(error_log: &OwnedFd, env: &[(String, String)]) -> io::Result<Mold> {
    let (pid, ours) = start(Role::Mold, error_log, env)?;
    Ok(Child { pid, peer: Peer::new(ours)? })
}

/// Starts an expander in the environment `env`; its first message must be `Expand`.
pub fn start_expander(error_log: &OwnedFd, env: &[(String, String)]) -> io::Result<Expander> {
    let (pid, ours) = start(Role::Expander, error_log, env)?;
    Ok(Child { pid, peer: Peer::new(ours)? })
}

/// Starts the sampler.
pub fn start_sampler(error_log: &OwnedFd) -> io::Result<Sampler> {
    let (pid, ours) = start(Role::Sampler, error_log, &[])?;
    Ok(Child { pid, peer: Peer::new(ours)? })
}

/// Starts the profiler.
pub fn start_profiler(error_log: &OwnedFd) -> io::Result<Profiler> {
    let (pid, ours) = start(Role::Profiler, error_log, &[])?;
    Ok(Child { pid, peer: Peer::new(ours)? })
}

/// Starts the monitor; its first message must be `Configure`.
pub fn start_monitor(error_log: &OwnedFd) -> io::Result<Monitor> {
    let (pid, ours) = start(Role::Monitor, error_log, &[])?;
    Ok(Child { pid, peer: Peer::new(ours)? })
}

fn start(role: Role, error_log: &OwnedFd, env: &[(String, String)]) -> io::Result<(Pid, OwnedFd)> {
    use std::os::unix::process::CommandExt;
    let (ours, theirs) = wire::channel::pair()?;
    // Not argv[0]: the file may have been replaced by an upgrade, and old masters keep to their own binary.
    let mut command = Command::new("/proc/self/exe");
    command.arg0("cameleer:").arg(role.argument()).stdin(Stdio::null());
    // Not our standard output: whoever started us in the background waits until nobody holds it any more.
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

impl<Out, In> Child<Out, In> {
    /// Ends it at once.
    pub fn kill(&self) {
        self.signal(Signal::SIGKILL);
    }

    /// Lets it go on if it was stopped.
    pub fn resume(&self) {
        self.signal(Signal::SIGCONT);
    }

    /// Lets it end by itself for a while, then ends it.
    pub fn dismiss(&self) {
        let by = Instant::now() + LEAVE;
        while Instant::now() < by && waitpid(self.pid, Some(WaitPidFlag::WNOHANG)) == Ok(WaitStatus::StillAlive) {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.kill();
        let _ = waitpid(self.pid, None);
    }

    fn signal(&self, signal: Signal) {
        // It is our child and not reaped, so the number cannot mean another; it may have ended, which is as good.
        let _ = kill(self.pid, signal);
    }
}
