//! Counts a client's frames before h2 sees them. Each costs the client a few bytes and us an answer or a request's
//! beginning, so there is a number that is too many; h2 itself knows limits of memory, not of time.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};

use super::super::socket::Line;
use crate::config::protocols::Http2;

/// HTTP/2's preface has 24 bytes.
const PREFACE: usize = 24;
const HEAD: usize = 9;
const WINDOW: Duration = Duration::from_secs(1);

/// Frame types that are not counted: DATA, HEADERS, PUSH_PROMISE, GOAWAY, WINDOW_UPDATE and CONTINUATION have limits of their
/// own, or end the connection.
const UNCOUNTED: [u8; 6] = [0, 1, 5, 7, 8, 9];
const RST_STREAM: u8 = 3;

/// A line whose frames are counted; all clones are one.
#[derive(Clone)]
pub struct Watched(Rc<RefCell<Inner>>);

struct Inner {
    line: Line,
    frames: Frames,
}

/// Where in the client's bytes we are, and how many frames there were in this second.
struct Frames {
    /// Bytes that belong to no frame's head.
    skip: usize,
    head: Vec<u8>,
    since: Instant,
    resets: u32,
    others: u32,
    most_resets: u32,
    most_others: u32,
    flooded: bool,
}

impl Watched {
    /// Watches `line` from its first byte on.
    pub fn new(line: Line, limits: &Http2) -> Watched {
        Watched(Rc::new(RefCell::new(Inner { line, frames: Frames::new(limits) })))
    }

    /// Whether the client has sent too many. Then nothing more is read.
    pub fn is_flooded(&self) -> bool {
        self.0.borrow().frames.flooded
    }

    /// Sends nothing more, and reads what still comes, for nobody.
    pub async fn discard(&self) {
        let mut this = self.clone();
        this.0.borrow_mut().frames = Frames::blind();
        let _ = this.shutdown().await;
        let mut space = [0; 4096];
        while this.read(&mut space).await.is_ok_and(|n| n > 0) {}
    }
}

impl Frames {
    fn new(limits: &Http2) -> Frames {
        Frames {
            skip: PREFACE,
            head: Vec::with_capacity(HEAD),
            since: Instant::now(),
            resets: 0,
            others: 0,
            most_resets: limits.resets,
            most_others: limits.control_frames,
            flooded: false,
        }
    }

    /// Counts nothing.
    fn blind() -> Frames {
        Frames { skip: usize::MAX, ..Frames::new(&Http2::default()) }
    }

    /// `bytes` have come.
    fn pass(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let skipped = self.skip.min(bytes.len());
            self.skip -= skipped;
            bytes = bytes.get(skipped..).unwrap_or_default();
            let missing = (HEAD - self.head.len()).min(bytes.len());
            if self.skip == 0 {
                self.head.extend(bytes.iter().take(missing));
                bytes = bytes.get(missing..).unwrap_or_default();
            }
            if let [high, mid, low, kind, ..] = self.head[..]
                && self.head.len() == HEAD
            {
                self.skip = u32::from_be_bytes([0, high, mid, low]) as usize;
                self.head.clear();
                self.count(kind, Instant::now());
            }
        }
    }

    fn count(&mut self, kind: u8, now: Instant) {
        if UNCOUNTED.contains(&kind) {
            return;
        }
        if now.duration_since(self.since) >= WINDOW {
            (self.since, self.resets, self.others) = (now, 0, 0);
        }
        let (count, most) = match kind {
            RST_STREAM => (&mut self.resets, self.most_resets),
            _ => (&mut self.others, self.most_others),
        };
        *count += 1;
        self.flooded |= *count > most;
    }
}

impl AsyncRead for Watched {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut inner = self.0.borrow_mut();
        if inner.frames.flooded {
            return Poll::Pending;
        }
        let before = into.filled().len();
        ready!(Pin::new(&mut inner.line).poll_read(cx, into))?;
        inner.frames.pass(into.filled().get(before..).unwrap_or_default());
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0.borrow_mut().line).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0.borrow_mut().line).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.borrow_mut().line).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.borrow_mut().line).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PING: u8 = 6;

    fn frame(kind: u8, length: u8) -> Vec<u8> {
        let mut frame = vec![0, 0, length, kind, 0, 0, 0, 0, 1];
        frame.resize(HEAD + usize::from(length), RST_STREAM);
        frame
    }

    fn frames(frame: &[u8], count: usize) -> Frames {
        let limits = Http2 { resets: 3, control_frames: 5, ..Http2::default() };
        let mut frames = Frames::new(&limits);
        let bytes = [vec![b'P'; PREFACE], frame.repeat(count)].concat();
        // However the bytes are cut.
        bytes.chunks(7).for_each(|piece| frames.pass(piece));
        frames
    }

    #[test]
    fn more_than_allowed_in_a_second_is_a_flood() {
        for (kind, most) in [(RST_STREAM, 3), (PING, 5), (4, 5), (99, 5)] {
            assert!(!frames(&frame(kind, 8), most).flooded, "{kind}");
            assert!(frames(&frame(kind, 8), most + 1).flooded, "{kind}");
        }
        assert!(!frames(&frame(0, 200), 1000).flooded, "what is in DATA is no frame");
    }

    #[test]
    fn the_next_second_is_a_new_one() {
        let mut frames = frames(&frame(PING, 8), 5);
        let later = frames.since + WINDOW;
        (0..5).for_each(|_| frames.count(PING, later));
        assert!(!frames.flooded);
        frames.count(PING, later);
        assert!(frames.flooded);
    }
}
