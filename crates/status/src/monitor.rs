//! The messages from the master to the monitor. The monitor sends none: it gets a new status every second.

use serde::{Deserialize, Serialize};

use super::ServerStatus;
use sys::privileges::Account;

/// A message to the monitor.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToMonitor {
    /// The first message. Its descriptors: the history file if there is one, the table of slow requests, then the
    /// listening sockets.
    Configure(Settings),
    /// The current status, once per second.
    Status(Box<ServerStatus>),
}

/// Sent once, before the monitor drops its privileges.
#[derive(Debug, Serialize, Deserialize)]
pub struct Settings {
    /// The addresses of the listening sockets.
    pub listen: Vec<MonitorAddress>,
    /// The secret of `AdminToken`.
    pub token: Option<String>,
    /// Whether there is a history file. Without one, the monitor stores the last hour in memory.
    pub has_history_file: bool,
    /// The account that the monitor switches to.
    pub account: Option<Account>,
}

/// An address of `AdminListen`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MonitorAddress {
    /// `127.0.0.1:9180`, `[::1]:9180`, `/run/cameleer/admin.sock`
    pub name: String,
    /// Users that can connect, by the kind of the address.
    pub kind: AddressKind,
}

/// Users that can connect to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AddressKind {
    /// Users to whom the mode of the socket file grants access.
    Unix,
    /// All users of this machine, and their browsers.
    Loopback,
    /// Users of other machines as well.
    Open,
    /// HAProxy's agent checks, by `AgentCheckListen`: the protocol is not HTTP.
    Agent,
}
