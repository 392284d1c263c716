//! Messages from a worker to the front. A packet holds one or several, each with a 16-byte header:
//!
//! ```text
//!   kind u8 · flags u8 · zero u16 · length u32 · id u64, then `length` bytes
//! ```
//!
//! The order of a response is `Info* [Moved] Head (Body|Lent)* [Complete] End`, or `[Moved] [Head] File [Complete] End`, or `[Moved] [Head] Elsewhere [Complete]
//! End`, or `Refused End`; `id` is that of the request. `Ready` comes once, with id 0, when the worker can take its first request, and `Greeted`, with id 0 too, to each further front. `Extend` may come anywhere before `End`.

use serde::{Deserialize, Serialize};
use strum::FromRepr;

use crate::{Cursor, Malformed, put_string};

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
    /// A program gave no response: the front answers with its page or ErrorDocument for `status`.
    Refused {
        /// The status of the response.
        status: u16,
        /// Variables for the program that makes the page, `REDIRECT_NAME=value`, each followed by a zero byte.
        variables: &'a [u8],
    },
    /// The program asks for this many milliseconds more than `RequestTimeout`.
    Extend(u32),
    /// The response is complete, but cleanup handlers still run: the client need not wait for `End`.
    Complete,
    /// The request is finished; the worker is free, or is leaving.
    End(End),
}

/// Status and headers of a response.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Head {
    /// 100–599; checked by the reader.
    pub status: u16,
    /// The reason phrase, if it is not the standard one; not yet checked.
    pub reason: Vec<u8>,
    /// Names and values as the application gave them; not yet checked against HTTP's rules.
    pub headers: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Facts about a finished request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct End {
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

const READY: u8 = 1;
const INFO: u8 = 2;
const HEAD: u8 = 3;
const BODY: u8 = 4;
const FILE: u8 = 5;
const END: u8 = 6;
const COMPLETE: u8 = 7;
const ELSEWHERE: u8 = 8;
const EXTEND: u8 = 9;
const GREETED: u8 = 10;
const LENT: u8 = 11;
const MOVED: u8 = 12;
const REFUSED: u8 = 13;
const LEAVING: u8 = 1;
const TRUNCATED: u8 = 2;
/// Position of the leave reason, three bits, in the flags.
const REASON: u8 = 2;

impl Head {
    fn put(&self, out: &mut Vec<u8>, kind: u8) -> u8 {
        out.extend_from_slice(&self.status.to_le_bytes());
        put_string(out, &self.reason);
        out.extend_from_slice(&(self.headers.len().min(u16::MAX as usize) as u16).to_le_bytes());
        for (name, value) in self.headers.iter().take(u16::MAX as usize) {
            put_string(out, name);
            put_string(out, value);
        }
        kind
    }

    fn read(mut from: Cursor<'_>) -> Result<Head, Malformed> {
        let status = from.u16()?;
        if !(100..600).contains(&status) {
            return Err(Malformed("status outside 100 to 599"));
        }
        let reason = from.string()?.to_vec();
        let mut headers = Vec::new();
        for _ in 0..from.u16()? {
            headers.push((from.string()?.to_vec(), from.string()?.to_vec()));
        }
        Ok(Head { status, reason, headers })
    }
}

impl End {
    fn put(&self, out: &mut Vec<u8>) -> u8 {
        out.extend_from_slice(&self.cpu_us.to_le_bytes());
        out.extend_from_slice(&(self.log.len().min(u16::MAX as usize) as u16).to_le_bytes());
        for (kind, name, value) in self.log.iter().take(u16::MAX as usize) {
            out.push(*kind as u8);
            put_string(out, name);
            put_string(out, value);
        }
        END
    }

    fn read(flags: u8, mut from: Cursor<'_>) -> Result<End, Malformed> {
        let cpu_us = from.u64()?;
        let mut log = Vec::new();
        for _ in 0..from.u16()? {
            let kind = LogKind::from_repr(from.u8()?).ok_or(Malformed("unknown kind of log value"))?;
            log.push((kind, from.string()?.to_vec(), from.string()?.to_vec()));
        }
        Ok(End { cpu_us, leaving: LeaveReason::read(flags), truncated: flags & TRUNCATED != 0, log })
    }

    fn flags(&self) -> u8 {
        self.leaving.map_or(0, |reason| LEAVING | (reason as u8) << REASON) | (u8::from(self.truncated) * TRUNCATED)
    }
}

impl LeaveReason {
    fn read(flags: u8) -> Option<LeaveReason> {
        let reason = || LeaveReason::from_repr((flags >> REASON) & 7).unwrap_or(LeaveReason::Spoilt);
        (flags & LEAVING != 0).then(reason)
    }
}

/// Appends the payload of a message of that kind; returns the kind.
fn number(out: &mut Vec<u8>, payload: u32, kind: u8) -> u8 {
    text(out, &payload.to_le_bytes(), kind)
}

fn text(out: &mut Vec<u8>, payload: &[u8], kind: u8) -> u8 {
    out.extend_from_slice(payload);
    kind
}

impl Reply<'_> {
    /// Appends the message for request `id` to a packet.
    pub fn put(&self, id: u64, out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + HEADER, 0);
        let kind = match self {
            Reply::Ready { fork_us } => number(out, *fork_us, READY),
            Reply::Greeted { fork_us } => number(out, *fork_us, GREETED),
            Reply::Extend(ms) => number(out, *ms, EXTEND),
            Reply::Lent { block, length } => {
                number(out, *block, LENT);
                number(out, *length, LENT)
            }
            Reply::Info(head) => head.put(out, INFO),
            Reply::Head(head) => head.put(out, HEAD),
            Reply::Body(bytes) => text(out, bytes, BODY),
            Reply::Moved(path) => text(out, path, MOVED),
            Reply::File(path) => text(out, path, FILE),
            Reply::Elsewhere(target) => text(out, target, ELSEWHERE),
            Reply::Refused { status, variables } => {
                out.extend_from_slice(&status.to_le_bytes());
                text(out, variables, REFUSED)
            }
            Reply::Complete => COMPLETE,
            Reply::End(end) => end.put(out),
        };
        let flags = if let Reply::End(end) = self { end.flags() } else { 0 };
        let length = (out.len() - start - HEADER) as u32;
        out[start] = kind;
        out[start + 1] = flags;
        out[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
        out[start + 8..start + 16].copy_from_slice(&id.to_le_bytes());
    }
}

