//! Messages from a worker to the front. A packet holds one or several, each with a 16-byte header:
//!
//! ```text
//!   kind u8 · flags u8 · zero u16 · length u32 · id u64, then `length` bytes
//! ```
//!
//! The order of a response is `Info* [Moved] Head (Body|Lent)* [Complete] End`, or `[Moved] [Head] File [Complete]
//! End`, or `[Moved] [Head] Elsewhere [Complete] End`, or `[Head] Onward [Complete] End`, or `Refused End`; `id` is
//! that of the request. `Ready` comes once, with id 0, when the worker can take its first request, and `Greeted`, with
//! id 0 too, to each further front. `Extend` may come anywhere before `End`. `Publish`, `Subscribed`, `Taken` and
//! `Leaves`, with id 0, travel in the socket, where they disturb no response.

mod coding;
mod onward;
#[cfg(test)]
mod tests;

pub use coding::PacketMessages;
pub use onward::{MAX_ONWARD, OnwardRequest};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use strum::FromRepr;

/// Length of a message's header in bytes.
pub const HEADER: usize = 16;
/// Longest payload of a message, in bytes; a longer body is several messages.
pub const MAX_PAYLOAD: usize = 64 * 1024;
/// Largest packet, in bytes: a head and a body together.
pub const MAX_PACKET: usize = 2 * (HEADER + MAX_PAYLOAD);

/// One message of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply<'a> {
    /// The worker is booted; `fork_us` is the time from fork to here.
    Ready {
        /// Time from the fork to this message, in µs.
        fork_us: u32,
    },
    /// The worker has ended its work for an earlier front: all that follows is for the current one.
    Greeted {
        /// Time from the fork to the worker's first `Ready`, in µs.
        fork_us: u32,
    },
    /// An informational response (103) to pass on at once.
    Info(Head),
    /// The final response's head.
    Head(Head),
    /// A piece of the body.
    Body(&'a [u8]),
    /// A piece of the body that lies in blocks of the worker's [`memory`](crate::memory), side by side.
    Lent {
        /// Number of the first block.
        block: u32,
        /// Number of bytes, from the first block's beginning.
        length: u32,
    },
    /// An internal redirect led the request to this path, whose response follows. Precedes every other message
    /// but `Info`.
    Moved(&'a [u8]),
    /// The front must send this file, because the handler declined or requested it. A `Head` before it in the same
    /// packet has additional headers, and the status if it is not 200.
    File(&'a [u8]),
    /// The script redirected to a path of this server (CGI's local redirect, RFC 3875 6.2.2): the front answers
    /// with that path. A `Head` before it in the same packet has headers for that response.
    Elsewhere(&'a [u8]),
    /// The phases of the request have let it pass to its backend, which the front asks. A `Head` before it in the same
    /// packet has headers for the response.
    Onward(OnwardRequest),
    /// A program gave no response: the front answers with its page or ErrorDocument for `status`.
    Refused {
        /// HTTP status, 400 or above.
        status: u16,
        /// Variables for the program that makes the page, `REDIRECT_NAME=value`, each followed by a zero byte.
        variables: &'a [u8],
    },
    /// The program asks for this many milliseconds more than `RequestTimeout`.
    Extend(u32),
    /// The response is complete, but cleanup handlers still run: the client need not wait for `End`.
    Complete,
    /// The request is finished; the worker is free, or is leaving.
    End(RequestEnd),
    /// An encoded [`BroadcastMessage`](crate::broadcast::BroadcastMessage) for the subscribers of its channel.
    Publish(&'a [u8]),
    /// A worker of an event pool subscribes to a channel.
    Subscribed {
        /// A name of 1 to [`MAX_CHANNEL`](crate::broadcast::MAX_CHANNEL) bytes.
        channel: &'a [u8],
        /// Number of subscriptions from now on; 0 ends them.
        count: u32,
    },
    /// A worker of an event pool asks to be ordered to leave.
    Leaves(LeaveReason),
    /// The worker has received broadcast messages with this [`cost`](crate::broadcast::cost) in total.
    Taken(u32),
}

/// Status and headers of a response.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Head {
    /// 100–599; checked by the reader.
    pub status: u16,
    /// The reason phrase, if it is not the standard one; not yet checked.
    pub reason: Vec<u8>,
    /// Names and values as the application gave them; not yet checked against HTTP's rules. Those of a packet share one
    /// allocation.
    pub headers: Vec<(Bytes, Bytes)>,
    /// Number of the headers, the last ones, that error responses have too: those of `$r->err_headers_out`.
    pub always: u16,
    /// Whether rules of `Header` and of `Header always` both reach each header: of a PSGI application.
    pub is_shared: bool,
}

/// Facts about a finished request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestEnd {
    /// CPU time that the worker used for it, in microseconds.
    pub cpu_us: u64,
    /// Why the worker exits after this request, if it does.
    pub leaving: Option<LeaveReason>,
    /// The body is incomplete: the handler died in mid-stream, and the client must be able to see that.
    pub truncated: bool,
    /// Values for the access log that only the worker knows (`%{..}n`, `%{..}e`, user, address).
    pub log: Vec<(LogKind, Vec<u8>, Vec<u8>)>,
}

/// Why a worker leaves without being asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, FromRepr)]
#[repr(u8)]
pub enum LeaveReason {
    /// The program requested it: `child_terminate`, harakiri.
    Program,
    /// `MaxRequestsPerChild`
    MaxRequests,
    /// The worker has exceeded a memory limit, or an allocation failed.
    Memory,
    /// The worker has exceeded a memory limit with its first requests.
    MemoryAtOnce,
    /// A request left state behind that cannot be restored.
    Spoilt,
}

/// Source of a log value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromRepr)]
#[repr(u8)]
pub enum LogKind {
    /// `$r->notes`
    Note,
    /// `%ENV` of the request (`$r->subprocess_env`)
    Env,
    /// `$r->connection->user`; the name is empty.
    User,
    /// `$r->connection->remote_ip`, where a handler has set it; the name is empty.
    RemoteIp,
    /// A span of a traced request: start in µs since 1970, duration in µs and description, separated by blanks.
    Span,
}

/// Bytes that a worker sends at one time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outgoing<'a> {
    /// Request to which the messages and the body belong.
    pub id: u64,
    /// Whole messages to send before `body`.
    pub before: &'a [u8],
    /// The next bytes of the body; the transport splits them into messages.
    pub body: &'a [u8],
    /// Whole messages to send after `body`.
    pub after: &'a [u8],
}

impl Outgoing<'_> {
    /// Whether no message is pending.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.body.is_empty() && self.after.is_empty()
    }
}
