//! What the master says to the front and to the mold, and what they say to it. One JSON object a message; descriptors
//! travel beside it, in the order that each message names.

mod counts;
mod status;

use serde::{Deserialize, Serialize};

pub use counts::{ExitReason, ServerCounts};
pub use status::{
    Activity, ClientStatus, FrontStatus, PoolStatus, Quantiles, ShareStatus, SlowRequest, Spread, Spreads, Times,
    WorkerState, WorkerStatus,
};

use crate::reply::LeaveReason;

/// A worker's place in the pool: 0 to MaxClients−1 within a generation's life, shown in logs and status as `worker=N`.
pub type Slot = u32;

/// One worker among all that had its place, one after the other. The front's news of one may arrive when it has ended
/// and another has its place already: the master must not take it for news of that one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WorkerId {
    /// Its place.
    pub slot: Slot,
    /// Counts the workers that this master has asked for, from 1.
    pub serial: u64,
}

/// Which generation: counts the starts of the Perl side, of which each reload that succeeds is one.
pub type GenerationNumber = u32;

/// Which of the pools of a generation: 0 is the server's own, the others are counted in the order of the configuration.
pub type PoolNumber = u16;

/// A pool of a generation: a mold and its workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct PoolId {
    /// Whose configuration it has.
    pub generation: GenerationNumber,
    /// Which of its pools.
    pub pool: PoolNumber,
}

/// The master to the front.
#[derive(Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the other fields are what their names say")]
pub enum ToFront {
    /// A configuration to get ready, not yet to serve. Descriptors: a memfd with its JSON, one with the certificates and
    /// keys of its hosts, then the access logs in order of their first mention. The first one also carries the listeners.
    Configure {
        generation: GenerationNumber,
        /// How many access logs follow.
        logs: usize,
        /// The listeners that follow the logs, complete: those no longer named are closed.
        listeners: Vec<Listener>,
        /// What goes into the `Server` header.
        software: String,
    },
    /// Certificates have changed. Descriptor: a memfd with them, as in `Configure`.
    Certificates {
        /// Whose.
        generation: GenerationNumber,
    },
    /// A worker was asked of the mold. Descriptors: the front's end of its socket, a copy of the worker's end, by
    /// which the front takes back what the worker has not begun, and their memory, if they share any. The worker's end is told by `Gone`.
    Worker {
        worker: WorkerId,
        pool: PoolId,
        /// It had another front, which has died; it may be in the middle of a request of that one.
        adopted: bool,
    },
    /// The mold forked it.
    Forked { slot: Slot, pid: i32 },
    /// A worker has ended; its socket may still hold a last answer.
    Gone { slot: Slot },
    /// From now on new requests are for this generation; older ones drain.
    Activate { generation: GenerationNumber },
    /// Ask `count` idle workers of this pool to leave.
    Retire { pool: PoolNumber, count: u32 },
    /// At most so many workers of this pool have a request at one time, until another generation serves.
    Admit { pool: PoolNumber, most: u32 },
    /// Have this worker tell about itself. Descriptors: a memfd for what it tells, what is closed when it has told, and those
    /// that the inspection takes.
    Inspect { worker: WorkerId, what: Inspection },
    /// Ask this worker to leave as soon as it has no request.
    Leave { worker: WorkerId },
    /// The same, and to become a mold first. Descriptor: the mold's end of a control channel.
    Promote { worker: WorkerId },
    /// Logs were opened anew. Descriptors: the error log, then the logs as in `Configure`.
    Logs,
    /// What the master has counted, which the front's own pages show, too.
    Counts(ServerCounts),
    /// Describe yourself: answered by `FromFront::Status`.
    Status,
    /// Forget answers that are kept: answered by `FromFront::Purged`.
    Purge {
        /// Who asks, for the answer.
        client: u64,
        /// Which: see `cameleer purge --help`. `*`: all.
        url: String,
    },
    /// Are you there? Answered by `FromFront::Alive`.
    Ping,
    /// Stop accepting; finish what is under way; answer `Drained`, then exit.
    Stop,
    /// Write what the logs are owed, and exit.
    Exit,
}

/// A bound listening socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listener {
    /// `127.0.0.1:8080`, `[::]:80` or `/run/site.sock`.
    pub address: String,
}

/// The front to the master.
#[derive(Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the other fields are what their names say")]
pub enum FromFront {
    /// The configuration of this generation is understood.
    Configured { generation: GenerationNumber },
    /// It cannot be served: no `Configured` follows, or the listeners of an `Activate` cannot be used.
    Refused { generation: GenerationNumber, error: String },
    /// The worker sent `Ready`.
    Ready {
        worker: WorkerId,
        /// Microseconds from fork to ready.
        fork_us: u32,
    },
    /// A pool's state, sent when it changed and at most every 20 ms.
    Load(Load),
    /// This worker serves no more: it was asked to leave, or said that it will.
    Leaving {
        worker: WorkerId,
        /// `None`: it was asked to.
        reason: Option<LeaveReason>,
    },
    /// This worker is beyond help (request timeout, lies): kill it.
    Kill {
        worker: WorkerId,
        /// Why, for the log.
        reason: String,
        /// Why, for the count.
        exit: ExitReason,
    },
    /// This worker's request takes too long: send the signal that makes it die, with the request's number as its value.
    Interrupt {
        worker: WorkerId,
        /// The request; the worker may be at another by now.
        request: u64,
    },
    /// Everything of this generation is answered and its workers were asked to leave.
    Retired { generation: GenerationNumber },
    /// Answer to `ToFront::Status`.
    Status(Box<FrontStatus>),
    /// Answer to `ToFront::Purge`.
    Purged {
        client: u64,
        /// How many answers were forgotten, or what is wrong with the URL.
        outcome: Result<u64, String>,
    },
    /// Answer to `ToFront::Ping`.
    Alive,
    /// Nothing is under way any more; sent after `ToFront::Stop`.
    Drained,
}

