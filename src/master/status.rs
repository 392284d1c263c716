//! What `cameleer status` is told: one struct, written by the master, read by the command line.

use serde::{Deserialize, Serialize};
use wire::control::{FrontStatus, Generation, GenerationState, WorkerStatus};

/// The whole server at one moment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Status {
    /// Ours.
    pub version: String,
    /// The master.
    pub pid: i32,
    /// The configuration's file, or `command line`.
    pub origin: String,
    /// Seconds since the start.
    pub uptime_s: u64,
    /// Where it listens.
    pub listen: Vec<String>,
    /// The generation that serves; 0 before the first does.
    pub generation: Generation,
    /// All that have processes.
    pub generations: Vec<GenerationStatus>,
    /// `MaxClients` in force.
    pub max_clients: u32,
    /// Its process; 0 while it is being started again.
    pub front_pid: i32,
    /// `None` when the front did not answer within a second.
    pub front: Option<FrontStatus>,
}

/// A generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GenerationStatus {
    /// Which.
    pub generation: Generation,
    /// See [`GenerationState`].
    pub state: GenerationState,
    /// Its mold; 0 when it has ended.
    pub mold_pid: i32,
    /// How many it has.
    pub workers: u32,
}

impl Status {
    /// The workers, when the front has answered.
    pub fn workers(&self) -> &[WorkerStatus] {
        self.front.as_ref().map_or(&[], |front| &front.workers)
    }
}
