//! Messages between the master and the front, the mold and the expander. Each is one JSON object; descriptors
//! travel beside it, in the order that the message documents.

mod challenge;
mod counts;
mod hosts;
mod node;
mod preload;
mod status;
mod times;
mod worker;

use serde::{Deserialize, Serialize};

pub use challenge::{Challenge, ChallengeType};
pub use counts::{ExitReason, ServerCounts};
pub use hosts::{CertificateStatus, HostStatus};
pub use node::{DependencyStatus, NodeState, NodeStatus};
pub use preload::{LateCode, LeftOutCode, PreloadOrder};
pub use status::{
    BroadcastStatus, BroadcastTransportStatus, ClientStatus, FrontStatus, MemberStatusReport, PoolStatus, ShareStatus,
    SharedStoreStatus, Shed, SlowRequest,
};
pub use times::{Quantiles, ResponseTimes, Spread, Spreads};
pub use worker::{LongWait, OpenStreams, WorkerActivity, WorkerState, WorkerStatus};

use crate::reply::LeaveReason;

/// A worker's place in the pool: 0 to MaxClients−1 within a generation's life, shown in logs and status as `worker=N`.
pub type Slot = u32;

/// Identifies a worker process, also after its slot was reused. A message about an ended worker may arrive when its
/// slot is already reused; the serial number distinguishes the two workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorkerId {
    /// Slot of the worker in the pool.
    pub slot: Slot,
    /// Counts the workers that this master has requested, from 1.
    pub serial: u64,
}

/// Number of a generation, counted from 1: the start creates one, and each successful reload another.
pub type GenerationNumber = u32;

/// Number of a pool within its generation: 0 is the main server's, others follow in the order of the
/// configuration.
pub type PoolNumber = u16;

/// Identifies a pool: a mold and its workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct PoolId {
    /// Molds of different generations never share a pool, so the number is part of the identity.
    pub generation: GenerationNumber,
    /// The number of the pool in that generation.
    pub pool: PoolNumber,
}

/// Messages from the master to the front.
#[derive(Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the other fields are what their names say")]
pub enum ToFront {
    /// Prepare a configuration, without serving it yet. Descriptors: a memfd with its JSON, a memfd with the
    /// certificates and keys of its hosts, then the access logs in the order of their first mention. The first
    /// `Configure` also carries the listeners.
    Configure {
        generation: GenerationNumber,
        /// Number of access logs that follow.
        logs: usize,
        /// The complete list of listeners, which follow the logs. Listeners not named here are closed.
        listeners: Vec<Listener>,
        /// The value of the `Server` header.
        software: String,
    },
    /// Certificates have changed. Descriptor: a memfd with them, as in `Configure`.
    Certificates {
        /// Generation that the listeners belong to.
        generation: GenerationNumber,
    },
    /// Answer these challenges of certificate authorities, and no others; the answer is `FromFront::Challenged`.
    Challenges {
        /// Number of the list, repeated in the answer.
        serial: u64,
        /// All challenges, of all names.
        challenges: Vec<Challenge>,
    },
    /// The master has requested a worker from the mold. Descriptors: the front's end of the worker's socket; a
    /// copy of the worker's end, with which the front takes back requests that the worker has not begun; and
    /// the shared memory, if any. `Gone` reports the worker's end.
    Worker {
        worker: WorkerId,
        pool: PoolId,
        /// The worker belonged to a front that has died; it may still be in the middle of a request of that
        /// front.
        adopted: bool,
    },
    /// The mold has forked this worker.
    Forked { slot: Slot, pid: i32 },
    /// A worker has ended; its socket may still hold a last response.
    Gone { slot: Slot },
    /// Send new requests to this generation; older ones drain.
    Activate { generation: GenerationNumber },
    /// Ask `count` idle workers of this pool to leave.
    Retire { pool: PoolNumber, count: u32 },
    /// Give at most `most` workers of this pool a request at one time, until another generation serves.
    Admit { pool: PoolNumber, most: u32 },
    /// Have this worker inspect itself. Descriptors: a memfd for the result, a descriptor that is closed when the
    /// result is complete, and the descriptors that the [`Inspection`] needs.
    Inspect { worker: WorkerId, what: Inspection },
    /// Ask this worker to leave when it is idle.
    Leave { worker: WorkerId },
    /// Ask this worker to leave, and to become a mold first. Descriptor: the mold's end of a control channel.
    Promote { worker: WorkerId },
    /// The logs were reopened. Descriptors: the error log, then the logs as in `Configure`.
    Logs,
    /// The master's counters, for the front's own status pages.
    Counts(ServerCounts),
    /// Whether the server is ready for a load balancer. The front moves clients away while it drains.
    Node(NodeStatus),
    /// Report the status; the answer is `FromFront::Status`.
    Status,
    /// Drop cached responses; the answer is `FromFront::Purged`.
    Purge {
        /// Number of the client, repeated in the answer.
        client: u64,
        /// The URLs to drop, see `cameleer purge --help`; `*` is all.
        url: String,
    },
    /// Check that the front lives; the answer is `FromFront::Alive`.
    Ping,
    /// Stop accepting, finish requests under way, answer `Drained`, then exit.
    Stop,
    /// Flush the logs, and exit.
    Exit,
}

