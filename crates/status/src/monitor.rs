//! What the master says to the monitor. The monitor says nothing: what it could ask for, the master has told it a second ago.

use serde::{Deserialize, Serialize};

use super::Status;
use sys::privileges::Account;

/// See the module.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToMonitor {
    /// The first message. Descriptors: the history's file, if there is one, the board with slow requests, then the listening sockets.
    Configure(Settings),
    /// How things stand, once a second.
    Status(Box<Status>),
}

/// What it begins with.
#[derive(Debug, Serialize, Deserialize)]
pub struct Settings {
    /// The sockets that come beside it.
    pub listen: Vec<Address>,
    /// The secret of `AdminToken`.
    pub token: Option<String>,
    /// Without one the last hour is kept in memory.
    pub has_history_file: bool,
    /// Who to become.
    pub account: Option<Account>,
}

/// An `AdminListen` as those who ask are held against it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Address {
    /// `127.0.0.1:9180`, `[::1]:9180`, `/run/cameleer/admin.sock`
    pub name: String,
    /// Of what kind it is.
    pub kind: AddressKind,
}

/// Who can reach an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AddressKind {
    /// Whom the file's mode lets.
    Unix,
    /// All users of this machine, and the browsers that they use.
    Loopback,
    /// The network.
    Open,
}
