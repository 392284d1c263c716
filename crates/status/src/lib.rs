//! Status of a running server: one struct, which the master fills, and its formats for programs that know httpd
//! (`?auto`) and for Prometheus. The command line, the monitor and the front's own pages use it.
//!
//! Start at [`ServerStatus`]; [`auto`], [`metrics`] and [`monitor`] format it, [`history`] stores it, and
//! [`health`] and [`agent`] judge it.

#![forbid(unsafe_code)]

pub mod agent;
pub mod auto;
mod cpu;
pub mod health;
pub mod history;
pub mod metrics;
pub mod monitor;
mod number;
pub mod orca;
mod usage;

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use wire::control::{FrontStatus, GenerationNumber, GenerationState, NodeStatus, ServerCounts, WorkerStatus};
use wire::fcgid::ProgramStatus;

pub use cpu::Cpu;
pub use number::{short, span};
pub use usage::{Usage, Usages};

use machine::memory::MemorySizes;

/// Status of the whole server at one moment.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ServerStatus {
    /// Version of the running server, such as `0.1.0`.
    pub version: String,
    /// Process id of the master.
    pub pid: i32,
    /// Configuration file, or `command line`.
    pub origin: String,
    /// Identity of the configuration file as the server sees it now.
    #[serde(default)]
    pub origin_file: Option<FileId>,
    /// Identity of the locked pid file.
    #[serde(default)]
    pub pid_file: Option<FileId>,
    /// Seconds since the start.
    pub uptime_s: u64,
    /// `uptime_s` in milliseconds, for rates over short intervals.
    #[serde(default)]
    pub uptime_ms: u64,
    /// Addresses of the listeners.
    pub listen: Vec<String>,
    /// The serving generation; 0 before the first one serves.
    pub generation: GenerationNumber,
    /// Whether the server ends after its current requests.
    #[serde(default)]
    pub stopping: bool,
    /// The server as a node behind a load balancer.
    #[serde(default)]
    pub node: NodeStatus,
    /// Generations with running processes.
    pub generations: Vec<GenerationStatus>,
    /// `MaxClients` in force.
    pub max_clients: u32,
    /// Process id of the front; 0 during its restart.
    pub front_pid: i32,
    /// Memory of the processes.
    #[serde(default)]
    pub memory: MemoryStatus,
    /// Process id of the monitor, if there is one.
    #[serde(default)]
    pub monitor_pid: Option<i32>,
    /// Path of the history file.
    #[serde(default)]
    pub history_file: Option<String>,
    /// Worker exits by reason, reloads, reforks.
    #[serde(default)]
    pub counts: ServerCounts,
    /// FastCGI programs that the server has started.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub programs: Vec<FastcgiProgram>,
    /// Certificates that the server gets by itself.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub certificates: Vec<ManagedCertificateStatus>,
    /// `None` when the front did not answer within a second.
    pub front: Option<FrontStatus>,
}

/// Identity of a file, independent of its path in a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Identity of the file at `path`.
    pub fn of(path: &Path) -> Option<FileId> {
        std::fs::metadata(path).ok().map(|about| FileId::from(&about))
    }
}

impl From<&Metadata> for FileId {
    fn from(about: &Metadata) -> FileId {
        FileId { device: about.dev(), inode: about.ino() }
    }
}

/// Configuration and code of one start or reload. Old generations stay listed until they have drained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GenerationStatus {
    /// From 1; each successful reload adds 1.
    pub generation: GenerationNumber,
    /// Only one generation serves at a time.
    pub state: GenerationState,
    /// Process id of the mold that forks; 0 after its end.
    pub mold_pid: i32,
    /// Number of workers that became the mold so far.
    #[serde(default)]
    pub refork: u32,
    /// In all of its pools, whatever their states.
    pub workers: u32,
    /// One entry per pool, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub molds: Vec<MoldStatus>,
}

/// The mold of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoldStatus {
    /// As in `<WorkerPool>`, `default` or `cgi`.
    pub pool: String,
    /// mod_perl's API in this pool: 1 or 2; 0 without Perl.
    pub perl_generation: u8,
    /// Process id of the mold that forks; 0 after its end.
    pub pid: i32,
    /// Number of workers that became the mold so far.
    pub refork: u32,
    /// Number of workers of the pool.
    pub workers: u32,
}

/// The certificates of a managed domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManagedCertificateStatus {
    /// Name of the domain, the first in `MDomain`.
    pub host: String,
    /// In lower case.
    pub names: Vec<String>,
    /// End of the certificate, in seconds since 1970; of several, the first. `None`: there is none.
    pub expires_s: Option<u64>,
    /// When a new certificate is requested, in seconds since 1970; `None`: now.
    pub renews_s: Option<u64>,
    /// Number of failed requests since the last new certificate.
    pub failures: u32,
    /// Message of the last failed request; `None` after a success.
    pub error: Option<String>,
}

/// A FastCGI program of a generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FastcgiProgram {
    /// The generation whose manager has started it.
    pub generation: GenerationNumber,
    /// `ServerName` of its virtual host; empty without one.
    pub host_name: String,
    /// Processes and counters of the program.
    #[serde(flatten)]
    pub program: ProgramStatus,
}

/// Memory as measured by the server; empty if no directive needs measurements.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryStatus {
    /// `MemoryBudget` in force, in bytes.
    pub budget: Option<u64>,
    /// Bytes that count against the budget.
    pub used: Option<u64>,
    /// Bytes of the workers' private memory that `Refork auto` would save, where it is off and that is worth it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refork_saves: Option<u64>,
    /// Last measurements of workers, molds and the front, by process id.
    pub processes: BTreeMap<i32, MemorySizes>,
}

impl MemoryStatus {
    /// Sum of all measured processes, shared pages once.
    pub fn pss(&self) -> u64 {
        self.processes.values().map(|sizes| sizes.pss).sum()
    }
}

impl ServerStatus {
    /// The workers, when the front has answered.
    pub fn workers(&self) -> &[WorkerStatus] {
        self.front.as_ref().map_or(&[], |front| &front.workers)
    }
}
