//! Limits for the number of a client's frames: each costs the same, however short it is.

use std::time::{Duration, Instant};

/// Time whose frames a client may send at once.
const BURST: Duration = Duration::from_secs(10);
/// Pings and pongs of a client per second, and at once. No client needs more than one of them in some seconds.
const CONTROLS: u32 = 100;
const CONTROLS_AT_ONCE: u32 = 2000;

/// The frames that a client may still send.
pub struct FrameRate {
    frames: Budget,
    controls: Budget,
    /// Frames that have been charged.
    seen: u64,
}

/// A budget that refills with time.
struct Budget {
    /// Time in which one unit refills.
    gap: Duration,
    /// Time in which all of it refills.
    most: Duration,
    /// When all of it is there again.
    full: Option<Instant>,
}

impl FrameRate {
    /// The limit of this many frames per second, averaged over ten seconds. `None` for 0, which is no limit.
    pub fn new(per_second: u32) -> Option<FrameRate> {
        let gap = Duration::from_secs(1).checked_div(per_second)?;
        let controls = Duration::from_secs(1) / CONTROLS;
        Some(FrameRate {
            frames: Budget { gap, most: BURST, full: None },
            controls: Budget { gap: controls, most: controls * CONTROLS_AT_ONCE, full: None },
            seen: 0,
        })
    }

    /// Whether the client has sent no more than it may. `frames`: all so far; `is_control`: the last is a ping or pong.
    pub fn allows(&mut self, frames: u64, is_control: bool, now: Instant) -> bool {
        let new = u32::try_from(frames.saturating_sub(self.seen)).unwrap_or(u32::MAX);
        self.seen = frames;
        let is_within = self.frames.spend(new, now);
        is_within && (!is_control || self.controls.spend(1, now))
    }
}

impl Budget {
    /// Whether this much was left.
    fn spend(&mut self, count: u32, now: Instant) -> bool {
        let from = self.full.map_or(now, |full| full.max(now));
        let full = from + self.gap.saturating_mul(count).min(self.most * 2);
        self.full = Some(full);
        full <= now + self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_limited_over_ten_seconds_and_control_frames_apart() {
        assert!(FrameRate::new(0).is_none());
        let mut rate = FrameRate::new(5).expect("a limit");
        let start = Instant::now();
        assert!(rate.allows(50, false, start));
        assert!(!rate.allows(51, false, start));
        let mut rate = FrameRate::new(5).expect("a limit");
        assert!(rate.allows(50, false, start));
        assert!(rate.allows(55, false, start + Duration::from_secs(1)));
        assert!(!rate.allows(u64::MAX, false, start + Duration::from_secs(100)));
        let mut rate = FrameRate::new(1_000_000).expect("a limit");
        let last = u64::from(CONTROLS_AT_ONCE);
        assert!((1..=last).all(|number| rate.allows(number, true, start)));
        assert!(rate.allows(last + 1, false, start));
        assert!(!rate.allows(last + 2, true, start));
    }
}
