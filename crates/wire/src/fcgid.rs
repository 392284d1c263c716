//! Messages between a process that answers a request by a FastCGI program and the manager that starts these programs.
//!
//! ```text
//!   worker ── Lease ───▶ manager       on a channel of its own for each request
//!          ◀── Leased ──               the worker connects to the program's socket
//!          ── Done ────▶               the program may serve others; a closed channel without it ends the program
//! ```

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A program, and the limits of its processes. Equal programs share processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramSpec {
    /// Index of the virtual host, so that hosts share no processes.
    pub host: u16,
    /// File that is executed.
    pub file: PathBuf,
    /// Arguments of the program, without its name.
    pub arguments: Vec<Vec<u8>>,
    /// Environment of the program: `NAME=value`.
    pub environment: Vec<Vec<u8>>,
    /// Working folder of the program.
    pub folder: PathBuf,
    /// `RLimitCPU`, `RLimitMEM`, `RLimitNPROC`: soft and hard limit.
    pub limits: [Option<(u64, u64)>; 3],
    /// `FcgidMaxProcesses`
    pub most: u32,
    /// `FcgidMaxProcessesPerClass`
    pub most_of_class: u32,
    /// `FcgidMinProcessesPerClass`
    pub least_of_class: u32,
    /// `FcgidIdleTimeout` in seconds; 0 is unlimited.
    pub idle_s: u64,
    /// `FcgidProcessLifeTime` in seconds; 0 is unlimited.
    pub lifetime_s: u64,
    /// `FcgidMaxRequestsPerProcess`; 0 is unlimited.
    pub most_requests: u64,
    /// `FastCgiServer -processes`: processes that run without a request, too; 0 for programs that requests start.
    pub standing: u32,
}

/// The phase of a request that waits for a process of a program, beside those of Perl.
pub const PHASE_OF_WAITING: u16 = 0xff00;
/// The phase of a request that a program answers.
pub const PHASE_OF_PROGRAM: u16 = 0xff01;

/// The name of such a phase.
pub fn phase_name(phase: u16) -> Option<&'static str> {
    match phase {
        PHASE_OF_WAITING => Some("FastCGI queue"),
        PHASE_OF_PROGRAM => Some("FastCGI program"),
        _ => None,
    }
}

/// The programs of a manager, which it shows on a [`board`](crate::board) for the master.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramsBoard {
    /// Programs with processes, or that had some.
    pub programs: Vec<ProgramStatus>,
}

/// A FastCGI program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramStatus {
    /// Index of the virtual host.
    pub host: u16,
    /// File that is executed.
    pub file: String,
    /// Requests that wait for a process.
    pub waiting: u32,
    /// Requests that the program's processes have answered.
    pub requests: u64,
    /// Processes started so far.
    pub started: u64,
    /// Processes that have ended by themselves.
    pub failed: u64,
    /// The processes that run.
    pub processes: Vec<ProgramProcess>,
}

/// A process of a FastCGI program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramProcess {
    /// Process id.
    pub pid: i32,
    /// Current activity of the process.
    pub state: ProgramProcessState,
    /// Requests that the process has answered.
    pub requests: u64,
    /// Seconds since the start of the process.
    pub age_s: u64,
    /// Resident memory in bytes, shared pages included.
    pub memory: u64,
    /// Time of its current request in ms; `None` without one.
    #[serde(default)]
    pub busy_ms: Option<u64>,
    /// Method and path of its current request, without the query; empty without one.
    #[serde(default)]
    pub request: String,
}

/// Activity of a FastCGI program's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProgramProcessState {
    /// The process waits for a request.
    Idle,
    /// The process answers a request.
    Busy,
    /// The process was asked to exit.
    Ending,
}

impl ProgramProcessState {
    /// The state in status and metrics.
    pub fn name(self) -> &'static str {
        match self {
            ProgramProcessState::Idle => "idle",
            ProgramProcessState::Busy => "busy",
            ProgramProcessState::Ending => "ending",
        }
    }
}

impl ProgramStatus {
    /// Number of processes in a state.
    pub fn count(&self, state: ProgramProcessState) -> usize {
        self.processes.iter().filter(|process| process.state == state).count()
    }
}

/// A message to the manager.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToManager {
    /// Asks for a process of a program.
    Lease {
        /// File, arguments, variables and limits of the program.
        spec: Box<ProgramSpec>,
        /// Whether the process must be a new one: a used one has lost the request.
        is_fresh: bool,
        /// Method and path of the request, for the status.
        request: String,
    },
    /// The request is over. Unless `reusable`, the process is ended.
    Done {
        /// Whether the process has answered completely.
        reusable: bool,
    },
}

/// A message of the manager.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromManager {
    /// A process is reserved, and listens at this socket.
    Leased {
        /// Path of the unix socket.
        socket: PathBuf,
        /// Process id.
        pid: i32,
        /// Whether the process has answered requests before.
        is_used: bool,
    },
    /// No process can be started.
    Failed {
        /// Text for the error log, with the file of the program.
        error: String,
        /// The error number, or 0.
        number: i32,
    },
}
