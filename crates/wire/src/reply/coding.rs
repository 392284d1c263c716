//! Messages as bytes: writing them to a packet, and reading a packet.

use bytes::Bytes;

use super::{HEADER, Head, LeaveReason, LogKind, MAX_PAYLOAD, OnwardRequest, Reply, RequestEnd};
use crate::broadcast::MAX_ENCODED;
use crate::{Cursor, Malformed, put_string};

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
const ONWARD: u8 = 14;
const PUBLISH: u8 = 15;
const SUBSCRIBED: u8 = 16;
const TAKEN: u8 = 17;
const LEAVES: u8 = 18;
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
        out.extend_from_slice(&self.always.to_le_bytes());
        out.push(self.is_shared.into());
        kind
    }

    fn read(mut from: Cursor<'_>) -> Result<Head, Malformed> {
        let status = from.u16()?;
        if !(100..600).contains(&status) {
            return Err(Malformed("status outside 100 to 599"));
        }
        let reason = from.string()?.to_vec();
        let count = from.u16()?;
        // The length of a name and of a value: a wrong count reserves no more than the packet has.
        let most = from.0.len() / (2 * size_of::<u32>());
        let mut headers = Vec::with_capacity(usize::from(count).min(most));
        let rest = Bytes::copy_from_slice(from.0);
        let mut from = Cursor(&rest);
        for _ in 0..count {
            headers.push((rest.slice_ref(from.string()?), rest.slice_ref(from.string()?)));
        }
        Ok(Head { status, reason, headers, always: from.u16()?, is_shared: from.u8()? != 0 })
    }
}

impl RequestEnd {
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

    fn read(flags: u8, mut from: Cursor<'_>) -> Result<RequestEnd, Malformed> {
        let cpu_us = from.u64()?;
        let mut log = Vec::new();
        for _ in 0..from.u16()? {
            let kind = LogKind::from_repr(from.u8()?).ok_or(Malformed("unknown kind of log value"))?;
            log.push((kind, from.string()?.to_vec(), from.string()?.to_vec()));
        }
        Ok(RequestEnd { cpu_us, leaving: LeaveReason::read(flags), truncated: flags & TRUNCATED != 0, log })
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
            Reply::Onward(onward) => {
                onward.put(out);
                ONWARD
            }
            Reply::Refused { status, variables } => {
                out.extend_from_slice(&status.to_le_bytes());
                text(out, variables, REFUSED)
            }
            Reply::Complete => COMPLETE,
            Reply::End(end) => end.put(out),
            Reply::Publish(message) => text(out, message, PUBLISH),
            Reply::Subscribed { channel, count } => {
                number(out, *count, SUBSCRIBED);
                text(out, channel, SUBSCRIBED)
            }
            Reply::Taken(cost) => number(out, *cost, TAKEN),
            Reply::Leaves(reason) => text(out, &[*reason as u8], LEAVES),
        };
        let flags = if let Reply::End(end) = self { end.flags() } else { 0 };
        let length = (out.len() - start - HEADER) as u32;
        out[start] = kind;
        out[start + 1] = flags;
        out[start + 4..start + 8].copy_from_slice(&length.to_le_bytes());
        out[start + 8..start + 16].copy_from_slice(&id.to_le_bytes());
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
        if length > if kind == PUBLISH { MAX_ENCODED } else { MAX_PAYLOAD } {
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
            ONWARD => Reply::Onward(OnwardRequest::read(Cursor(payload))?),
            REFUSED => {
                let mut from = Cursor(payload);
                Reply::Refused { status: from.u16()?, variables: from.0 }
            }
            END => Reply::End(RequestEnd::read(flags, Cursor(payload))?),
            PUBLISH => Reply::Publish(payload),
            SUBSCRIBED => {
                let mut from = Cursor(payload);
                Reply::Subscribed { count: from.u32()?, channel: from.0 }
            }
            LEAVES => {
                let reason = LeaveReason::from_repr(Cursor(payload).u8()?);
                Reply::Leaves(reason.ok_or(Malformed("unknown reason to leave"))?)
            }
            TAKEN => Reply::Taken(Cursor(payload).u32()?),
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
