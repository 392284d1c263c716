//! Announces the server's state to other programs: the one that started it, systemd, and readers of the PID file.

use std::time::{Duration, Instant};

use config::{AddressProtocol, Config, Listen};
use status::FileId;

use super::OnReady;
use super::notify::Notify;
use super::pid_file::PidFile;

/// Channels to the other programs.
pub struct Announcer {
    started: Instant,
    on_ready: Option<OnReady>,
    notify: Notify,
    pid_file: Option<PidFile>,
}

impl Announcer {
    /// Writes the PID file, and finds systemd's socket. `on_ready` is called once.
    pub fn open(config: &Config, on_ready: OnReady, now: Instant) -> anyhow::Result<Announcer> {
        let pid_file = PidFile::of(config)?;
        Ok(Announcer { started: now, on_ready: Some(on_ready), notify: Notify::from_env(), pid_file })
    }

    /// The first worker answers at these addresses. Returns whether a program waited for that.
    pub fn first_ready(&mut self, addresses: &[(Listen, AddressProtocol)]) -> bool {
        let on_ready = self.on_ready.take();
        let waited = on_ready.is_some();
        on_ready.into_iter().for_each(|on_ready| on_ready(addresses));
        waited
    }

    /// Messages to systemd.
    pub fn notify(&self) -> &Notify {
        &self.notify
    }

    /// Messages to systemd that it must get again.
    pub fn notify_mut(&mut self) -> &mut Notify {
        &mut self.notify
    }

    /// Reports to systemd that the loop turns, when that is due.
    pub fn beat(&mut self, now: Instant) {
        self.notify.beat(now);
    }

    /// When [`Self::beat`] has something to do.
    pub fn wakes(&self) -> Option<Instant> {
        self.notify.wakes()
    }

    /// For how long the server has run.
    pub fn uptime(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.started)
    }

    /// Identifies the PID file, if there is one.
    pub fn pid_file(&self) -> Option<FileId> {
        self.pid_file.as_ref().map(PidFile::id)
    }
}
