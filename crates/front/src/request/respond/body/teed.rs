//! A body that is wanted twice: by a client, at its own speed, and as a whole, as fast as the worker makes it. A client that
//! reads slowly, or leaves, keeps nobody else waiting.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::{Bytes, BytesMut};

use super::BodySource;
use crate::base::failure::Truncated;

/// Where a body that turned out too large to be wanted whole waits for its client: not more than so much.
const IN_MEMORY: usize = 64 * 1024;

/// The client's end.
pub struct Teed {
    pipe: Rc<RefCell<Pipe>>,
    /// What is still to come, where that is known.
    left: Option<u64>,
}

/// What the client has not taken yet.
#[derive(Default)]
struct Pipe {
    pieces: VecDeque<Bytes>,
    bytes: usize,
    /// Whether there was all of it, when nothing more comes.
    end: Option<bool>,
    /// Nobody takes it.
    abandoned: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// Reads `body`: what is returned is for the client, and `done` gets all of it, or `None` when it is more than `most` bytes or never
/// is whole.
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
                // Its own memory: not the rest of a buffer as well.
                return done.into_iter().for_each(|done| done(Some(Bytes::copy_from_slice(&whole))));
            }
        }
        if done.is_none() && poll_fn(|cx| pipe.borrow_mut().poll_room(cx)).await.is_err() {
            return;
        }
    }
}

/// Nobody takes what is read.
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
    /// How much is still to come, where that is known.
    pub fn length(&self) -> Option<u64> {
        self.left
    }

    /// Whether the client has all of it.
    pub fn is_over(&self) -> bool {
        let pipe = self.pipe.borrow();
        self.left.unwrap_or(0) == 0 && pipe.pieces.is_empty() && pipe.end == Some(true)
    }

    /// The next bytes.
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
