//! The mold: loads the site's Perl, warms it up, reports that it is ready, and then only forks. The mold answers no
//! client requests, so its pages stay shared with every worker.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{Pid, getppid};
use wire::control::{Exit, FromMold, GenerationNumber, LateCode, PoolId, Slot, ToMold};
use wire::transport::{packet_buffer, read_configuration};

use super::error_logs::ErrorLogs;
use super::growth::Growth;
use super::inspection;
use super::memory_pages;
use super::promotion::Master;
use super::site::Site;
use super::{Wire, Worker, WorkerIdentity, warm_up};
use base::log;
use config::{Bundle, Config, Facts};
use sys::Words;
use sys::privileges;

/// Time that children have for END blocks after the master has gone; then they get SIGKILL.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Runs a mold on the master's channel. A forked worker does not return from here.
pub fn run(control: OwnedFd) -> anyhow::Result<()> {
    libperl::set_title("cameleer: mold");
    sys::default_faults()?;
    let master = Master::new(control);
    let Configured { generation, preload, config, facts, words, logs } = configuration(&master)?;
    let warm_up = warm_up::Plan::of(&config);
    privileges::become_user(config.user.as_deref(), config.group.as_deref())?;
    sys::allow_profiling()?;
    memory_pages::set(&config.pages);
    let started = Instant::now();
    let by = started + config.timeouts.start;
    let loaded = Site::load(config, &facts);
    // A child that the site's start-up code forked arrives here when it exits. Only the mold itself may report to the
    // master.
    if libperl::is_forked_child() {
        std::process::exit(0);
    }
    let site = match loaded {
        Ok(site) => Rc::new(site),
        Err(error) => {
            master.send(&FromMold::Failed { error: cut(format!("{error:#}")) }, &[])?;
            return Ok(());
        }
    };
    inspection::load_late(&site, &preload, by);
    let load_ms = started.elapsed().as_millis() as u64;
    site.error_logs.replace(ErrorLogs::new(logs)?);
    if !facts.check {
        warm_up.run(&site, generation, by);
    }
    master.send(&FromMold::Ready { load_ms, software: site.software(), activity: libperl::activity_address() }, &[])?;
    sys::outlive_master()?;
    site.before_forks();
    be_mold(master, generation, site, words.into())
}

/// Forks workers. A fork becomes a worker and, after promotion, a mold again. The loop replaces recursion, so that
/// the stack depth stays constant.
fn be_mold(
    mut master: Master,
    generation: GenerationNumber,
    mut site: Rc<Site>,
    words: Rc<Words>,
) -> anyhow::Result<()> {
    loop {
        let packet = packet_buffer();
        let mut mold = Mold { master, generation, site, children: Vec::new(), retiring: false };
        sys::default_child_signal()?;
        let served = mold.serve();
        let Ok(Some(Birth { wire, identity })) = served else {
            mold.site.end_of_mold();
            return served.map(drop);
        };
        drop((mold.master, mold.children));
        let port = wire.port(packet, &mold.site.config)?;
        let successor = Worker::new(mold.site, port, identity, words.clone()).run();
        if !successor.settle()? {
            return Ok(());
        }
        (master, site) = (successor.master, successor.site);
    }
}

/// The contents of the master's first message.
struct Configured {
    generation: GenerationNumber,
    preload: LateCode,
    config: Config,
    facts: Facts,
    /// Shared memory with the workers' memory limits.
    words: Words,
    /// The error logs of virtual hosts.
    logs: Vec<OwnedFd>,
}

