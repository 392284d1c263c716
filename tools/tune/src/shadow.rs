//! The shadow: a second server that the command starts, queries, resizes and stops. It has its own ports, logs and
//! control socket.

use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use socket2::{Domain, Socket, Type};
use tempfile::TempDir;
use wire::control::{WorkerState, WorkerStatus};

use super::interrupt::InterruptGuard;
use super::site::TunedSite;
use config::{self, Directive};
use machine::capacity::{CpuTimes, TimeShare};
use machine::memory::{Machine, Measured};
use master::sockets::control_socket::{self, StopMode};
use status::ServerStatus;
use toolkit::client::{Server, ServerChoice};

/// Time for a fast stop: the shadow has no requests to finish.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time for workers to become ready: a fork takes milliseconds, but PerlChildInitHandlers may take longer.
const BOOT: Duration = Duration::from_secs(60);
/// Polling interval.
const LOOK: Duration = Duration::from_millis(5);
/// Number of log lines in an error message.
const LAST_LINES: usize = 5;
/// Environment variables of systemd, which concern the real server and not the shadow.
const OF_SYSTEMD: [&str; 5] = ["NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_FDS", "WATCHDOG_USEC", "STATE_DIRECTORY"];

/// A second server of a site.
pub struct Shadow<'i> {
    server: Server,
    process: Process,
    folder: TempDir,
    interrupt: &'i InterruptGuard,
    /// Bound sockets that reserve the ports.
    _reserved: Vec<Socket>,
    /// A reserved port of 127.0.0.1.
    pub address: SocketAddr,
    /// Time from the start until the server serves.
    pub start: Duration,
}

