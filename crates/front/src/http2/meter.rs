//! Byte counts of streams: HEADERS, CONTINUATION and DATA with their headers of nine bytes, without TLS overhead.
//! Frames about the connection and its windows count for no request. A request is logged when the last byte of its
//! response was sent.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::time::Instant;

use super::frames::{HEADERS, Piece, RST_STREAM};
use crate::client::Pending;

/// All unfinished streams of a connection.
#[derive(Default)]
pub struct StreamMeter {
    /// Streams that h2 has accepted as requests.
    known: HashMap<u32, Rc<Traffic>>,
    /// Streams that h2 has not accepted; it never will if they are malformed or too many.
    fresh: BTreeMap<u32, Fresh>,
    most_fresh: usize,
    newest: u32,
}

#[derive(Default)]
struct Fresh {
    received: u64,
    reset: bool,
}

/// Byte counts of one stream.
#[derive(Default)]
pub struct Traffic {
    received: Cell<u64>,
    sent: Cell<u64>,
    /// Whether a frame with END_STREAM has begun.
    ending: Cell<bool>,
    end: Cell<Option<StreamEnd>>,
    /// The request, once its response was passed to h2.
    request: RefCell<Option<Rc<dyn Pending>>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StreamEnd {
    /// The complete response was sent.
    Whole,
    /// The stream was reset, or its connection has ended.
    Cut,
}

impl StreamMeter {
    /// Creates the counts of a connection; `most_fresh` limits streams that are not accepted.
    pub fn new(most_fresh: usize) -> StreamMeter {
        StreamMeter { most_fresh, ..StreamMeter::default() }
    }

    /// Byte counts of a stream that h2 has accepted.
    pub fn traffic(&mut self, stream: u32) -> Rc<Traffic> {
        let fresh = self.fresh.remove(&stream).unwrap_or_default();
        let traffic = Rc::new(Traffic { received: Cell::new(fresh.received), ..Traffic::default() });
        if fresh.reset {
            traffic.finish(StreamEnd::Cut);
        } else {
            self.known.insert(stream, traffic.clone());
        }
        traffic
    }

    /// Counts a piece from the client.
    pub fn received(&mut self, piece: &Piece) {
        let (stream, bytes) = (piece.frame.stream, piece.bytes as u64);
        if piece.frame.kind == RST_STREAM {
            return self.reset(stream);
        }
        if !piece.frame.is_of_message() {
            return;
        }
        if let Some(traffic) = self.known.get(&stream) {
            return traffic.received.set(traffic.received.get() + bytes);
        }
        if piece.frame.kind == HEADERS && stream > self.newest {
            self.newest = stream;
            self.fresh.insert(stream, Fresh::default());
            if self.fresh.len() > self.most_fresh {
                self.fresh.pop_first();
            }
        }
        if let Some(fresh) = self.fresh.get_mut(&stream) {
            fresh.received += bytes;
        }
    }

    /// Counts a piece to the client.
    pub fn sent(&mut self, piece: &Piece) {
        let (frame, stream) = (&piece.frame, piece.frame.stream);
        if frame.kind == RST_STREAM {
            self.fresh.remove(&stream);
            return self.reset(stream);
        }
        if !frame.is_of_message() {
            return;
        }
        let Some(traffic) = self.known.get(&stream) else { return };
        traffic.sent.set(traffic.sent.get() + piece.bytes as u64);
        traffic.ending.set(traffic.ending.get() || frame.ends_stream());
        if piece.ends && traffic.ending.get() && frame.ends_head() {
            self.end(stream, StreamEnd::Whole);
        }
    }

    /// Ends all streams after the connection has ended.
    pub fn close(&mut self) {
        self.known.drain().for_each(|(_, traffic)| traffic.finish(StreamEnd::Cut));
    }

    fn reset(&mut self, stream: u32) {
        if let Some(fresh) = self.fresh.get_mut(&stream) {
            fresh.reset = true;
        }
        self.end(stream, StreamEnd::Cut);
    }

    fn end(&mut self, stream: u32, end: StreamEnd) {
        if let Some(traffic) = self.known.remove(&stream) {
            traffic.finish(end);
        }
    }
}

impl Traffic {
    /// Bytes received and sent.
    pub fn moved(&self) -> u64 {
        self.received.get() + self.sent.get()
    }

    /// Notes that the response was passed to h2, or was given up.
    pub fn answered(&self, request: Rc<dyn Pending>) {
        *self.request.borrow_mut() = Some(request);
        self.log();
    }

    fn finish(&self, end: StreamEnd) {
        self.end.set(Some(end));
        self.log();
    }

    /// Logs the request when both its response and the end of its stream are known.
    fn log(&self) {
        let Some(end) = self.end.get() else { return };
        let Some(request) = self.request.take() else { return };
        if end == StreamEnd::Cut {
            request.cut();
        }
        request.flushed(self.received.get(), self.sent.get(), Instant::now());
    }
}
