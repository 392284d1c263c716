//! The monitor: a process that shows the server to its administrators (`AdminListen`) and stores its history
//! (`HistoryFile`).
//!
//! Once a second the master sends it the status, and never waits for it. When the monitor ends the master starts
//! another, and no client of the site notices. The monitor sends no requests and can change nothing.
//!
//! ```text
//!   master ── Configure, Status a second ──▶ Hub ──▶ status.json, metrics, server-status?auto
//!                                             ├────▶ events: each second, to clients that listen
//!                                             └────▶ history: a ring of seconds in a file
//! ```
//!
//! Start at [`run`], then `pages`, which has an entry for each URL.

#![forbid(unsafe_code)]

// The last status, and clients that listen for the next.
mod hub;

// Limited in number, closed when idle; each serves HTTP/1.1.
mod connections;

// Connections of HAProxy's agent check, which is not HTTP.
mod agent;

// `AdminToken`, and protection against pages of other sites.
mod access;

// The table of URLs, and the responses.
mod pages;

// HTML, scripts and styles, compiled into the program.
mod dashboard;

use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{Builder, LocalOptions};
use wire::channel::Channel;

use self::access::Access;
use self::hub::Hub;
use base::log;
use status::history::{HistoryRing, SECONDS_IN_MEMORY};
use status::monitor::{AddressKind, Settings, ToMonitor};
use sys::privileges;

/// The monitor sends nothing to the master.
type Master = AsyncFd<Channel<(), ToMonitor>>;

/// Maximum number of clients that read the history at the same time.
const READERS: usize = 2;

/// Shows and stores the messages of the master, until it ends.
pub fn run(control: OwnedFd) -> anyhow::Result<()> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    let mut runtime = Builder::new_current_thread();
    runtime.enable_all().max_blocking_threads(READERS);
    runtime.build_local(LocalOptions::default())?.block_on(serve(control))
}

async fn serve(control: OwnedFd) -> anyhow::Result<()> {
    fcntl(&control, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    let master = open(control)?;
    let Some((ToMonitor::Configure(settings), fds)) = receive(&master).await? else {
        bail!("the first message of the master was not Configure")
    };
    let mut fds = fds.into_iter();
    let ring = ring(&settings, &mut fds)?;
    let slow = fds.next().context("the message Configure has no descriptor of the slow requests")?;
    let hub = Rc::new(Hub::new(ring, File::from(slow)));
    if let Some(account) = &settings.account {
        privileges::become_account(account)?;
    }
    for (address, fd) in settings.listen.into_iter().zip(fds) {
        if address.kind == AddressKind::Agent {
            agent::listen(fd, hub.clone())?;
            continue;
        }
        let access = Access::new(&address, settings.token.clone());
        connections::listen(fd, &address, access, hub.clone())?;
    }
    while let Some((message, _)) = receive(&master).await.context("cannot read from the control channel")? {
        match message {
            ToMonitor::Status(status) => hub.take(now(), *status),
            ToMonitor::Configure(_) => bail!("the master sent Configure twice"),
        }
    }
    Ok(())
}

#[allow(deprecated, reason = "the new spelling is unsafe; a Channel owns its descriptor and never changes it")]
fn open(control: OwnedFd) -> std::io::Result<Master> {
    AsyncFd::with_interest(Channel::new(control), Interest::READABLE)
}

async fn receive(master: &Master) -> std::io::Result<Option<(ToMonitor, Vec<OwnedFd>)>> {
    loop {
        let mut guard = master.readable().await?;
        match master.get_ref().receive() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => guard.clear_ready(),
            message => return message,
        }
    }
}

/// The history file opened by the master, or an unnamed one that ends with this process.
fn ring(settings: &Settings, fds: &mut impl Iterator<Item = OwnedFd>) -> anyhow::Result<HistoryRing> {
    let opened = match settings.has_history_file {
        true => HistoryRing::read(File::from(
            fds.next().context("the message Configure has no descriptor of the history file")?,
        )),
        false => HistoryRing::open(tempfile::tempfile().context("the history's last hour")?, SECONDS_IN_MEMORY),
    };
    opened.map_err(|damage| anyhow::anyhow!("the history {damage}"))
}

/// The current time, in seconds since 1970.
fn now() -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    u32::try_from(since).unwrap_or(u32::MAX)
}

fn warn(what: std::fmt::Arguments<'_>) {
    log::warn("monitor", what);
}
