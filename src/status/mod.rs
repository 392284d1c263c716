//! What a running server tells of itself: one struct, which the master puts together, and the forms in which it is read: by programs that know
//! httpd (`?auto`), by Prometheus. The command line and the monitor read it, and the front's own pages.

pub mod auto;
mod cpu;
pub mod metrics;
mod number;

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use wire::control::{FrontStatus, GenerationNumber, GenerationState, ServerCounts, WorkerStatus};

pub use cpu::Cpu;
pub use number::{short, span};

use crate::memory::Sizes;

/// The whole server at one moment.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Status {
    /// Ours.
    pub version: String,
    /// The master.
    pub pid: i32,
    /// The configuration's file, or `command line`.
    pub origin: String,
    /// The configuration's file as the server finds it now.
    #[serde(default)]
    pub origin_file: Option<FileId>,
    /// The pid file that it holds.
    #[serde(default)]
    pub pid_file: Option<FileId>,
    /// Seconds since the start.
    pub uptime_s: u64,
    /// The same in milliseconds.
    #[serde(default)]
    pub uptime_ms: u64,
    /// Where it listens.
    pub listen: Vec<String>,
    /// The generation that serves; 0 before the first does.
    pub generation: GenerationNumber,
    /// All that have processes.
    pub generations: Vec<GenerationStatus>,
    /// `MaxClients` in force.
    pub max_clients: u32,
    /// Its process; 0 while it is being started again.
    pub front_pid: i32,
    /// What processes have of the memory.
    #[serde(default)]
    pub memory: MemoryStatus,
    /// The process that shows all this, where there is one.
    #[serde(default)]
    pub monitor_pid: Option<i32>,
    /// Where the past is kept.
    #[serde(default)]
    pub history_file: Option<String>,
    /// How workers ended, reloads, reforks.
    #[serde(default)]
    pub counts: ServerCounts,
    /// `None` when the front did not answer within a second.
    pub front: Option<FrontStatus>,
}

/// A file, whatever its name is in this or that container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Of the file that is there now.
    pub fn of(path: &Path) -> Option<FileId> {
        std::fs::metadata(path).ok().map(|about| FileId::from(&about))
    }
}

impl From<&Metadata> for FileId {
    fn from(about: &Metadata) -> FileId {
        FileId { device: about.dev(), inode: about.ino() }
    }
}

/// A generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GenerationStatus {
    /// Which.
    pub generation: GenerationNumber,
    /// See [`GenerationState`].
    pub state: GenerationState,
    /// Its mold, the one that forks; 0 when it has ended.
    pub mold_pid: i32,
    /// How many times a worker has become the mold.
    #[serde(default)]
    pub refork: u32,
    /// How many it has.
    pub workers: u32,
    /// One entry a pool, where there is more than one.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub molds: Vec<MoldStatus>,
}

/// The mold of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoldStatus {
    /// Whose.
    pub pool: String,
    /// Which of mod_perl's APIs it speaks.
    pub perl_generation: u8,
    /// The process, the one that forks; 0 when it has ended.
    pub pid: i32,
    /// How many times a worker has become the mold.
    pub refork: u32,
    /// How many workers the pool has.
    pub workers: u32,
}

/// Memory as the server itself measures it: nothing, where no directive asks for that.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryStatus {
    /// `MemoryBudget` in force, in bytes.
    pub budget: Option<u64>,
    /// What counts against it.
    pub used: Option<u64>,
    /// By their numbers: workers, molds and the front, each as last measured.
    pub processes: BTreeMap<i32, Sizes>,
}

impl MemoryStatus {
    /// Of all processes that were measured, shared pages once.
    pub fn pss(&self) -> u64 {
        self.processes.values().map(|sizes| sizes.pss).sum()
    }
}

impl Status {
    /// Notes what each worker has for itself by that measurement, and what it has used of the processors.
    pub fn measure(&mut self, private: impl Fn(i32) -> Option<u64>) {
        for worker in self.front.iter_mut().flat_map(|front| &mut front.workers) {
            worker.private_bytes = private(worker.pid);
            worker.cpu_ms = Cpu::millis(worker.pid);
        }
    }

    /// The workers, when the front has answered.
    pub fn workers(&self) -> &[WorkerStatus] {
        self.front.as_ref().map_or(&[], |front| &front.workers)
    }
}
