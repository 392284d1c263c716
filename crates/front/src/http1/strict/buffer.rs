//! The buffer between a client's socket and hyper: passes on what the scanner found correct, and keeps the beginning of a head
//! or chunk line until the rest of it has come. Hyper therefore sees a head whole or not at all.

use std::collections::VecDeque;

use super::{Evidence, HeadLimits, Scanned, Scanner, Violation, evidence};

use crate::base::target::tame;

/// Capacity above this is given back as soon as the buffer is empty: one long head must not cost an idle connection its size.
const SPARE: usize = 16 * 1024;

/// The bytes of one connection that hyper has not been given yet.
pub struct Buffer {
    scanner: Scanner,
    /// An incomplete head or chunk line; before it, `cleared` bytes that hyper has not taken yet.
    held: Vec<u8>,
    /// How many bytes at the beginning of `held` were found correct.
    cleared: usize,
    refused: Option<Box<(Violation, Evidence)>>,
    /// Targets with bytes that were overwritten for hyper, and which of the connection's heads they are of.
    odd_targets: VecDeque<(u32, Box<[u8]>)>,
}

impl Buffer {
    /// A buffer for a new connection.
    pub fn new(limits: HeadLimits) -> Buffer {
        Buffer {
            scanner: Scanner::new(limits),
            held: Vec::new(),
            cleared: 0,
            refused: None,
            odd_targets: VecDeque::new(),
        }
    }

    /// Why the connection was refused, if it was. Nothing is passed on afterwards.
    pub fn violation(&self) -> Option<Violation> {
        self.refused.as_ref().map(|refused| refused.0)
    }

    /// What the log says of the refused head.
    pub fn evidence(&self) -> Option<&Evidence> {
        self.refused.as_ref().map(|refused| &refused.1)
    }

    /// The request line of the incomplete or refused head, as far as it has come: for the
    /// log line of a connection that ends there.
    pub fn request_line(&self) -> &[u8] {
        match &self.refused {
            Some(refused) => &refused.1.line,
            None if self.scanner.is_in_body() => &[],
            None => evidence::request_line(self.held.get(self.cleared..).unwrap_or_default()),
        }
    }

    /// How many correct heads have come on this connection.
    pub fn heads(&self) -> u32 {
        self.scanner.heads()
    }

    /// Whether all that came was passed on and is complete: the client is not in the middle of sending a request. The answer to
    /// one may still be on its way.
    pub fn is_between_requests(&self) -> bool {
        self.refused.is_none() && self.held.is_empty() && !self.scanner.is_in_body()
    }

    /// The target of the connection's head of that number as it was sent, if it differs from what hyper has read. Those of heads
    /// before it are forgotten.
    pub fn take_target(&mut self, number: u32) -> Option<Box<[u8]>> {
        while self.odd_targets.front()?.0 <= number {
            let (of, target) = self.odd_targets.pop_front()?;
            if of == number {
                return Some(target);
            }
        }
        None
    }

    /// Takes new bytes of the client. So many of them, from the first, may go to hyper straight from `fresh`; the buffer keeps
    /// the others. `give` must have handed over all that was cleared before. A minor version after 1.1 is overwritten with 1, and
    /// bytes of a target that hyper would refuse with others.
    pub fn take(&mut self, fresh: &mut [u8]) -> usize {
        if self.refused.is_some() {
            return 0;
        }
        if self.held.is_empty() {
            let passed = self.scan(fresh);
            if self.refused.is_none() {
                self.held.extend_from_slice(fresh.get(passed..).unwrap_or_default());
            }
            return passed;
        }
        let mut held = std::mem::take(&mut self.held);
        held.extend_from_slice(fresh);
        self.cleared = self.scan(&mut held);
        if self.refused.is_some() {
            held.truncate(self.cleared);
        }
        self.held = held;
        0
    }

    fn scan(&mut self, bytes: &mut [u8]) -> usize {
        let mut passed = 0;
        while let Some(rest @ [_, ..]) = bytes.get(passed..) {
            match self.scanner.scan(rest) {
                Scanned::Pass(more) => {
                    let newer = self.scanner.take_newer().and_then(|at| bytes.get_mut(passed + at));
                    newer.into_iter().for_each(|digit| *digit = b'1');
                    let odd = self.scanner.take_odd();
                    if let Some(target) = odd.and_then(|at| bytes.get_mut(passed + at.start..passed + at.end)) {
                        self.odd_targets.push_back((self.scanner.heads(), (&*target).into()));
                        tame(target);
                    }
                    passed += more;
                }
                Scanned::Wait => break,
                Scanned::Refuse(violation) => {
                    self.refused = Some(Box::new((violation, self.scanner.evidence(rest))));
                    break;
                }
            }
        }
        passed
    }

    /// Hands at most `room` of the cleared bytes to `to`, and says how many.
    pub fn give(&mut self, room: usize, to: impl FnOnce(&[u8])) -> usize {
        let given = self.cleared.min(room);
        if given == 0 {
            return 0;
        }
        to(self.held.get(..given).unwrap_or_default());
        self.cleared -= given;
        self.held.drain(..given);
        if self.held.is_empty() && self.held.capacity() > SPARE {
            self.held = Vec::new();
        }
        given
    }
}
