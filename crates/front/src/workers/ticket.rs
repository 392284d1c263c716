//! A claim on the response of a submitted request.

use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;

use super::{SharedExchange, Workers};
use crate::base::failure::Truncated;

/// A claim on a worker's exchange. Dropping it abandons the exchange; the worker then finishes without a client.
pub struct Ticket {
    pub(super) workers: Rc<Workers>,
    pub(super) exchange: SharedExchange,
}

impl Ticket {
    pub fn exchange(&self) -> &SharedExchange {
        &self.exchange
    }

    /// The next bytes, at most `left` of the promised length. An error if the actual length differs.
    pub fn poll(&self, left: &mut Option<u64>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Truncated>>> {
        let mut exchange = self.exchange.borrow_mut();
        if *left == Some(0) && exchange.length.is_exceeded() {
            return Poll::Ready(Some(Err(Truncated)));
        }
        let mut chunk = ready!(exchange.poll_chunk(cx));
        match (&mut chunk, left) {
            (Some(Ok(bytes)), Some(left)) => {
                bytes.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= bytes.len() as u64;
            }
            (None, Some(1..)) => {
                exchange.length.check_end();
                chunk = Some(Err(Truncated));
            }
            _ => {}
        }
        Poll::Ready(chunk)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.workers.abandon(&self.exchange);
    }
}
