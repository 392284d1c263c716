//! Settings of the server as a whole: addresses, pool, limits, logs.

use std::fmt::{self, Display};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::budget::{MemoryBudget, ReforkWhen, WorkerLimits};
use crate::model::perl::api::PerlGeneration;
use crate::syntax::tree::At;

/// An address to listen on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Listen {
    /// An IP address and port; `*` is `0.0.0.0` or `[::]`.
    Tcp(std::net::SocketAddr),
    /// A unix socket.
    Unix(PathBuf),
}

impl Listen {
    /// The address, unless it is a unix socket.
    pub fn tcp(&self) -> Option<std::net::SocketAddr> {
        match self {
            Listen::Tcp(address) => Some(*address),
            Listen::Unix(_) => None,
        }
    }
}

/// Access to the running server's status, and its history.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MonitorSettings {
    /// `AdminListen`
    pub listen: Vec<AdminAddress>,
    /// `AdminToken`, and its position.
    pub token: Option<(PathBuf, At)>,
    /// `HistoryFile`
    pub history: HistorySetting,
    /// `AgentCheckListen`
    pub agents: Vec<AdminAddress>,
}

/// An `AdminListen` or `AgentCheckListen`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminAddress {
    /// Where the monitor listens.
    pub listen: Listen,
    /// Position of the directive.
    pub at: At,
}

impl AdminAddress {
    /// Whether only processes of this machine can connect.
    pub fn is_private(&self) -> bool {
        match &self.listen {
            Listen::Tcp(address) => address.ip().to_canonical().is_loopback(),
            Listen::Unix(_) => true,
        }
    }
}

/// `HistoryFile`
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum HistorySetting {
    /// `auto`: a file in systemd's StateDirectory.
    #[default]
    Auto,
    /// `off`: no history.
    Off,
    /// Any other argument of the directive.
    File(PathBuf),
}

/// Settings that each `<WorkerPool>` may set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolSettings {
    /// `StartServers`
    pub start: u32,
    /// `MinSpareServers`
    pub min_spare: u32,
    /// `MaxSpareServers`
    pub max_spare: u32,
    /// `MaxClients`
    pub max_clients: u32,
    /// `MaxClients auto`: the number of workers follows the load.
    pub auto: bool,
    /// `MaxRequestsPerChild`: each worker draws its limit from the range; `0..=0` is unlimited.
    pub max_requests: RangeInclusive<u64>,
    /// `QueueLength`: maximum number of waiting requests; further ones are answered 503.
    pub queue_length: usize,
    /// `QueueStale`: waiting time that indicates an overload while the queue grows; zero: never.
    pub queue_stale: Duration,
    /// `WireMemory`: number of blocks that each worker shares with the front.
    pub blocks: usize,
    /// `MemoryBudget`
    pub budget: MemoryBudget,
    /// `MaxMemoryPerChild`, `MinSharedPerChild`, `MaxGrowthPerChild`, `MaxAgePerChild`, `MaxIdlePerChild`.
    pub worker: WorkerLimits,
    /// `Refork`
    pub refork: ReforkWhen,
    /// `PsgiMode`
    pub mode: PsgiMode,
    /// `EventConnections`: maximum number of open requests and connections of each worker of an event pool.
    pub event_connections: u32,
}

/// `PsgiMode`: how the workers of a pool run their PSGI applications.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PsgiMode {
    /// One request at a time.
    #[default]
    Blocking,
    /// An event loop, with many requests at a time.
    Event,
}

impl PoolSettings {
    /// Whether the workers run an event loop.
    pub fn is_event(&self) -> bool {
        self.mode == PsgiMode::Event
    }
}

impl Default for PoolSettings {
    fn default() -> PoolSettings {
        let (start, min_spare, max_spare, max_clients, queue_length) = (0, 0, 0, 0, 0);
        PoolSettings {
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
            mode: PsgiMode::Blocking,
            event_connections: 0,
        }
    }
}

/// `<WorkerPool name>`, or a virtual host with `PerlOptions +Parent`.
#[derive(Debug, Clone)]
pub struct NamedPool {
    /// Name in `PerlPool`, logs and status.
    pub name: String,
    /// Position of the definition.
    pub at: At,
    /// Settings of the pool; missing ones are inherited from the default pool.
    pub pool: PoolSettings,
    /// Perl's switches in the pool.
    pub perl: PerlSwitches,
    /// Whether the pool belongs to a virtual host.
    pub is_host: bool,
    /// Section with process settings of `<WorkerPool>`. `None` for a virtual host, which has its own.
    pub base: Option<u16>,
}

