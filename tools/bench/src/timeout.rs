//! A time limit for one request after the other, without a timer for each.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::time::Sleep;

/// One timer of a connection. It is set anew only when it has rung for a request that is over by now, so that an answer in time costs
/// no change of the timer wheel.
pub struct Timeout {
    timer: Pin<Box<Sleep>>,
}

impl Timeout {
    /// One that has not begun.
    pub fn new() -> Timeout {
        Timeout { timer: Box::pin(tokio::time::sleep_until(Instant::now().into())) }
    }

    /// What `work` comes to, or nothing when that takes longer than until `deadline`.
    pub async fn until<T>(&mut self, deadline: Instant, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => self.poll_deadline(deadline, context).map(|()| None),
        })
        .await
    }

    fn poll_deadline(&mut self, deadline: Instant, context: &mut Context<'_>) -> Poll<()> {
        while self.timer.as_mut().poll(context).is_ready() {
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            self.timer.as_mut().reset(deadline.into());
        }
        Poll::Pending
    }
}
