//! The buffer between a client's socket and hyper. It passes on correct bytes and holds an incomplete head or chunk
//! line, so hyper sees a head whole or not at all.

use std::collections::VecDeque;

use super::{Evidence, HeadLimits, Scanned, Scanner, Violation, evidence};

use crate::base::target::tame;

/// Capacity, in bytes, that an empty buffer may retain: a long head must not occupy memory on an idle connection.
const SPARE: usize = 16 * 1024;

/// Received bytes of a connection that hyper does not have yet.
pub struct Buffer {
    scanner: Scanner,
    /// An incomplete head or chunk line, preceded by `cleared` bytes for hyper.
    held: Vec<u8>,
    /// Number of bytes at the beginning of `held` that are correct.
    cleared: usize,
    refused: Option<Box<(Violation, Evidence)>>,
    /// Original targets whose bytes were overwritten for hyper, by the number of the head.
    odd_targets: VecDeque<(u32, Box<[u8]>)>,
}

impl Buffer {
    /// Creates a buffer for a new connection.
    pub fn new(limits: HeadLimits) -> Buffer {
        Buffer {
            scanner: Scanner::new(limits),
            held: Vec::new(),
            cleared: 0,
            refused: None,
            odd_targets: VecDeque::new(),
        }
    }

    /// The violation, if any. Nothing is passed on afterwards.
    pub fn violation(&self) -> Option<Violation> {
        self.refused.as_ref().map(|refused| refused.0)
    }

    /// Excerpt of the refused head, for the log.
    pub fn evidence(&self) -> Option<&Evidence> {
        self.refused.as_ref().map(|refused| &refused.1)
    }

    /// Request line of the incomplete or refused head, as far as received; for the access log.
    pub fn request_line(&self) -> &[u8] {
        match &self.refused {
            Some(refused) => &refused.1.line,
            None if self.scanner.is_in_body() => &[],
            None => evidence::request_line(self.held.get(self.cleared..).unwrap_or_default()),
        }
    }

    /// Number of correct heads on this connection.
    pub fn heads(&self) -> u32 {
        self.scanner.heads()
    }

    /// Whether all received bytes were passed on and end a request. The response may still be in progress.
    pub fn is_between_requests(&self) -> bool {
        self.refused.is_none() && self.held.is_empty() && !self.scanner.is_in_body()
    }

    /// Original target of the connection's head `number`, if it was changed for hyper. Drops the targets of earlier
    /// heads.
    pub fn take_target(&mut self, number: u32) -> Option<Box<[u8]>> {
        while self.odd_targets.front()?.0 <= number {
            let (of, target) = self.odd_targets.pop_front()?;
            if of == number {
                return Some(target);
            }
        }
        None
    }

    /// Takes new bytes of the client. Returns how many of them, from the first, hyper may read directly from `fresh`;
    /// the buffer stores the rest. All cleared bytes must have been given before. Overwrites a minor version later than
    /// 1, and target bytes that hyper would refuse.
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

    /// Passes at most `room` cleared bytes to `to`, and returns their number.
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