/// `Timeout`, `GracefulShutdownTimeout`, `StartTimeout`, `FrontTimeout`, `SlowLog`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Timeouts {
    /// `Timeout`: maximum wait for the client to send or accept bytes.
    pub client: Duration,
    /// `GracefulShutdownTimeout`
    pub graceful: Duration,
    /// `StartTimeout`: maximum time for a mold to load.
    pub start: Duration,
    /// `FrontTimeout`: a front that does not answer for this long is replaced; 0: never.
    pub front: Duration,
    /// `SlowLog`; `None`: off.
    pub slow_log: Option<Duration>,
}

/// `PerlTaintCheck`, `PerlWarn`, `PerlPreload`, `PerlGeneration`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PerlSwitches {
    /// `-T`
    pub taint_check: bool,
    /// `-w`
    pub warn: bool,
    /// `PerlPreload auto`
    pub preload: bool,
    /// `PerlGeneration`, or the API that the configuration implies.
    pub generation: PerlGeneration,
}

/// `TransparentHugePages`, `KernelSamePageMerging`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pages {
    /// Whether huge pages are used where the kernel provides them.
    pub huge: bool,
    /// Whether the kernel may merge pages with equal contents.
    pub merge: bool,
}

/// `LimitRequestLine`, `LimitRequestFields`, `LimitRequestFieldSize`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestLimits {
    /// Maximum length of the request line in bytes.
    pub request_line: usize,
    /// Maximum number of header fields.
    pub fields: usize,
    /// Maximum length of one header field in bytes.
    pub field_size: usize,
}

/// Destination of a log.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum LogTarget {
    /// Standard error of the master (for an access log: standard output).
    #[default]
    Standard,
    /// A file, by its absolute path.
    File(PathBuf),
    /// `|command`: the command's standard input.
    Pipe(String),
    /// `syslog:facility:tag`
    Syslog(SyslogTarget),
}

/// `ErrorLog syslog:facility:tag`
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SyslogTarget {
    /// Number of the facility; see [`SyslogTarget::FACILITIES`].
    pub facility: u8,
    /// Name of the program in each message.
    pub tag: String,
}

impl SyslogTarget {
    /// Names of the facilities with their numbers (RFC 5424, section 6.2.1).
    const FACILITIES: [(&str, u8); 20] = [
        ("kern", 0),
        ("user", 1),
        ("mail", 2),
        ("daemon", 3),
        ("auth", 4),
        ("syslog", 5),
        ("lpr", 6),
        ("news", 7),
        ("uucp", 8),
        ("cron", 9),
        ("authpriv", 10),
        ("ftp", 11),
        ("local0", 16),
        ("local1", 17),
        ("local2", 18),
        ("local3", 19),
        ("local4", 20),
        ("local5", 21),
        ("local6", 22),
        ("local7", 23),
    ];
    /// The longest tag in bytes: that of RFC 5424.
    const MAX_TAG_BYTES: usize = 48;

    /// The target that `syslog`, `syslog:facility` or `syslog:facility:tag` names; `None`: the text names a file. As in
    /// httpd, the facility is `local7` if there is none.
    pub fn parse(text: &str) -> Option<Result<SyslogTarget, String>> {
        let rest = text.strip_prefix("syslog")?;
        let words = match rest {
            "" => "",
            _ => rest.strip_prefix(':')?,
        };
        let (facility, tag) = words.split_once(':').unwrap_or((words, ""));
        let known = SyslogTarget::FACILITIES.iter().find(|(name, _)| name.eq_ignore_ascii_case(facility));
        let facility = match known {
            Some((_, number)) => *number,
            None if facility.is_empty() => 23,
            None => {
                let names = SyslogTarget::FACILITIES.map(|(name, _)| name).join(", ");
                return Some(Err(format!("expected a facility of syslog, one of {names}, got \"{facility}\"")));
            }
        };
        if tag.len() > SyslogTarget::MAX_TAG_BYTES || !tag.bytes().all(|byte| byte.is_ascii_graphic()) {
            let most = SyslogTarget::MAX_TAG_BYTES;
            return Some(Err(format!("expected a tag of at most {most} printable ASCII characters, got \"{tag}\"")));
        }
        let tag = if tag.is_empty() { "cameleer" } else { tag };
        Some(Ok(SyslogTarget { facility, tag: tag.to_owned() }))
    }
}

impl Display for SyslogTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = SyslogTarget::FACILITIES.iter().find(|(_, number)| *number == self.facility);
        write!(f, "syslog:{}:{}", known.map_or("local7", |(name, _)| *name), self.tag)
    }
}

/// Whether failed requests are recorded, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedFailures {
    /// `RecordFailures`
    pub is_on: bool,
    /// `RecordFailuresDirectory`; `None` is `failures` below ServerRoot.
    pub folder: Option<PathBuf>,
}

impl RecordedFailures {
    /// The folder of the recordings.
    pub fn folder_below(&self, server_root: &Path) -> PathBuf {
        self.folder.clone().unwrap_or_else(|| server_root.join("failures"))
    }
}