/// How busy a pool of the serving generation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Load {
    /// Which.
    pub id: PoolId,
    /// Workers that wait for a request.
    pub idle: u32,
    /// Workers that have one.
    pub busy: u32,
    /// Requests that wait for a worker.
    pub queued: u32,
}

/// The life of a generation: one mold and its workers. Drawn in docs/architecture.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GenerationState {
    /// The mold reads the configuration's Perl.
    Loading,
    /// The mold is ready; its first workers boot.
    Starting,
    /// New requests go to its workers.
    Serving,
    /// A newer one serves; this one finishes what it has.
    Draining,
    /// Its code did not load; the error is in the log.
    Failed,
    /// All its processes have ended.
    Gone,
}

/// The master to the mold.
#[derive(Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the other fields are what their names say")]
pub enum ToMold {
    /// The first message. Descriptors: a memfd with the configuration's JSON, one with words that say how large each worker may
    /// become, then the error logs of hosts.
    Configure {
        pool: PoolId,
        /// What it loads besides, if it can (`PerlPreload auto`).
        preload: LateCode,
    },
    /// Fork a worker. Descriptors: the worker's end of its socket, and the memory that it shares with the front, if any.
    Spawn { slot: Slot },
    /// The error log was opened anew. Descriptor: the error log.
    Logs,
    /// As `ToFront::Inspect`.
    Inspect { what: Inspection },
    /// Tell what this would cost a worker that loads it; a child of the mold finds it out. Descriptors: as `Inspect`.
    Weigh { code: LateCode },
    /// Fork no more; exit when the last worker has ended.
    Retire,
}

/// The mold to the master.
#[derive(Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the other fields are what their names say")]
pub enum FromMold {
    /// The Perl of the configuration is loaded.
    Ready {
        /// How long it took, in milliseconds.
        load_ms: u64,
        /// What the server says that it is, with the parts that this Perl named.
        software: String,
        /// Where its workers note what they are at: an address in their memory.
        activity: usize,
    },
    /// A worker has become this mold, and can fork. The first message where there was no `Configure`.
    Promoted {
        /// Its process, a child of the master.
        pid: i32,
        /// From the fork to now, in microseconds.
        fork_us: u32,
        /// How many requests the worker has answered.
        requests: u64,
    },
    /// It is not, or the worker cannot become a mold; the process exits. The text names file and line, or the reason.
    Failed {
        /// Perl's or our message.
        error: String,
    },
    /// A worker runs.
    Forked { slot: Slot, pid: i32 },
    /// The fork failed.
    ForkFailed {
        slot: Slot,
        /// errno as text.
        error: String,
    },
    /// A worker has ended.
    Exited { slot: Slot, pid: i32, exit: Exit },
}

/// What workers have loaded and their mold has not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateCode {
    /// Names in `%INC`: `LWP/UserAgent.pm`.
    pub modules: Vec<String>,
    /// Registry scripts: the key by which they are kept, and the file.
    pub scripts: Vec<(String, String)>,
}

impl LateCode {
    /// Also this, each piece once.
    pub fn add(&mut self, other: LateCode) {
        let LateCode { modules, scripts } = other;
        self.modules.extend(modules);
        self.scripts.extend(scripts);
        self.modules.sort();
        self.modules.dedup();
        self.scripts.sort();
        self.scripts.dedup();
    }
}

/// What a process that has Perl can tell about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Inspection {
    /// What it has loaded since it was forked.
    Loaded,
    /// What lives in Perl's memory, by class.
    Census,
    /// By how much requests have made it grow, by their paths.
    Growth,
    /// Whose pages are no longer shared with the mold. Descriptors: pagemap and mem of the worker, mem of the mold.
    Blame,
}

impl Inspection {
    /// All, by the numbers that they have in packets.
    pub const ALL: [Inspection; 4] = [Inspection::Loaded, Inspection::Census, Inspection::Growth, Inspection::Blame];
}

/// The master to the expander, which runs the configuration's Perl before anything is bound.
#[derive(Debug, Serialize, Deserialize)]
pub enum ToExpander {
    /// The only message. Descriptor: a memfd with what was read.
    Expand,
}

/// The expander to the master. After its answer it ends.
#[derive(Debug, Serialize, Deserialize)]
pub enum FromExpander {
    /// It is about to run the code of this line.
    Reached {
        /// The configuration file.
        file: String,
        /// Counted from 1.
        line: u32,
        /// The directive or section.
        name: String,
    },
    /// Descriptor: a memfd with what has become of it, or with the mistakes.
    Expanded,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// By this signal.
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
