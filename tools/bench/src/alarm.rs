//! Wakes tasks at given moments, accurate to some 50 µs: tokio's timers have a resolution of a millisecond,
//! longer than many responses take.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::time::{Duration, Instant};

use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use tokio::io::unix::AsyncFd;
use tokio::sync::{Notify, oneshot};

/// One kernel timer for all waiting tasks.
pub struct Alarm {
    timer: AsyncFd<Timer>,
    /// Sorted by moment, because a schedule hands out turns in that order.
    waiting: RefCell<VecDeque<(Instant, oneshot::Sender<()>)>>,
    somebody_waits: Notify,
}

struct Timer(TimerFd);

impl AsRawFd for Timer {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

impl Alarm {
    /// An alarm in the current runtime.
    #[allow(deprecated, reason = "the new spelling is unsafe; a Timer owns its descriptor and never changes it")]
    pub fn new() -> io::Result<Alarm> {
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        Ok(Alarm { timer: AsyncFd::new(Timer(timer))?, waiting: RefCell::default(), somebody_waits: Notify::new() })
    }

    /// Waits until `moment`, which must not be earlier than the moments of tasks already waiting.
    pub async fn wait_until(&self, moment: Instant) {
        let (sender, receiver) = oneshot::channel();
        self.waiting.borrow_mut().push_back((moment, sender));
        self.somebody_waits.notify_one();
        let _ = receiver.await;
    }

    /// Wakes tasks when their moments come; never returns without an error.
    pub async fn ring(&self) -> io::Result<()> {
        loop {
            let next = self.wake_due();
            match next {
                None => self.somebody_waits.notified().await,
                Some(moment) => self.sleep_until(moment).await?,
            }
        }
    }

    /// Wakes tasks whose time has come; returns the next time.
    fn wake_due(&self) -> Option<Instant> {
        let mut waiting = self.waiting.borrow_mut();
        let now = Instant::now();
        while waiting.front().is_some_and(|(moment, _)| *moment <= now) {
            let Some((_, sender)) = waiting.pop_front() else { break };
            let _ = sender.send(());
        }
        waiting.front().map(|(moment, _)| *moment)
    }

    async fn sleep_until(&self, moment: Instant) -> io::Result<()> {
        let left = moment.saturating_duration_since(Instant::now());
        // Zero would disarm the timer.
        let left = TimeSpec::from_duration(left.max(Duration::from_nanos(1)));
        self.timer.get_ref().0.set(Expiration::OneShot(left), TimerSetTimeFlags::empty())?;
        let mut ready = self.timer.readable().await?;
        let _ = self.timer.get_ref().0.wait();
        ready.clear_ready();
        Ok(())
    }
}