/// A bound listening socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listener {
    /// `127.0.0.1:8080`, `[::]:80` or `/run/site.sock`.
    pub address: String,
}

/// Messages from the front to the master.
#[derive(Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the other fields are what their names say")]
pub enum FromFront {
    /// The front has built this generation's configuration.
    Configured { generation: GenerationNumber },
    /// The configuration cannot be served (no `Configured` follows), or the listeners of an `Activate` cannot
    /// be used.
    Refused { generation: GenerationNumber, error: String },
    /// The worker sent `Ready`.
    Ready {
        worker: WorkerId,
        /// Time from fork to ready, in µs.
        fork_us: u32,
    },
    /// A pool's state, sent when it changed and at most every 20 ms.
    Load(Load),
    /// A worker gets no more requests: it was asked to leave, or has announced its exit.
    Leaving {
        worker: WorkerId,
        /// The reason that the worker reported; `None`: it was asked to leave.
        reason: Option<LeaveReason>,
    },
    /// Kill this worker: it exceeded a timeout or broke the protocol.
    Kill {
        worker: WorkerId,
        /// The reason, for the log.
        reason: String,
        /// The reason, for the counters.
        exit: ExitReason,
    },
    /// A worker's request exceeded its timeout: send the worker the interrupt signal, with the number of the request
    /// as its value.
    Interrupt {
        worker: WorkerId,
        /// The number of the request; the worker may have begun another one by now.
        request: u64,
    },
    /// All requests of this generation are answered, and its workers were asked to leave.
    Retired { generation: GenerationNumber },
    /// Answer to `ToFront::Challenges`: from now on they are answered.
    Challenged { serial: u64 },
    /// Answer to `ToFront::Status`.
    Status(Box<FrontStatus>),
    /// Answer to `ToFront::Purge`.
    Purged {
        client: u64,
        /// Number of responses dropped, or the error in the URL.
        outcome: Result<u64, String>,
    },
    /// Answer to `ToFront::Ping`.
    Alive,
    /// No request is under way; follows `ToFront::Stop`.
    Drained,
    /// A request of an event worker waited longer than `SlowLog` for the beginning of its response.
    Waited(Box<LongWait>),
}

/// The load of a pool of the serving generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Load {
    /// Always a pool of the serving generation.
    pub id: PoolId,
    /// Workers that wait for a request.
    pub idle: u32,
    /// Workers that have a request.
    pub busy: u32,
    /// Requests that wait for a worker.
    pub queued: u32,
}

/// The states of a generation: one mold and its workers. Drawn in docs/architecture.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GenerationState {
    /// The mold reads the configuration's Perl.
    Loading,
    /// The mold is ready; its first workers are starting.
    Starting,
    /// New requests are sent to workers of the generation.
    Serving,
    /// A newer generation serves; this one finishes its requests.
    Draining,
    /// The code did not load; the error is in the log.
    Failed,
    /// All processes of the generation have ended.
    Gone,
}

