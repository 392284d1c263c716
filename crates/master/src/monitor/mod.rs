//! The monitor as the master sees it: started when somebody is to see the server or its past is to be kept, told once a second how things
//! stand, started again when it ends. It is never waited for: what it does not take in time it does not get, and in the end it is replaced.

mod history_file;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use nix::unistd::Pid;
use wire::control::{FrontStatus, ToFront};

use super::Master;
use super::backoff::Backoff;
use super::children::peer::{Fd, Peer};
use super::children::{Monitor, start_monitor};
use super::configuration::{address_name, admin_token};
use super::sockets::listeners::Bound;

use base::log;
use config::{AdminAddress, Config, ConfigError, Listen};
use status::monitor::{Address, AddressKind, Settings, ToMonitor};
use sys::privileges;

use self::history_file::HistoryFile;

/// A monitor that has not read what it was told for so long hangs.
const PATIENCE: Duration = Duration::from_secs(10);

/// The process, and what each gets that is started.
#[derive(Debug)]
pub struct Monitoring {
    child: Option<Monitor>,
    backoff: Backoff,
    listen: Vec<(Address, Bound)>,
    token: Option<String>,
    history: Option<HistoryFile>,
    /// When it is told how things stand.
    due: Instant,
    /// The front was asked for that, and has not answered.
    asked: bool,
    /// Since when it has not read what it was told.
    behind: Option<Instant>,
}

impl Monitoring {
    /// Binds its addresses and opens its file; the process is started when the first generation serves.
    pub fn new(config: &Config, now: Instant) -> anyhow::Result<Monitoring> {
        let listen = config.monitor.listen.iter().map(bind).collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Monitoring {
            child: None,
            backoff: Backoff::default(),
            listen,
            token: admin_token(config).map_err(|error| anyhow::anyhow!("{error}"))?,
            history: HistoryFile::of(config),
            due: now,
            asked: false,
            behind: None,
        })
    }

    /// Whether there is anything to do for it.
    pub fn is_wanted(&self) -> bool {
        !self.listen.is_empty() || self.history.is_some()
    }

    /// Its process, when it has one.
    pub fn pid(&self) -> Option<Pid> {
        self.child.as_ref().map(|child| child.pid)
    }

    /// What it is told goes over this.
    pub fn peer(&self) -> Option<&Peer<ToMonitor, ()>> {
        self.child.as_ref().map(|child| &child.peer)
    }

    /// Where the history lies.
    pub fn history_path(&self) -> Option<&std::path::Path> {
        self.history.as_ref().map(|file| file.path())
    }

    /// The server stops: nobody looks any more.
    pub fn stop(&mut self) {
        self.child.iter().for_each(|child| child.kill());
        self.listen.drain(..).for_each(|(_, bound)| bound.remove_file());
    }

    fn descriptors(&self, slow: Fd) -> Vec<Fd> {
        let listen = self.listen.iter().map(|(_, bound)| bound.fd.clone());
        self.history.iter().map(HistoryFile::fd).chain([slow]).chain(listen).collect()
    }
}

fn bind(address: &AdminAddress) -> anyhow::Result<(Address, Bound)> {
    let name = address_name(&address.listen);
    let kind = match address.listen {
        Listen::Unix(_) => AddressKind::Unix,
        Listen::Tcp(_) if address.is_private() => AddressKind::Loopback,
        Listen::Tcp(_) => AddressKind::Open,
    };
    let at = || ConfigError::at(&address.at, format!("AdminListen {name}")).to_string();
    let bound = Bound::private(&address.listen).with_context(at)?;
    Ok((Address { name, kind }, bound))
}

impl Master {
    /// Starts it, tells it how things stand, or ends it where it hangs, as is due.
    pub(super) fn keep_monitor(&mut self, now: Instant) {
        if self.monitors().is_none_or(|due| due > now) {
            return;
        }
        if self.monitor.child.is_none() {
            return self.start_monitor(now);
        }
        if self.monitor.asked {
            // The front hangs: that is worth to be seen, too.
            self.tell_monitor(None, now);
        }
        self.monitor.due = next_second(now);
        self.monitor.asked = self.front.is_some();
        match self.front {
            Some(_) => self.tell_front(ToFront::Status, vec![]),
            None => self.tell_monitor(None, now),
        }
    }

    /// When [`Self::keep_monitor`] has something to do.
    pub(super) fn monitors(&self) -> Option<Instant> {
        let serves = self.stop.is_none() && self.serving().is_some();
        let waits = self.monitor.child.is_none().then(|| self.monitor.backoff.until()).flatten();
        (serves && self.monitor.is_wanted()).then(|| waits.unwrap_or(self.monitor.due))
    }

    fn start_monitor(&mut self, now: Instant) {
        let started = self.try_start_monitor();
        self.monitor.due = next_second(now);
        if let Err(error) = started {
            self.monitor.backoff.failed(now);
            log::error("master", format_args!("monitor cannot be started: {error:#}"));
        }
    }

    fn try_start_monitor(&mut self) -> anyhow::Result<()> {
        let Some(error_log) = self.opened.as_ref().map(|opened| opened.error.clone()) else { return Ok(()) };
        let settings = Settings {
            listen: self.monitor.listen.iter().map(|(address, _)| address.clone()).collect(),
            token: self.monitor.token.clone(),
            has_history_file: self.monitor.history.is_some(),
            account: privileges::account(self.checked.config.user.as_deref(), self.checked.config.group.as_deref())?,
        };
        let slow = self.profiling.shows()?;
        let mut child = start_monitor(&error_log)?;
        log::info("master", format_args!("monitor pid={} started", child.pid));
        child.peer.send(ToMonitor::Configure(settings), self.monitor.descriptors(slow));
        (self.monitor.child, self.monitor.behind, self.monitor.asked) = (Some(child), None, false);
        Ok(())
    }

    /// The front says how it is: the monitor may wait for that.
    pub(super) fn pass_to_monitor(&mut self, front: &FrontStatus) {
        if std::mem::take(&mut self.monitor.asked) {
            self.tell_monitor(Some(front.clone()), Instant::now());
        }
    }

    fn tell_monitor(&mut self, front: Option<FrontStatus>, now: Instant) {
        let status = self.status(front);
        let Some(child) = &mut self.monitor.child else { return };
        child.peer.flush();
        if !child.peer.has_unsent() {
            self.monitor.behind = None;
            return child.peer.send(ToMonitor::Status(Box::new(status)), vec![]);
        }
        let since = *self.monitor.behind.get_or_insert(now);
        if now.saturating_duration_since(since) >= PATIENCE {
            log::error("master", format_args!("monitor pid={} does not read, and is killed", child.pid));
            child.kill();
        }
    }

    /// It has nothing to say; its end is seen where children are reaped.
    pub(super) fn listen_to_monitor(&mut self) {
        let Some(child) = &mut self.monitor.child else { return };
        child.peer.flush();
        if child.peer.receive().is_err() {
            log::error("master", format_args!("monitor pid={} talks nonsense and is killed", child.pid));
            child.kill();
        }
    }

    /// It has ended; the site does not notice.
    pub(super) fn monitor_ended(&mut self) {
        self.monitor.child = None;
        if self.stop.is_none() {
            let wait = self.monitor.backoff.failed(Instant::now()).as_secs_f32();
            log::error("master", format_args!("monitor ended; the next starts in {wait} s"));
        }
    }
}

/// In the middle of the next second: a little early or late, it is the same one.
fn next_second(now: Instant) -> Instant {
    let into = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_millis());
    now + Duration::from_millis(u64::from(1500 - into.min(1499)))
}
