//! Commands to the master, and its answers: a JSON line each.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use status::ServerStatus;
use wire::control::{Inspection, LateCode};

/// A command to the master, sent as one line of JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "lowercase")]
pub enum Command {
    /// Report the status.
    Status,
    /// Report the status with complete histograms, for programs that poll each second.
    Snapshot,
    /// Read configuration and code anew; answered at the end.
    Reload,
    /// Have the mold and the workers report on themselves.
    Inspect {
        /// Which facts they report.
        what: Inspection,
    },
    /// Sample the stacks of workers; answered at the end.
    Record {
        /// Length of the recording.
        seconds: f64,
        /// Samples per second.
        hertz: f64,
    },
    /// Report the requests that `SlowLog` has found last.
    #[serde(rename = "slow")]
    SlowRequests,
    /// Report the current activity of a worker.
    Look {
        /// Slot of the worker, counted from 0.
        worker: u32,
    },
    /// Have the mold measure the memory that workers need to load this code.
    Weigh {
        /// Modules and scripts to load.
        code: LateCode,
    },
    /// Make a worker the mold and renew the pool from it; answered at the end.
    Refork,
    /// Ask a worker to leave when it is idle; it is replaced.
    Recycle {
        /// Slot of the worker, counted from 0.
        worker: u32,
    },
    /// Reopen the logs.
    Reopen,
    /// Fix the number of workers, and of busy ones, until the next reload: for measurements.
    Size {
        /// Exact: neither spare servers nor the load change it.
        workers: u32,
        /// Number of workers that may have a request at one time.
        busy: u32,
    },
    /// Drop cached responses.
    Purge {
        /// The responses, as `cameleer purge` names them; `*`: all.
        url: String,
    },
    /// Be not ready, and stop then. Answered immediately, and again when the drain is cancelled; the connection is
    /// closed when the last process has ended.
    Drain {
        /// Time until the stop, in milliseconds; `None`: `ShutdownDelay`.
        #[serde(default)]
        wait_ms: Option<u64>,
    },
    /// Be ready again after `drain`.
    #[serde(rename = "undrain")]
    CancelDrain,
    /// Begin or end the maintenance.
    #[serde(rename = "maint")]
    Maintain {
        /// Whether the maintenance begins.
        on: bool,
    },
    /// Stop the server. Answered immediately; the connection is closed when the last process has ended.
    Stop {
        /// Graceful or fast.
        #[serde(default)]
        how: StopMode,
    },
}

/// How to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StopMode {
    /// Finish the requests under way.
    #[default]
    Graceful,
    /// Finish no request.
    Fast,
}

/// The answer to a command.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ControlReply {
    /// Whether the command was carried out.
    pub ok: bool,
    /// Why the command failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// Answer to `status`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub status: Option<ServerStatus>,
    /// Answer to `purge`: the number of dropped responses.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub purged: Option<u64>,
    /// Answer to `inspect`: the mold first.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reports: Option<Vec<SelfReport>>,
}

/// The report of one process on itself.
#[derive(Debug, Serialize, Deserialize)]
pub struct SelfReport {
    /// Slot of the worker; `None` for the mold.
    pub worker: Option<u32>,
    /// Process id of the mold.
    pub pid: i32,
    /// JSON, which the site's code could have forged; empty when the process had no time.
    pub text: String,
}

impl SelfReport {
    /// The report as a `T`; `None` if it is malformed, because the site's code could have forged it.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(&self.text).ok()
    }
}

impl ControlReply {
    /// The answer for a command that was carried out.
    pub fn ok() -> ControlReply {
        ControlReply { ok: true, ..ControlReply::default() }
    }

    /// The command was not carried out.
    pub fn failed(error: impl ToString) -> ControlReply {
        ControlReply { error: Some(error.to_string()), ..ControlReply::default() }
    }
}