/// Messages from the master to a mold.
#[derive(Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the other fields are what their names say")]
pub enum ToMold {
    /// The first message of a mold that is started before the reload that it is for (`PerlPrepare`): it boots Perl, and
    /// waits for `Configure` with the same configuration. Descriptor: a memfd with the configuration's JSON.
    Prepare { pool: PoolNumber },
    /// The first message of all others. Descriptors: a memfd with the configuration's JSON, a memfd with the memory
    /// limit of each worker, then the error logs of hosts.
    Configure {
        pool: PoolId,
        /// Code to load beyond the configuration's, where it loads without harm (`PerlPreload auto`).
        preload: PreloadOrder,
    },
    /// For the mold of CGI programs, before its first `Spawn`: what the code of another pool has set.
    ProgramFacts { pool: PoolNumber, facts: ProgramFacts },
    /// Fork a worker. Descriptors: the worker's end of its socket, and the memory that it shares with the front, if
    /// any.
    Spawn { slot: Slot },
    /// The error log was reopened. Descriptor: the error log.
    Logs,
    /// Inspect the mold, as `ToFront::Inspect` does for a worker.
    Inspect { what: Inspection },
    /// Measure the memory that a worker needs to load this code, in a child of the mold. Descriptors: as
    /// `Inspect`.
    Weigh { code: LateCode },
    /// Run a `ReadinessCheck` in a child of the mold. Descriptors: as `Inspect`.
    Check {
        /// Number of the check in the configuration.
        check: u16,
    },
    /// Stop forking; exit when the last worker has ended.
    Retire,
}

/// Messages from a mold to the master.
#[derive(Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the other fields are what their names say")]
pub enum FromMold {
    /// The Perl of the configuration is loaded. Descriptor, from the mold of CGI programs with FastCGI programs: the
    /// [`board`](crate::board) with a [`ProgramsBoard`](crate::fcgid::ProgramsBoard).
    Ready {
        /// Time to load the code, in milliseconds.
        load_ms: u64,
        /// The `Server` header, with the components that Perl code added.
        software: String,
        /// Address, in the memory of each worker, where it records its current activity.
        activity: usize,
        /// Facts about the loaded code, for CGI programs.
        facts: ProgramFacts,
        /// Late code that the mold has not loaded.
        left_out: Vec<LeftOutCode>,
    },
    /// A worker has become this mold and can fork. The first message of a mold that gets no `Configure`.
    Promoted {
        /// Process id of the mold, a child of the master.
        pid: i32,
        /// Time since the fork, in microseconds.
        fork_us: u32,
        /// Number of requests that the worker has answered.
        requests: u64,
    },
    /// The mold could not load the code, or the worker cannot become a mold; the process exits.
    Failed {
        /// The message, with file and line or the reason.
        error: String,
    },
    /// A worker was forked.
    Forked { slot: Slot, pid: i32 },
    /// No worker was forked, for lack of memory or processes.
    ForkFailed {
        slot: Slot,
        /// Text of errno.
        error: String,
    },
    /// A worker has ended.
    Exited { slot: Slot, pid: i32, exit: Exit },
}

/// The parts of the environment of CGI programs that only the loaded Perl code of their pool determines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramFacts {
    /// Components that the code has added to `SERVER_SOFTWARE`.
    pub components: Vec<String>,
    /// Names and values in `%ENV` after the code was loaded, as far as programs get them.
    pub variables: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Kinds of self-inspection of a process that runs Perl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Inspection {
    /// The code that the process has loaded since it was forked.
    Loaded,
    /// The contents of Perl's memory, by class.
    Census,
    /// The growth of the process by requests, by URL path.
    Growth,
    /// Find the data on pages that are no longer shared with the mold. Descriptors: pagemap and mem of the worker, mem
    /// of the mold.
    Blame,
}

impl Inspection {
    /// All inspections, by their numbers in packets.
    pub const ALL: [Inspection; 4] = [Inspection::Loaded, Inspection::Census, Inspection::Growth, Inspection::Blame];
}

/// Messages from the master to the expander, which runs the configuration's Perl before the master binds any
/// socket.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToExpander {
    /// The only message. Descriptor: a memfd with the configuration as read.
    Expand,
}

/// Messages from the expander to the master. The expander exits after `Expanded`.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromExpander {
    /// The expander is about to run the code of this line.
    Reached {
        /// The configuration file.
        file: String,
        /// Line number, from 1.
        line: u32,
        /// Name of the directive or section.
        name: String,
    },
    /// The expansion is complete. Descriptor: a memfd with the expanded configuration, or with the errors.
    Expanded,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// By `exit`: its argument modulo 256.
    Code(i32),
    /// By a signal: its number, as in signal(7).
    Signal(i32),
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "status={code}"),
            Exit::Signal(signal) => write!(f, "signal={signal}"),
        }
    }
}
