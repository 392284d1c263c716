//! The body of a response that a program has left with the front: the program's output, then published messages.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, Sleep, sleep};

use super::BodySource;
use crate::base::broadcast::events::COMMENT;
use crate::base::broadcast::held::{Held, HeldEnd};

/// A body that ends with its client, or with the front.
pub struct HeldBody {
    /// The program's output. At its end it is dropped, and the worker is free.
    first: BodySource,
    held: Held,
    /// Time without a message, and its timer.
    quiet: Option<(Duration, Pin<Box<Sleep>>)>,
    is_over: bool,
}

impl HeldBody {
    /// A body with a comment of server-sent events after each `quiet` time.
    pub fn new(first: BodySource, held: Held, quiet: Option<Duration>) -> HeldBody {
        let quiet = quiet.map(|time| (time, Box::pin(sleep(time))));
        HeldBody { first, held, quiet, is_over: false }
    }

    /// The program's output.
    pub fn inner(&self) -> &BodySource {
        &self.first
    }

    /// Whether the program's output was sent, so that messages are waited for.
    pub fn waits(&self) -> bool {
        matches!(self.first, BodySource::Empty) && !self.is_over
    }

    /// Whether more messages wait than allowed; see [`Held::is_slow`].
    pub fn is_slow(&self, cx: &Context<'_>) -> bool {
        self.held.is_slow(cx)
    }

    /// Whether the body has ended.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if !matches!(self.first, BodySource::Empty) {
            match ready!(self.first.poll(cx)) {
                None => self.first = BodySource::Empty,
                piece => return Poll::Ready(piece),
            }
        }
        match self.held.poll(cx) {
            Poll::Ready(Ok(message)) => {
                if let Some((time, timer)) = &mut self.quiet {
                    timer.as_mut().reset(Instant::now() + *time);
                }
                Poll::Ready(Some(Ok(message)))
            }
            Poll::Ready(Err(HeldEnd::Stopped)) => {
                self.is_over = true;
                Poll::Ready(None)
            }
            Poll::Ready(Err(HeldEnd::Slow)) => Poll::Ready(Some(Err(io::ErrorKind::TimedOut.into()))),
            Poll::Pending => self.poll_quiet(cx),
        }
    }

    fn poll_quiet(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let Some((time, timer)) = &mut self.quiet else { return Poll::Pending };
        ready!(timer.as_mut().poll(cx));
        timer.as_mut().reset(Instant::now() + *time);
        Poll::Ready(Some(Ok(COMMENT)))
    }
}
