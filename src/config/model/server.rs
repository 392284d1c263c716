//! What holds for the server as a whole: where it listens, its pool, its limits, its logs.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::model::budget::{MemoryBudget, ReforkWhen, WorkerLimits};
use crate::config::model::perl::api::Generation;
use crate::config::syntax::tree::At;

/// An address to listen on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Listen {
    /// `host` is an address; `*` is written `0.0.0.0` or `[::]`.
    Tcp(std::net::SocketAddr),
    /// A unix socket.
    Unix(PathBuf),
}

impl Listen {
    /// Its address, unless it is a unix socket.
    pub fn tcp(&self) -> Option<std::net::SocketAddr> {
        match self {
            Listen::Tcp(address) => Some(*address),
            Listen::Unix(_) => None,
        }
    }
}

/// Who may look at the server while it runs, and what is kept of its past.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Monitor {
    /// `AdminListen`
    pub listen: Vec<AdminAddress>,
    /// `AdminToken`, and where it is written.
    pub token: Option<(PathBuf, At)>,
    /// `HistoryFile`
    pub history: History,
}

/// An `AdminListen`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminAddress {
    /// The address.
    pub listen: Listen,
    /// Where it is written.
    pub at: At,
}

impl AdminAddress {
    /// Whether only this machine reaches it.
    pub fn is_private(&self) -> bool {
        match &self.listen {
            Listen::Tcp(address) => address.ip().to_canonical().is_loopback(),
            Listen::Unix(_) => true,
        }
    }
}

/// `HistoryFile`
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum History {
    /// In the folder that systemd has made for our state.
    #[default]
    Auto,
    /// Nowhere.
    Off,
    /// In this file.
    File(PathBuf),
}

/// The pool's directives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// `StartServers`
    pub start: u32,
    /// `MinSpareServers`
    pub min_spare: u32,
    /// `MaxSpareServers`
    pub max_spare: u32,
    /// `MaxClients`
    pub max_clients: u32,
    /// `MaxClients auto`: as many of them as there is work for.
    pub auto: bool,
    /// `MaxRequestsPerChild`: each worker draws its own limit from the range; `0..=0` is unlimited.
    pub max_requests: RangeInclusive<u64>,
    /// `QueueLength`: requests that may wait for a worker; more are answered 503 at once.
    pub queue_length: usize,
    /// `QueueStale`: requests that wait for so long, while more and more come, are an overload; zero: never.
    pub queue_stale: Duration,
    /// `WireMemory`: how many blocks each worker shares with the front.
    pub blocks: usize,
    /// `MemoryBudget`
    pub budget: MemoryBudget,
    /// `MaxMemoryPerChild` and what stands beside it.
    pub worker: WorkerLimits,
    /// `Refork`
    pub refork: ReforkWhen,
}

impl Default for Pool {
    fn default() -> Pool {
        let (start, min_spare, max_spare, max_clients, queue_length) = (0, 0, 0, 0, 0);
        Pool {
            start,
            min_spare,
            max_spare,
            max_clients,
            auto: false,
            max_requests: 0..=0,
            queue_length,
            queue_stale: Duration::ZERO,
            blocks: 0,
            budget: MemoryBudget::Auto,
            worker: WorkerLimits::default(),
            refork: ReforkWhen::Off,
        }
    }
}

/// `<WorkerPool name>`, or a virtual host with `PerlOptions +Parent`.
#[derive(Debug, Clone)]
pub struct NamedPool {
    /// As places and status call it.
    pub name: String,
    /// Where it begins.
    pub at: At,
    /// Its numbers; what it does not say is the server's own.
    pub pool: Pool,
    /// What its perl is started with.
    pub perl: PerlSwitches,
    /// It is a virtual host.
    pub is_host: bool,
    /// The section of what `<WorkerPool>` says of processes; a virtual host has its own.
    pub base: Option<u16>,
}

/// `Timeout` and ours.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Timeouts {
    /// `Timeout`: waiting for the client: for its next bytes, or until it accepts some of ours.
    pub client: Duration,
    /// `GracefulShutdownTimeout`
    pub graceful: Duration,
    /// `StartTimeout`: a mold that has not loaded by then has failed.
    pub start: Duration,
    /// `FrontTimeout`: a front that is silent for so long is replaced; 0: never.
    pub front: Duration,
    /// `SlowLog`; `None`: off.
    pub slow_log: Option<Duration>,
}

/// `PerlTaintCheck`, `PerlWarn` and their kin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PerlSwitches {
    /// `-T`
    pub taint_check: bool,
    /// `-w`
    pub warn: bool,
    /// `PerlPreload auto`
    pub preload: bool,
    /// `PerlGeneration`, or what the rest of the configuration says.
    pub generation: Generation,
}

/// `TransparentHugePages`, `KernelSamePageMerging`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pages {
    /// Huge ones, where the kernel gives them.
    pub huge: bool,
    /// Those of the same content are joined.
    pub merge: bool,
}

/// `LimitRequestLine`, `LimitRequestFields`, `LimitRequestFieldSize`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestLimits {
    /// Bytes of the request line.
    pub request_line: usize,
    /// Header fields.
    pub fields: usize,
    /// Bytes of one header field.
    pub field_size: usize,
}

/// Where lines go.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum LogTarget {
    /// Standard error of the master (for an access log: standard output).
    #[default]
    Standard,
    /// A file, absolute.
    File(PathBuf),
    /// `|command`: its standard input.
    Pipe(String),
}

/// `LogLevel`, Apache's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[allow(missing_docs, reason = "the names are syslog's")]
pub enum LogLevel {
    Emerg,
    Alert,
    Crit,
    Error,
    #[default]
    Warn,
    Notice,
    Info,
    Debug,
}
