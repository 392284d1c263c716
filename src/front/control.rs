//! What the master says, and what it is told.

use std::cell::{Cell, RefCell};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use anyhow::{Context as _, anyhow, bail};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;
use wire::channel::Channel;
use wire::control::{FromFront, Generation, Listener, ToFront};
use wire::outbox::Outbox;
use wire::transport::SocketFront;

use super::Front;
use super::site::Site;
use super::workers::{Worker, spool, take_over};
use crate::log;

/// The control channel. Messages never wait for the master: what it does not take is kept and sent later.
pub struct Master {
    channel: AsyncFd<Channel<FromFront, ToFront>>,
    kept: RefCell<Outbox<OwnedFd>>,
    drained: Notify,
    said_drained: Cell<bool>,
}

impl Master {
    /// Speaks over `control`.
    #[allow(deprecated, reason = "the new spelling is unsafe; a Channel owns its descriptor and never changes it")]
    pub fn new(control: OwnedFd) -> anyhow::Result<Master> {
        fcntl(&control, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        let channel = AsyncFd::with_interest(Channel::new(control), tokio::io::Interest::READABLE)?;
        Ok(Master { channel, kept: RefCell::default(), drained: Notify::new(), said_drained: Cell::new(false) })
    }

    /// Tells it something.
    pub fn say(&self, message: FromFront) {
        if let Err(error) = self.kept.borrow_mut().push(&message, Vec::new()) {
            log::error("front", format_args!("the master cannot be told: {error}"));
        }
        self.catch_up();
    }

    /// Whether it does not take messages fast enough.
    pub fn is_behind(&self) -> bool {
        !self.kept.borrow().is_empty()
    }

    /// Sends what was kept; says whether there is more.
    pub fn catch_up(&self) -> bool {
        let mut kept = self.kept.borrow_mut();
        if let Err(error) = kept.flush(self.channel.get_ref()) {
            log::error("front", format_args!("the master cannot be told: {error}"));
        }
        !kept.is_empty()
    }

    async fn hear(&self) -> io::Result<Option<(ToFront, Vec<OwnedFd>)>> {
        loop {
            let mut guard = self.channel.readable().await?;
            match self.channel.get_ref().receive() {
                Err(error) if error.kind() == ErrorKind::WouldBlock => guard.clear_ready(),
                heard => return heard,
            }
        }
    }
}

impl Front {
    /// Tells the master that everything is answered, if it is.
    pub fn say_drained(&self) -> bool {
        let quiet = self.is_quiet() && self.listeners.are_closed();
        if quiet && !self.master.said_drained.replace(true) {
            self.flush_logs();
            self.master.say(FromFront::Drained);
            self.master.drained.notify_one();
        }
        quiet
    }
}

/// Does what the master says until it lets us go.
pub async fn obey(front: &Rc<Front>) -> anyhow::Result<()> {
    loop {
        let heard = tokio::select! {
            heard = front.master.hear() => heard.context("control channel")?,
            () = front.master.drained.notified() => return Ok(()),
        };
        let Some((message, fds)) = heard else { bail!("the master has gone") };
        if matches!(message, ToFront::Exit) {
            return Ok(());
        }
        let generation = prepares(&message);
        let Err(error) = follow(front, message, fds) else { continue };
        log::error("front", format_args!("{error:#}"));
        if let Some(generation) = generation {
            front.master.say(FromFront::Refused { generation, error: format!("{error:#}") });
        }
    }
}

/// The generation that cannot serve when this is not done.
fn prepares(message: &ToFront) -> Option<Generation> {
    match message {
        ToFront::Configure { generation, .. } | ToFront::Activate { generation } => Some(*generation),
        _ => None,
    }
}

fn follow(front: &Rc<Front>, message: ToFront, fds: Vec<OwnedFd>) -> anyhow::Result<()> {
    let mut fds = fds.into_iter();
    match message {
        ToFront::Configure { generation, logs, listeners, software } => {
            let config = fds.next().context("no configuration came with Configure")?;
            let identities = fds.next().context("no certificates came with Configure")?;
            let logs: Vec<_> = fds.by_ref().take(logs).collect();
            let site = Site::new(front, generation, (config, identities), logs, named(listeners, fds)?)?;
            let site = Site { software, ..site };
            // Before the first client's byte. A front that cannot do it is never activated.
            crate::privileges::drop(&site.config)?;
            spool::try_out(&site.config.spooling);
            configure(front, site);
        }
        ToFront::Certificates { generation } => {
            let identities = fds.next().context("no certificates came with Certificates")?;
            front.site(generation)?.renew_identities(front, identities)?;
        }
        ToFront::Worker { worker, generation, adopted } => {
            let socket = fds.next().context("no socket came with Worker")?;
            let worker = Rc::new(Worker::new(worker, SocketFront::new(socket, fds.next())?)?);
            let site = front.site(generation)?;
            site.pool.add(worker.clone(), adopted);
            if adopted {
                take_over(&site, &worker);
            }
            let front = front.clone();
            tokio::task::spawn_local(async move { site.pool.listen(&worker, &front.packet).await });
        }
        ToFront::Forked { slot, pid } => {
            if let Some(worker) = front.worker(slot, |worker| worker.pid.get() == 0) {
                worker.pid.set(pid);
            }
        }
        ToFront::Gone { slot } => {
            if let Some(worker) = front.worker(slot, |_| true) {
                worker.set_ended();
            }
        }
        ToFront::Activate { generation } => activate(front, &front.site(generation)?)?,
        ToFront::Retire { count } => {
            if let Some(site) = front.serving() {
                site.pool.leave_idle(count as usize);
                front.clock.start();
            }
        }
        ToFront::Logs => reopen_logs(front, fds)?,
        ToFront::Status => front.master.say(FromFront::Status(front.status())),
        ToFront::Ping => front.master.say(FromFront::Alive),
        ToFront::Stop => front.stop(),
        ToFront::Exit => {}
    }
    Ok(())
}

fn named(listeners: Vec<Listener>, fds: impl Iterator<Item = OwnedFd>) -> anyhow::Result<Vec<(String, OwnedFd)>> {
    let count = listeners.len();
    let named: Vec<_> = listeners.into_iter().map(|listener| listener.address).zip(fds).collect();
    if named.len() < count {
        bail!("fewer listeners than names came with Configure");
    }
    Ok(named)
}

/// A generation that was prepared and never served has failed: this one takes its place.
fn configure(front: &Front, site: Site) {
    let generation = site.generation;
    let serving = front.serving();
    front
        .sites
        .borrow_mut()
        .retain(|other| other.pool.is_draining() || serving.as_ref().is_some_and(|serving| Rc::ptr_eq(serving, other)));
    front.sites.borrow_mut().push(Rc::new(site));
    front.master.say(FromFront::Configured { generation });
}

fn activate(front: &Rc<Front>, site: &Rc<Site>) -> anyhow::Result<()> {
    log::set_levels(site.config.levels(None));
    front.serve_with(site.clone());
    let listeners = site.listeners.take();
    if !listeners.is_empty() && !front.is_stopping() {
        front.listeners.set(front, listeners)?;
    }
    Ok(())
}

fn reopen_logs(front: &Front, mut fds: impl Iterator<Item = OwnedFd>) -> anyhow::Result<()> {
    let error_log = fds.next().context("no error log came with Logs")?;
    nix::unistd::dup2_stderr(&error_log)?;
    for site in front.sites.borrow().iter() {
        site.pool.reopen_logs(0, &[error_log.as_fd()]);
    }
    let Some(site) = front.serving() else { return Ok(()) };
    let access_logs = fds.by_ref().take(site.config.logs.len()).collect();
    let hosts: Vec<_> = fds.collect();
    site.pool.reopen_logs(1, &hosts.iter().map(AsFd::as_fd).collect::<Vec<_>>());
    site.error_logs.reopen(hosts);
    site.access_logs.reopen(access_logs)
}

impl Front {
    fn site(&self, generation: u32) -> anyhow::Result<Rc<Site>> {
        let sites = self.sites.borrow();
        let site = sites.iter().find(|site| site.generation == generation);
        site.cloned().ok_or_else(|| anyhow!("generation {generation} is not known"))
    }

    /// The worker of a slot, which is given out again as soon as its process has ended.
    fn worker(&self, slot: u32, fits: impl Fn(&Worker) -> bool) -> Option<Rc<Worker>> {
        let workers = self.sites.borrow().iter().flat_map(|site| site.pool.all()).collect::<Vec<_>>();
        workers.into_iter().find(|worker| worker.id.slot == slot && !worker.has_ended() && fits(worker))
    }
}
