//! A timeout for consecutive requests, without a new timer for each.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Instant;

use tokio::time::Sleep;

/// One timer per connection. It is reset only when it has fired for a request that has ended meanwhile, so that
/// responses in time cost no change of the timer wheel.
pub struct RequestTimer {
    timer: Pin<Box<Sleep>>,
}

impl RequestTimer {
    /// A timeout that was not used yet.
    pub fn new() -> RequestTimer {
        RequestTimer { timer: Box::pin(tokio::time::sleep_until(Instant::now().into())) }
    }

    /// The result of `work`; `None`: not complete at `deadline`.
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