/// A directive and its value in the shadow.
pub type Instead = (&'static str, String);

impl<'i> Shadow<'i> {
    /// Starts a shadow of `site` with these directives instead of its own.
    pub fn start(site: &TunedSite, instead: &[Instead], interrupt: &'i InterruptGuard) -> anyhow::Result<Shadow<'i>> {
        Shadow::start_in(site, instead, &[], interrupt)
    }

    /// [`Shadow::start`] with additional environment variables.
    pub fn start_in(
        site: &TunedSite,
        instead: &[Instead],
        env: &[(&str, String)],
        interrupt: &'i InterruptGuard,
    ) -> anyhow::Result<Shadow<'i>> {
        let began = Instant::now();
        let folder = tempfile::Builder::new().prefix("cameleer-tune-").tempdir()?;
        let reserved = reserve_ports(site.config.listen.len())?;
        let ports = reserved.iter().map(port_of).collect::<anyhow::Result<Vec<u16>>>()?;
        let port = *ports.get(site.listener).context("the site has no Listen")?;
        let instead = instead.iter().map(|(name, value)| Directive::new(name, value.split(' '))).collect();
        let shadow = config::ShadowChanges {
            owner: std::process::id().cast_signed(),
            folder: folder.path().to_owned(),
            ports,
            instead,
        };
        let errors = folder.path().join("start.log");
        let mut command = Command::new("/proc/self/exe");
        command.args(site.serve_arguments()).arg("--shadow").arg(serde_json::to_string(&shadow)?);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&errors)?).process_group(0);
        command.envs(env.iter().map(|(name, value)| (name, value)));
        for name in OF_SYSTEMD {
            command.env_remove(name);
        }
        sys::with_signals_unblocked(&mut command);
        let mut process = Process(command.spawn().context("the second server cannot be started")?);
        let which = ServerChoice { socket: Some(folder.path().join("control.sock")), ..ServerChoice::default() };
        let server = loop {
            interrupt.check()?;
            if process.0.try_wait()?.is_some() {
                let why = std::fs::read_to_string(&errors).unwrap_or_default();
                bail!("the second server of {} did not start:\n{}", site.name, why.trim_end());
            }
            if let Some(server) = which.connect().ok().and_then(if_it_serves) {
                break server;
            }
            std::thread::sleep(LOOK);
        };
        let address = (Ipv4Addr::LOCALHOST, port).into();
        Ok(Shadow { server, process, folder, interrupt, _reserved: reserved, address, start: began.elapsed() })
    }

    /// Resizes the pool to `workers`, of which `busy` may have a request at once. Returns the number of workers once
    /// they are ready; fewer if not all fit.
    pub fn size(&mut self, workers: u32, busy: u32) -> anyhow::Result<u32> {
        self.server.request(control_socket::Command::Size { workers, busy })?;
        let by = Instant::now() + BOOT;
        loop {
            self.interrupt.check()?;
            let status = self.status()?;
            let ready = status.workers().iter().filter(|worker| is_ready(worker.state)).count() as u32;
            let wanted = workers.min(status.max_clients);
            if ready >= wanted {
                return Ok(wanted);
            }
            if Instant::now() > by {
                bail!("only {ready} of {wanted} workers became ready within a minute\n{}", self.last_errors());
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Waits until no worker has a request; requests of disconnected visitors are finished first.
    pub fn until_quiet(&mut self) -> anyhow::Result<()> {
        loop {
            self.interrupt.check()?;
            let status = self.status()?;
            let front = status.front.as_ref().context("the front of the second server does not answer")?;
            if front.queued == 0 && front.workers.iter().all(|worker| worker.state != WorkerState::Busy) {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Asks the control socket. Fails if the shadow has died.
    pub fn status(&mut self) -> anyhow::Result<ServerStatus> {
        self.server.request(control_socket::Command::Status)?.status.context("the second server sent an invalid answer")
    }

    /// Total work of the shadow's workers so far.
    pub fn work(&mut self) -> anyhow::Result<Work> {
        let status = self.status()?;
        let front = status.front.as_ref().context("the front of the second server does not answer")?;
        let pids: Vec<i32> = front.workers.iter().map(|worker| worker.pid).filter(|pid| *pid > 0).collect();
        let CpuTimes { cpu, queued } = CpuTimes::of_all(&pids);
        let share = TimeShare { busy: front.worked_us as f64 / 1e6, cpu, queued };
        Ok(Work { answered: front.worker_requests as f64, share })
    }

    /// Memory of the shadow's workers.
    pub fn measured(&mut self) -> anyhow::Result<Vec<Measured>> {
        let (status, machine) = (self.status()?, Machine::default());
        let mold = mold_of(&status);
        let of = |worker: &WorkerStatus| {
            Some(Measured { mold, requests: worker.requests, sizes: machine.sizes(worker.pid)? })
        };
        Ok(status.workers().iter().filter_map(of).collect())
    }

    /// Memory independent of the number of workers, in bytes: mold with shared pages, and front.
    pub fn base(&mut self) -> anyhow::Result<u64> {
        let (status, machine) = (self.status()?, Machine::default());
        let mold = machine.sizes(mold_of(&status)).map_or(0, |sizes| sizes.rss);
        let front = machine.sizes(status.front_pid).map_or(0, |sizes| sizes.own());
        Ok(mold + front)
    }

    /// Stops the shadow gracefully, so that workers run their exit handlers.
    pub fn stop(mut self) -> anyhow::Result<()> {
        self.server.request(control_socket::Command::Stop { how: StopMode::Graceful })?;
        let by = Instant::now() + BOOT;
        while Instant::now() < by && self.process.0.try_wait()?.is_none() {
            self.interrupt.check()?;
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// The last lines of the error log.
    pub fn last_errors(&self) -> String {
        let log = std::fs::read_to_string(self.folder.path().join("error.log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = lines.get(lines.len().saturating_sub(LAST_LINES)..).unwrap_or_default();
        if last.is_empty() { String::new() } else { format!("error log of the second server:\n{}", last.join("\n")) }
    }
}

/// Work of workers, in total or between two moments.
#[derive(Debug, Clone, Copy)]
pub struct Work {
    /// Number of answered requests.
    pub answered: f64,
    /// CPU and waiting time of these requests.
    pub share: TimeShare,
}

impl std::ops::Sub for Work {
    type Output = Work;

    /// The difference. Clamped at 0, since the times of an ended worker are missing in the later value.
    fn sub(self, earlier: Work) -> Work {
        let less = |now: f64, then: f64| (now - then).max(0.0);
        let (now, then) = (self.share, earlier.share);
        let share = TimeShare {
            busy: less(now.busy, then.busy),
            cpu: less(now.cpu, then.cpu),
            queued: less(now.queued, then.queued),
        };
        Work { answered: less(self.answered, earlier.answered), share }
    }
}

fn is_ready(state: WorkerState) -> bool {
    matches!(state, WorkerState::Idle | WorkerState::Busy)
}

fn mold_of(status: &ServerStatus) -> i32 {
    status.generations.iter().find(|one| one.generation == status.generation).map_or(0, |one| one.mold_pid)
}

fn if_it_serves(mut server: Server) -> Option<Server> {
    let status = server.request(control_socket::Command::Status).ok()?.status?;
    (status.generation > 0).then_some(server)
}

impl Drop for Shadow<'_> {
    fn drop(&mut self) {
        let stops = self.server.request(control_socket::Command::Stop { how: StopMode::Fast }).is_ok();
        let by = Instant::now() + PATIENCE;
        while stops && Instant::now() < by && matches!(self.process.0.try_wait(), Ok(None)) {
            std::thread::sleep(LOOK);
        }
    }
}

/// The shadow's process, killed when this value is dropped. Its children die with it.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Reserves ports by binding sockets that never listen. The kernel assigns such a port to no other process, but the
/// shadow can listen on it explicitly.
fn reserve_ports(count: usize) -> io::Result<Vec<Socket>> {
    let reserve = || {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
        socket.set_reuse_address(true)?;
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
        Ok(socket)
    };
    (0..count).map(|_| reserve()).collect()
}

fn port_of(socket: &Socket) -> anyhow::Result<u16> {
    Ok(socket.local_addr()?.as_socket().context("a socket of TCP")?.port())
}