fn configuration(master: &Master) -> anyhow::Result<Configured> {
    let Some((ToMold::Configure { pool: PoolId { generation, pool }, preload }, fds)) = master.receive()? else {
        bail!("the master's first message was no configuration");
    };
    let mut fds = fds.into_iter();
    let memory = fds.next().context("the configuration came without its text")?;
    let words = sys::map_words(&fds.next().context("the configuration came without the memory limits")?)?;
    let bundle: Bundle = serde_json::from_slice(&read_configuration(memory)?)?;
    let config = Config::build(&bundle.tree, &bundle.facts)
        .map_err(|errors| anyhow::anyhow!(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))?;
    if !config.more_pools.is_empty() {
        libperl::set_title(&format!("cameleer: mold {}", config.pool_name(pool)));
    }
    let config = config.for_pool(pool);
    let facts = bundle.facts.speaking(config.perl.generation);
    Ok(Configured { generation, preload, config, facts, words, logs: fds.collect() })
}

/// Limits a start-up error to a size that fits into a control message. The beginning names the place of the error.
fn cut(mut text: String) -> String {
    const MOST: usize = 64 * 1024;
    if text.len() > MOST {
        let end = (0..=MOST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push_str(" …");
    }
    text
}

struct Child {
    slot: Slot,
    pid: Pid,
    /// pidfd, readable when the process has ended. `None`: pidfd_open failed, and the child is polled every
    /// `ASKED_EVERY` ms.
    process: Option<OwnedFd>,
}

/// Polling interval, in ms, for children without a pidfd.
const ASKED_EVERY: u16 = 100;

impl Child {
    /// Waits until the child has ended, or until `by`. Does not reap the child. An error of `waitid` ends the wait.
    fn wait(&self, by: Instant) {
        let ended = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        while Instant::now() < by && waitid(Id::Pid(self.pid), ended) == Ok(WaitStatus::StillAlive) {
            let left = by.saturating_duration_since(Instant::now()).as_millis();
            let left = u16::try_from(left).unwrap_or(0);
            let _ = match &self.process {
                Some(process) => poll(&mut [PollFd::new(process.as_fd(), PollFlags::POLLIN)], left),
                None => poll(&mut [], left.min(ASKED_EVERY)),
            };
        }
    }
}

struct Mold {
    master: Master,
    generation: GenerationNumber,
    /// The loaded site, shared with every worker that this mold forks.
    site: Rc<Site>,
    children: Vec<Child>,
    retiring: bool,
}

/// Data that a forked child needs to become a worker.
struct Birth {
    wire: Wire,
    identity: WorkerIdentity,
}

impl Mold {
    /// Forks and reaps until the mold is retired and has no children. Returns `Some` in a fresh worker.
    fn serve(&mut self) -> anyhow::Result<Option<Birth>> {
        while !(self.retiring && self.children.is_empty()) {
            let (order, ended) = self.wait()?;
            // Orders come before reports: the master, which gets the reports, may have ended.
            if order && let Some(birth) = self.obey()? {
                return Ok(Some(birth));
            }
            for pid in ended {
                self.reap(pid)?;
            }
            self.reap_strays();
        }
        Ok(None)
    }

    /// Reaps children that the site's start-up code left behind without waiting for them.
    fn reap_strays(&self) {
        let ended = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        while let Some(pid) = waitid(Id::All, ended).ok().and_then(|status| status.pid()) {
            if self.children.iter().any(|child| child.pid == pid) || waitpid(pid, None).is_err() {
                return;
            }
        }
    }

    /// Waits for an order or for the end of a child. Returns whether an order is there, and the children to reap.
    fn wait(&self) -> io::Result<(bool, Vec<Pid>)> {
        let watched = self.children.iter().filter_map(|child| Some((child.pid, child.process.as_ref()?)));
        let watched: Vec<(Pid, &OwnedFd)> = watched.collect();
        let mut fds = vec![PollFd::new(self.master.as_fd(), PollFlags::POLLIN)];
        fds.extend(watched.iter().map(|(_, process)| PollFd::new(process.as_fd(), PollFlags::POLLIN)));
        let timeout = if watched.len() < self.children.len() { ASKED_EVERY.into() } else { PollTimeout::NONE };
        match poll(&mut fds, timeout) {
            Err(nix::errno::Errno::EINTR) => return Ok((false, Vec::new())),
            other => other?,
        };
        let ready = |fd: &PollFd<'_>| fd.revents().is_some_and(|r| !r.is_empty());
        let ended = watched.iter().zip(&fds[1..]).filter(|(_, fd)| ready(fd)).map(|((pid, _), _)| *pid);
        let asked = self.children.iter().filter(|child| child.process.is_none()).map(|child| child.pid);
        Ok((ready(&fds[0]), ended.chain(asked).collect()))
    }

    fn reap(&mut self, pid: Pid) -> io::Result<()> {
        let exit = match waitpid(pid, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(_, code)) => Exit::Code(code),
            Ok(WaitStatus::Signaled(_, signal, _)) => Exit::Signal(signal as i32),
            Ok(_) => return Ok(()),
            Err(_) => Exit::Code(-1),
        };
        let Some(at) = self.children.iter().position(|c| c.pid == pid) else { return Ok(()) };
        let child = self.children.swap_remove(at);
        self.master.send(&FromMold::Exited { slot: child.slot, pid: pid.as_raw(), exit }, &[])
    }

    fn obey(&mut self) -> anyhow::Result<Option<Birth>> {
        let Some((order, fds)) = self.master.receive()? else {
            self.end_children();
            bail!("the master has ended");
        };
        let mut fds = fds.into_iter();
        match order {
            ToMold::Spawn { slot } => {
                let socket = fds.next().context("Spawn without a socket")?;
                let memory = fds.next().context("Spawn without memory")?;
                self.fork(slot, Wire { socket, memory })
            }
            ToMold::Logs => {
                for (number, log) in (0..).zip(fds) {
                    self.site.error_logs.borrow_mut().renew(number, log)?;
                }
                Ok(None)
            }
            ToMold::Inspect { what } => {
                let into = fds.next().context("no descriptor for the output came with Inspect")?;
                inspection::tell(&self.site, &Growth::default(), what, into, Vec::new());
                Ok(None)
            }
            ToMold::Weigh { code } => {
                let into = fds.next().context("no descriptor for the output came with Weigh")?;
                let done = fds.next().context("no descriptor to close came with Weigh")?;
                inspection::weigh(&self.site, &code, into, done);
                Ok(None)
            }
            ToMold::Retire => {
                self.retiring = true;
                Ok(None)
            }
            ToMold::Configure { .. } => bail!("configured twice"),
        }
    }

    /// Kills children that outlive the master: a child that is still alive after `LAST_WORDS` ignores signals or is
    /// stopped.
    fn end_children(&self) {
        let by = Instant::now() + LAST_WORDS;
        for child in &self.children {
            child.wait(by);
            // The child is not reaped yet, so its pid cannot belong to another process.
            let _ = kill(child.pid, Signal::SIGKILL);
        }
    }

    fn fork(&mut self, slot: Slot, wire: Wire) -> anyhow::Result<Option<Birth>> {
        let mold = nix::unistd::getpid();
        let master = getppid();
        let identity = WorkerIdentity {
            slot,
            generation: self.generation,
            master: master.as_raw().cast_unsigned(),
            forked: Instant::now(),
        };
        let pid = match sys::fork() {
            Ok(Some(pid)) => pid,
            Ok(None) => {
                sys::follow(mold, master)?;
                return Ok(Some(Birth { wire, identity }));
            }
            Err(error) => {
                self.master.send(&FromMold::ForkFailed { slot, error: error.to_string() }, &[])?;
                return Ok(None);
            }
        };
        // Close the mold's copy of the socket: a copy inherited by later siblings would hide this worker's death.
        drop(wire);
        let process = sys::pidfd_open(pid).inspect_err(|error| {
            log::warn("perl", format_args!("worker={slot} pid={pid}: its end is noticed late (pidfd_open: {error})"));
        });
        self.children.push(Child { slot, pid, process: process.ok() });
        self.master.send(&FromMold::Forked { slot, pid: pid.as_raw() }, &[])?;
        Ok(None)
    }
}
