//! Holds back what is not known to be in order yet.

use super::{Evidence, HeadLimits, Scanned, Scanner, Violation, evidence};

/// A buffer that a long head has grown is not kept for the next.
const SPARE: usize = 16 * 1024;

/// A client's bytes that are not known to be in order yet.
pub struct Buffer {
    scanner: Scanner,
    /// A head, or a line of a chunked body, that is not all there; or one that is and has not been taken yet.
    held: Vec<u8>,
    /// So much of it may go on.
    cleared: usize,
    refused: Option<Box<(Violation, Evidence)>>,
}

impl Buffer {
    /// At the beginning of a connection.
    pub fn new(limits: HeadLimits) -> Buffer {
        Buffer { scanner: Scanner::new(limits), held: Vec::new(), cleared: 0, refused: None }
    }

    /// What was wrong; nothing is passed on after it.
    pub fn violation(&self) -> Option<Violation> {
        self.refused.as_ref().map(|refused| refused.0)
    }

    /// What is known of the head that was wrong.
    pub fn evidence(&self) -> Option<&Evidence> {
        self.refused.as_ref().map(|refused| &refused.1)
    }

    /// The request line of a head that is not all there, as far as it has come, or that was wrong.
    pub fn request_line(&self) -> &[u8] {
        match &self.refused {
            Some(refused) => &refused.1.line,
            None if self.scanner.is_in_body() => &[],
            None => evidence::request_line(self.held.get(self.cleared..).unwrap_or_default()),
        }
    }

    /// Heads that were passed on, or can be.
    pub fn heads(&self) -> u32 {
        self.scanner.heads()
    }

    /// Whether everything that came was passed on and is whole: the client may not even be sending.
    pub fn is_between_requests(&self) -> bool {
        self.refused.is_none() && self.held.is_empty() && !self.scanner.is_in_body()
    }

    /// Looks at bytes of the client, of which the first so many can go on as they are; the others are kept here. All that
    /// was cleared before must have been given. A version after HTTP/1.1 is changed to that in place.
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

    /// At most `room` of the bytes that were held and can go on, which `to` is called with.
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
