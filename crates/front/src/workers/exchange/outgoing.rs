//! The response on its way to the client: its head, its body, and the spool between worker and client.

use std::io;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::super::spool::Batch;
use super::Exchange;
use crate::base::failure::{Failure, Truncated};

impl Exchange {
    /// The next batch to write to the response's file.
    pub fn next_batch(&mut self) -> Option<Batch> {
        self.spool.next_batch()
    }

    /// Handles the result of writing the last batch, of `bytes` bytes. Resumes a worker that waited for the disk.
    pub fn written(&mut self, result: io::Result<()>, bytes: usize) {
        if result.is_ok() {
            self.pressure.taken(bytes);
        }
        self.spool.written(result);
        if !self.spool.is_full() {
            self.resume();
        }
    }

    /// Lets the spool use a file, because requests wait for the worker.
    pub fn spill(&mut self) {
        self.spool.spill();
        if !self.spool.is_full() {
            self.resume();
        }
    }

    /// Whether the worker must wait for the client although the response may be stored in a file.
    pub fn is_stuck(&self) -> bool {
        self.spool.is_stuck()
    }

    /// Whether the client reads too slowly, measured over `patience`, while requests wait for its worker.
    pub fn is_too_slow(&mut self, patience: Duration, now: Instant) -> bool {
        self.spool.is_stuck() && !self.abandoned && self.pressure.is_too_much(patience, now)
    }

    /// Truncates the response. Call [`Exchange::abandon`] afterwards.
    pub fn cut(&mut self) {
        self.is_cut = true;
        self.wake();
    }

    /// Ready with a head, a file, a redirect or a refusal, or with the failure.
    pub fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        let is_replaced = self.file.is_some() || self.elsewhere.is_some() || self.refused.is_some();
        if self.head.is_some() || is_replaced || self.onward.is_some() {
            return Poll::Ready(Ok(()));
        }
        if let Some(Err(failure)) = self.outcome {
            return Poll::Ready(Err(failure));
        }
        self.wait(cx)
    }

    /// Ready when the worker is done. `Ok(false)`: it has not sent the whole response.
    pub fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Failure>> {
        match self.outcome {
            None => self.wait(cx),
            Some(Ok(ref end)) => Poll::Ready(Ok(!end.truncated)),
            Some(Err(failure)) => Poll::Ready(Err(failure)),
        }
    }

    /// The next piece of the body; an error if the body is truncated.
    pub fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Truncated>>> {
        if self.is_cut {
            return Poll::Ready(Some(Err(Truncated)));
        }
        let Poll::Ready(chunk) = self.spool.poll(cx) else { return self.wait(cx) };
        let Ok(chunk) = chunk else { return Poll::Ready(Some(Err(Truncated))) };
        if let Some(chunk) = chunk {
            self.pressure.taken(chunk.len());
            if !self.spool.is_full() {
                self.resume();
            }
            return Poll::Ready(Some(Ok(chunk)));
        }
        match &self.outcome {
            _ if self.whole => Poll::Ready(None),
            None => self.wait(cx),
            Some(Ok(end)) if !end.truncated => Poll::Ready(None),
            Some(_) => Poll::Ready(Some(Err(Truncated))),
        }
    }

    fn wait<T>(&mut self, cx: &mut Context<'_>) -> Poll<T> {
        match &mut self.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    pub(super) fn resume(&mut self) {
        self.port.iter().for_each(|port| port.resume());
    }
}
