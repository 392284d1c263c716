//! Messages of the worker, as they arrive.

use bytes::Bytes;
use wire::Malformed;
use wire::memory::blocks::Block;
use wire::reply::Reply;

use super::Exchange;

/// Maximum number of informational (1xx) heads of one response.
const MAX_INFOS: u32 = 32;
/// Maximum number of messages without content (empty body, more time) of one request; no real program sends as many.
const MAX_IDLE: u32 = 1_000_000;

impl Exchange {
    /// Handles a message of the worker. Messages arrive in the order `Info* [Moved] Head Body* [Complete] End` or
    /// `[Moved] [Head] (File|Elsewhere|Onward) [Complete] End` or `Refused End`.
    pub fn receive(&mut self, reply: Reply<'_>) -> Result<(), Malformed> {
        if self.outcome.is_some() || (self.whole && !matches!(reply, Reply::End(_) | Reply::Extend(_))) {
            return Err(Malformed("a message after the end"));
        }
        match reply {
            Reply::Info(_) if self.info_count == MAX_INFOS => return Err(Malformed("too many informational heads")),
            Reply::Info(head) if !self.has_head => {
                self.info_count += 1;
                self.infos.push(head);
            }
            Reply::Moved(path) if !self.has_head && self.moved.is_none() => self.moved = Some(path.to_vec()),
            Reply::Head(head) if !self.has_head => {
                self.has_head = true;
                self.head = Some(head);
            }
            Reply::File(path) if self.takes_file() => {
                self.has_head = true;
                self.file = Some(path.to_vec());
            }
            Reply::Elsewhere(target) if self.takes_file() => {
                self.has_head = true;
                self.elsewhere = Some(target.to_vec());
            }
            Reply::Onward(onward) if self.takes_file() && self.moved.is_none() => {
                self.has_head = true;
                self.onward = Some(onward);
            }
            Reply::Refused { status, variables } if !self.has_head && self.moved.is_none() => {
                self.has_head = true;
                self.refused = Some((status, variables.to_vec()));
            }
            Reply::Body(b"") if self.takes_body() => self.count_idle()?,
            Reply::Body(bytes) if self.takes_body() => self.keep(bytes.len(), || Bytes::copy_from_slice(bytes)),
            Reply::Extend(_) => self.count_idle()?,
            Reply::Complete if self.has_head => self.whole = true,
            Reply::End(end) if self.has_head => self.outcome = Some(Ok(end)),
            _ => return Err(Malformed("messages out of order")),
        }
        Ok(())
    }

    /// Handles a piece of the body in the worker's memory. The piece stays there until it is sent, or is copied if the
    /// worker is short of blocks (`is_needed`).
    pub fn receive_block(&mut self, piece: Block, is_needed: bool) -> Result<(), Malformed> {
        if self.outcome.is_some() || self.whole || !self.takes_body() {
            return Err(Malformed("messages out of order"));
        }
        if piece.as_ref().is_empty() {
            return self.count_idle();
        }
        self.keep(piece.as_ref().len(), || match is_needed {
            true => {
                let mut copied = Vec::new();
                piece.copy_to(&mut copied);
                copied.into()
            }
            false => Bytes::from_owner(piece),
        });
        Ok(())
    }

    fn count_idle(&mut self) -> Result<(), Malformed> {
        self.idle += 1;
        if self.idle > MAX_IDLE { Err(Malformed("too many messages without content")) } else { Ok(()) }
    }

    fn takes_body(&self) -> bool {
        let is_replaced = self.file.is_some() || self.elsewhere.is_some() || self.refused.is_some();
        self.has_head && !is_replaced && self.onward.is_none()
    }

    /// A file or another path may replace the body only while the client has neither the head nor any of the body.
    fn takes_file(&self) -> bool {
        !self.has_head || (self.head.is_some() && self.takes_body() && self.spool.is_empty())
    }

    fn keep(&mut self, length: usize, bytes: impl FnOnce() -> Bytes) {
        if self.abandoned || length == 0 {
            return;
        }
        let is_wanted = !self.served && !self.length.is_exceeded();
        self.length.add(length);
        if is_wanted {
            self.spool.push(bytes());
        }
    }
}