/// Bytes that a worker sends at one time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outgoing<'a> {
    /// The id of the request.
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

/// An iterator over the messages of one packet.
pub struct PacketMessages<'a>(&'a [u8]);

impl<'a> PacketMessages<'a> {
    /// Begins to read `bytes`, one whole packet.
    pub fn new(bytes: &'a [u8]) -> PacketMessages<'a> {
        PacketMessages(bytes)
    }

    fn read(&mut self) -> Result<(u64, Reply<'a>), Malformed> {
        let mut from = Cursor(self.0);
        let (kind, flags) = (from.u8()?, from.u8()?);
        from.u16()?;
        let length = from.u32()? as usize;
        let id = from.u64()?;
        if length > MAX_PAYLOAD {
            return Err(Malformed("message longer than allowed"));
        }
        let payload = from.bytes(length)?;
        self.0 = from.0;
        let reply = match kind {
            READY => Reply::Ready { fork_us: Cursor(payload).u32()? },
            GREETED => Reply::Greeted { fork_us: Cursor(payload).u32()? },
            INFO => Reply::Info(Head::read(Cursor(payload))?),
            HEAD => Reply::Head(Head::read(Cursor(payload))?),
            BODY => Reply::Body(payload),
            LENT => {
                let mut named = Cursor(payload);
                Reply::Lent { block: named.u32()?, length: named.u32()? }
            }
            MOVED => Reply::Moved(payload),
            FILE => Reply::File(payload),
            EXTEND => Reply::Extend(Cursor(payload).u32()?),
            COMPLETE => Reply::Complete,
            ELSEWHERE => Reply::Elsewhere(payload),
            REFUSED => {
                let mut from = Cursor(payload);
                Reply::Refused { status: from.u16()?, variables: from.0 }
            }
            END => Reply::End(End::read(flags, Cursor(payload))?),
            _ => return Err(Malformed("unknown kind of message")),
        };
        Ok((id, reply))
    }
}

impl<'a> Iterator for PacketMessages<'a> {
    type Item = Result<(u64, Reply<'a>), Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let message = self.read();
        if message.is_err() {
            self.0 = &[];
        }
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_back_in_order() {
        let head = Head { status: 200, reason: b"Fine".to_vec(), headers: vec![(b"a".to_vec(), b"b".to_vec())] };
        let end = End {
            cpu_us: 5,
            leaving: Some(LeaveReason::Spoilt),
            truncated: false,
            log: vec![(LogKind::Note, b"n".to_vec(), b"v".to_vec())],
        };
        let said = [
            Reply::Ready { fork_us: 3 },
            Reply::Greeted { fork_us: 4 },
            Reply::Extend(1500),
            Reply::Head(head),
            Reply::Body(b"hello"),
            Reply::Refused { status: 500, variables: b"REDIRECT_A=b\0" },
            Reply::End(end),
        ];
        let mut packet = Vec::new();
        said.iter().for_each(|reply| reply.put(9, &mut packet));
        let heard: Vec<_> = PacketMessages::new(&packet).collect::<Result<_, _>>().expect("well formed");
        assert_eq!(heard, said.map(|reply| (9, reply)));
    }

    #[test]
    fn every_truncated_or_spoiled_packet_is_an_error_or_safe() {
        let mut packet = Vec::new();
        Reply::Head(Head { status: 200, headers: vec![(b"name".to_vec(), b"value".to_vec())], ..Head::default() })
            .put(1, &mut packet);
        for length in 1..packet.len() {
            assert!(PacketMessages::new(&packet[..length]).any(|m| m.is_err()));
        }
        for at in 0..packet.len() {
            let mut bad = packet.clone();
            bad[at] ^= 0xff;
            PacketMessages::new(&bad).for_each(drop);
        }
    }
}
