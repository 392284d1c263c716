//! A body with two readers: the client at its own speed, and the cache at the worker's speed. A slow or absent client
//! does not delay the requests that wait for the cached response.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::{Bytes, BytesMut};

use super::BodySource;
use crate::base::failure::Truncated;

/// Maximum number of buffered bytes for the client once the body is too large for the cache.
const IN_MEMORY: usize = 64 * 1024;

/// The client's end of the pipe.
pub struct Teed {
    pipe: Rc<RefCell<Pipe>>,
    /// The remaining length, if known.
    left: Option<u64>,
}

/// The bytes that the client has not read yet.
#[derive(Default)]
struct Pipe {
    pieces: VecDeque<Bytes>,
    bytes: usize,
    /// Set at the end of the body: whether it was complete.
    end: Option<bool>,
    /// Whether the client's end was dropped.
    abandoned: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// Reads `body` in a task. Returns the client's body.
/// Calls `done` with the complete body, or with `None` if it exceeds `most` bytes or breaks off.
pub fn tee(body: BodySource, most: usize, done: impl FnOnce(Option<Bytes>) + 'static) -> BodySource {
    let pipe = Rc::new(RefCell::new(Pipe::default()));
    let teed = Teed { pipe: pipe.clone(), left: body.length() };
    tokio::task::spawn_local(read(body, pipe, most, done));
    BodySource::Teed(teed)
}

async fn read(mut body: BodySource, pipe: Rc<RefCell<Pipe>>, most: usize, done: impl FnOnce(Option<Bytes>)) {
    let (mut whole, mut done) = (BytesMut::new(), Some(done));
    loop {
        match poll_fn(|cx| body.poll(cx)).await {
            Some(Ok(bytes)) => {
                if done.is_some() && whole.len() + bytes.len() <= most {
                    whole.extend_from_slice(&bytes);
                } else if let Some(done) = done.take() {
                    whole = BytesMut::new();
                    done(None);
                }
                pipe.borrow_mut().push(bytes);
            }
            Some(Err(_)) => {
                pipe.borrow_mut().close(false);
                return done.into_iter().for_each(|done| done(None));
            }
            None => {
                pipe.borrow_mut().close(true);
                // Copied, so that the stored body does not hold the rest of a larger buffer.
                return done.into_iter().for_each(|done| done(Some(Bytes::copy_from_slice(&whole))));
            }
        }
        if done.is_none() && poll_fn(|cx| pipe.borrow_mut().poll_room(cx)).await.is_err() {
            return;
        }
    }
}

/// The client's end was dropped.
struct Abandoned;

impl Pipe {
    fn push(&mut self, bytes: Bytes) {
        if !self.abandoned && !bytes.is_empty() {
            self.bytes += bytes.len();
            self.pieces.push_back(bytes);
            self.reader.take().into_iter().for_each(Waker::wake);
        }
    }

    fn close(&mut self, is_whole: bool) {
        self.end = Some(is_whole);
        self.reader.take().into_iter().for_each(Waker::wake);
    }

    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Abandoned>> {
        if self.abandoned {
            return Poll::Ready(Err(Abandoned));
        }
        if self.bytes < IN_MEMORY {
            return Poll::Ready(Ok(()));
        }
        self.writer = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Teed {
    /// The remaining length in bytes, if known.
    pub fn length(&self) -> Option<u64> {
        self.left
    }

    /// Whether the client has read the whole body.
    pub fn is_over(&self) -> bool {
        let pipe = self.pipe.borrow();
        self.left.unwrap_or(0) == 0 && pipe.pieces.is_empty() && pipe.end == Some(true)
    }

    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let mut pipe = self.pipe.borrow_mut();
        if let Some(bytes) = pipe.pieces.pop_front() {
            pipe.bytes -= bytes.len();
            self.left = self.left.map(|left| left.saturating_sub(bytes.len() as u64));
            pipe.writer.take().into_iter().for_each(Waker::wake);
            return Poll::Ready(Some(Ok(bytes)));
        }
        match pipe.end {
            Some(true) => Poll::Ready(None),
            Some(false) => Poll::Ready(Some(Err(io::Error::other(Truncated)))),
            None => {
                pipe.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Teed {
    fn drop(&mut self) {
        let mut pipe = self.pipe.borrow_mut();
        pipe.abandoned = true;
        pipe.pieces.clear();
        pipe.writer.take().into_iter().for_each(Waker::wake);
    }
}
