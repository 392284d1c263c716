//! The monitor's listeners, secret and history file, and the times of its messages ([`MonitorSchedule`]).
//!
//! The monitor is started when an administrator is to see the server or its history is to be recorded. The master never
//! waits for it: a status that it does not read in time is not sent, and in the end it is replaced.

mod history_file;
mod schedule;

use std::io;
use std::path::Path;

use anyhow::Context;
use wire::board;

use super::children::peer::Fd;
use super::configuration::{address_name, admin_token};
use super::sockets::listeners::BoundSocket;
use config::{AdminAddress, Config, ConfigError, Listen};
use status::monitor::{AddressKind, MonitorAddress, Settings};
use sys::privileges::Account;

use self::history_file::HistoryFile;
pub use self::schedule::{MonitorAction, MonitorSchedule};

/// Files and settings that every monitor process gets. They are opened at the start, when the master has the rights.
#[derive(Debug)]
pub struct MonitorFiles {
    listen: Vec<(MonitorAddress, BoundSocket)>,
    token: Option<String>,
    history: Option<HistoryFile>,
    /// Both ends of the board on which the profiler shows slow requests to the monitor.
    slow_requests: Option<[Fd; 2]>,
}

impl MonitorFiles {
    /// Binds the addresses and opens the file.
    pub fn open(config: &Config) -> anyhow::Result<MonitorFiles> {
        let admin = config.monitor.listen.iter().map(bind);
        let agents = config.monitor.agents.iter().map(bind_agent);
        Ok(MonitorFiles {
            listen: admin.chain(agents).collect::<anyhow::Result<Vec<_>>>()?,
            token: admin_token(config).map_err(|error| anyhow::anyhow!("{error}"))?,
            history: HistoryFile::of(config),
            slow_requests: None,
        })
    }

    /// Whether the configuration needs a monitor.
    pub fn are_wanted(&self) -> bool {
        !self.listen.is_empty() || self.history.is_some()
    }

    pub fn history_path(&self) -> Option<&Path> {
        self.history.as_ref().map(|file| file.path())
    }

    /// Makes the board on which the profiler shows slow requests, unless there is one. Returns whether it is new.
    pub fn make_board(&mut self) -> io::Result<bool> {
        if self.slow_requests.is_some() {
            return Ok(false);
        }
        let (writer, reader) = board::create("slow requests")?;
        self.slow_requests = Some([writer, reader].map(Fd::new));
        Ok(true)
    }

    /// The profiler's end of the board.
    pub fn profilers_end(&self) -> Option<Fd> {
        self.slow_requests.as_ref().map(|[writer, _]| writer.clone())
    }

    /// The first message to a monitor, with its descriptors.
    pub fn settings(&self, account: Option<Account>) -> (Settings, Vec<Fd>) {
        let settings = Settings {
            listen: self.listen.iter().map(|(address, _)| address.clone()).collect(),
            token: self.token.clone(),
            has_history_file: self.history.is_some(),
            account,
        };
        let listen = self.listen.iter().map(|(_, bound)| bound.fd.clone());
        let slow = self.slow_requests.iter().map(|[_, reader]| reader.clone());
        (settings, self.history.iter().map(HistoryFile::fd).chain(slow).chain(listen).collect())
    }

    /// Removes the socket files when the server stops.
    pub fn close(&mut self) {
        self.listen.drain(..).for_each(|(_, bound)| bound.remove_file());
    }
}

fn bind(address: &AdminAddress) -> anyhow::Result<(MonitorAddress, BoundSocket)> {
    let kind = match address.listen {
        Listen::Unix(_) => AddressKind::Unix,
        Listen::Tcp(_) if address.is_private() => AddressKind::Loopback,
        Listen::Tcp(_) => AddressKind::Open,
    };
    bind_as("AdminListen", kind, address)
}

fn bind_agent(address: &AdminAddress) -> anyhow::Result<(MonitorAddress, BoundSocket)> {
    bind_as("AgentCheckListen", AddressKind::Agent, address)
}

fn bind_as(
    directive: &str,
    kind: AddressKind,
    address: &AdminAddress,
) -> anyhow::Result<(MonitorAddress, BoundSocket)> {
    let name = address_name(&address.listen);
    let at = || ConfigError::at(&address.at, format!("{directive} {name}")).to_string();
    let bound = BoundSocket::private(&address.listen).with_context(at)?;
    Ok((MonitorAddress { name, kind }, bound))
}
