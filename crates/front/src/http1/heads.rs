//! The heads among the bytes that hyper writes on a connection.
//!
//! ```text
//!   at a head ──head of the last response that has begun──▶ in a body
//!       ▲                                                      │
//!       └── the next response begins, or all of the last one is written
//! ```
//!
//! hyper writes a head only when it has written all earlier bodies, and it shows a head whole.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use super::spelling::HeadNames;

/// hyper writes it between two responses. It has no fields.
const CONTINUE: &[u8] = b"HTTP/1.1 100 ";

/// Position of hyper's output, and the names of heads to come.
#[derive(Default)]
pub struct Heads {
    /// Names of the responses that have begun, and whose heads are not written.
    begun: RefCell<VecDeque<HeadNames>>,
    /// A part of a head that the socket has not taken, spelled.
    rest: RefCell<Vec<u8>>,
    is_in_body: Cell<bool>,
    /// Whether hyper may ask for more of a body.
    has_body: Cell<bool>,
}

impl Heads {
    /// Notes that hyper gets a response with these names.
    pub fn begin(&self, names: HeadNames) {
        self.begun.borrow_mut().push_back(names);
        self.is_in_body.set(false);
        self.has_body.set(true);
    }

    /// Notes that hyper has all of the body.
    pub fn end_body(&self) {
        self.has_body.set(false);
    }

    /// Notes that all of hyper's output is written. A head without a response of ours may follow: hyper's own refusal.
    pub fn all_written(&self) {
        if !self.has_body.get() {
            self.is_in_body.set(false);
        }
    }

    /// Whether bytes that hyper writes next begin with a head, or with the rest of one.
    pub fn are_due(&self) -> bool {
        !self.is_in_body.get() || !self.rest.borrow().is_empty()
    }

    /// Spells the names of the heads at the beginning of hyper's next bytes. Returns the length of these heads.
    pub fn spell(&self, bytes: &mut [u8]) -> usize {
        let rest = self.rest.borrow();
        let mut length = rest.len().min(bytes.len());
        if let Some(begin) = bytes.get_mut(..length) {
            begin.copy_from_slice(rest.get(..length).unwrap_or_default());
        }
        let mut begun = self.begun.borrow_mut();
        while let Some(head) = bytes.get_mut(length..).filter(|head| !head.is_empty() && !self.is_in_body.get()) {
            if head.starts_with(CONTINUE) {
                length += HeadNames::default().spell(head);
                continue;
            }
            length += begun.pop_front().unwrap_or_default().spell(head);
            self.is_in_body.set(begun.is_empty());
        }
        length
    }

    /// Notes that the socket has taken `count` of the bytes, which begin with these spelled heads.
    pub fn written(&self, count: usize, heads: &[u8]) {
        let mut rest = self.rest.borrow_mut();
        rest.clear();
        rest.extend_from_slice(heads.get(count..).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The socket takes `count` of these bytes of hyper. Returns them as they are sent.
    fn write(heads: &Heads, bytes: &str, count: usize) -> String {
        let mut sent = bytes.as_bytes().to_vec();
        let length = heads.spell(&mut sent);
        heads.written(count, sent.get(..length).expect("a length of these bytes"));
        String::from_utf8(sent).expect("text").chars().take(count).collect()
    }

    #[test]
    fn a_head_that_the_socket_takes_in_parts_is_spelled() {
        let (heads, head) = (Heads::default(), "HTTP/1.1 200 OK\r\netag: 1\r\n\r\netag: 2");
        heads.begin(HeadNames::default());
        assert_eq!(write(&heads, head, 0), "");
        assert_eq!(write(&heads, head, 18), "HTTP/1.1 200 OK\r\nE");
        assert_eq!(write(&heads, &head[18..], 2), "Ta");
        assert_eq!(write(&heads, &head[20..], 100), "g: 1\r\n\r\netag: 2");
        assert!(!heads.are_due());
    }

    #[test]
    fn a_head_is_due_until_the_socket_has_all_of_it() {
        let (heads, head) = (Heads::default(), "HTTP/1.1 200 OK\r\na: 1\r\n\r\n");
        heads.begin(HeadNames::default());
        heads.all_written();
        assert!(heads.are_due(), "an interim response was written, and no head");
        write(&heads, head, 10);
        assert!(heads.are_due());
        write(&heads, &head[10..], 100);
        heads.all_written();
        assert!(!heads.are_due());
    }

    #[test]
    fn bytes_of_a_body_are_no_head() {
        let (heads, head) = (Heads::default(), "HTTP/1.1 200 OK\r\na: 1\r\n\r\n");
        let spelled = "HTTP/1.1 200 OK\r\nA: 1\r\n\r\n";
        heads.begin(HeadNames::default());
        assert_eq!(write(&heads, &[head, head].concat(), 100), [spelled, head].concat());
        heads.all_written();
        assert_eq!(write(&heads, head, 100), head);
        heads.end_body();
        assert_eq!(write(&heads, head, 100), head);
        heads.all_written();
        assert_eq!(write(&heads, head, 100), spelled, "a refusal of hyper itself");
    }

    #[test]
    fn heads_without_bodies_follow_one_another() {
        let (heads, head) = (Heads::default(), "HTTP/1.1 304 Not Modified\r\na: 1\r\n\r\n");
        let spelled = "HTTP/1.1 304 Not Modified\r\nA: 1\r\n\r\n";
        assert_eq!(write(&heads, "HTTP/1.1 100 Continue\r\n\r\n", 100), "HTTP/1.1 100 Continue\r\n\r\n");
        for _ in 0..2 {
            heads.begin(HeadNames::default());
            heads.end_body();
        }
        assert_eq!(write(&heads, &[head, head].concat(), 100), [spelled, spelled].concat());
    }
}
