//! Counts useless frames of a client. Each costs the client a few bytes, but the front a response or the begin of a
//! request, so their rate is limited. h2 itself limits memory, not rates.

use std::time::{Duration, Instant};

use super::frames::{self, Http2Frame};
use config::protocols::Http2;

const WINDOW: Duration = Duration::from_secs(1);
/// Window for stream errors, because a connection may live for days.
const LONG_WINDOW: Duration = Duration::from_secs(60);

/// Smaller WINDOW_UPDATE increments, in bytes, count as tiny: they allow hardly more than a frame header.
const TINY: u32 = 64;
/// Minimum bytes of a sent DATA frame that allows further tiny WINDOW_UPDATEs.
const LARGE: usize = 1024;

/// Reset codes that are not caused by a client's error: NO_ERROR, INTERNAL_ERROR, CANCEL.
const OWN_REASONS: [u32; 3] = [0, 2, 8];

/// Counts of the current second, and of stream errors in the current minute.
#[derive(Debug)]
pub struct Floods {
    since: Instant,
    resets: u32,
    others: u32,
    most_resets: u32,
    most_others: u32,
    /// Number of useful WINDOW_UPDATEs still expected: for each DATA frame sent, one for the stream and one for the
    /// connection; and one for each new stream.
    updates: u64,
    /// Number of tiny updates still expected: small responses cause them, and remainders of large ones.
    tiny_updates: u64,
    /// Begin of the minute for `errors`.
    errors_since: Instant,
    errors: u32,
    most_errors: u32,
    flooded: Option<&'static str>,
}

impl Floods {
    /// Creates counts with the configured limits.
    pub fn new(limits: &Http2) -> Floods {
        Floods {
            since: Instant::now(),
            resets: 0,
            others: 0,
            most_resets: limits.resets,
            most_others: limits.control_frames,
            updates: 0,
            tiny_updates: 0,
            errors_since: Instant::now(),
            errors: 0,
            most_errors: u32::try_from(limits.stream_errors).unwrap_or(u32::MAX),
            flooded: None,
        }
    }

    /// Whether a limit was exceeded.
    pub fn is_over(&self) -> bool {
        self.flooded.is_some()
    }

    /// Name of the exceeded limit, for the error log.
    pub fn what(&self) -> Option<&'static str> {
        self.flooded
    }

    /// Counts a frame of the client.
    pub fn received(&mut self, frame: &Http2Frame, now: Instant) {
        match frame.kind {
            frames::HEADERS => {
                self.updates += 1;
                self.tiny_updates += 2;
            }
            frames::RST_STREAM => self.count_reset(now),
            frames::WINDOW_UPDATE if self.is_of_use(frame.number()) => {}
            frames::DATA if frame.carries_data() || frame.ends_stream() => {}
            // h2 limits CONTINUATION frames and rejects PUSH_PROMISE.
            frames::CONTINUATION | frames::PUSH_PROMISE => {}
            _ => self.count_other(now),
        }
    }

    /// Counts a frame to the client.
    pub fn sent(&mut self, frame: &Http2Frame, now: Instant) {
        match frame.kind {
            frames::DATA if frame.carries_data() => {
                self.updates += 2;
                if frame.length >= LARGE {
                    self.tiny_updates += 2;
                }
            }
            // A reset provoked by a client's error costs as much as a reset by the client.
            frames::RST_STREAM if !OWN_REASONS.contains(&frame.number()) => {
                self.count_error(now);
                self.count_reset(now);
            }
            _ => {}
        }
    }

    /// Whether a WINDOW_UPDATE of this increment returns window that was used.
    fn is_of_use(&mut self, increment: u32) -> bool {
        let left = if increment < TINY { &mut self.tiny_updates } else { &mut self.updates };
        let of_use = *left > 0;
        *left = left.saturating_sub(1);
        of_use
    }

    fn count_reset(&mut self, now: Instant) {
        self.begin_second(now);
        self.resets += 1;
        if self.resets > self.most_resets {
            self.flooded = Some("more stream resets than H2MaxResetsPerSecond");
        }
    }

    fn count_error(&mut self, now: Instant) {
        if now.duration_since(self.errors_since) >= LONG_WINDOW {
            (self.errors_since, self.errors) = (now, 0);
        }
        self.errors += 1;
        if self.errors > self.most_errors {
            self.flooded = Some("more stream errors in a minute than H2MaxStreamErrors");
        }
    }

    fn count_other(&mut self, now: Instant) {
        self.begin_second(now);
        self.others += 1;
        if self.others > self.most_others {
            self.flooded = Some("more control frames than H2MaxControlFramesPerSecond");
        }
    }

    fn begin_second(&mut self, now: Instant) {
        if now.duration_since(self.since) >= WINDOW {
            (self.since, self.resets, self.others) = (now, 0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::frames::Frames;
    use super::super::frames::tests::frame;
    use super::*;

    const PING: u8 = 6;

    fn floods() -> Floods {
        Floods::new(&Http2 { resets: 3, control_frames: 5, stream_errors: 100, ..Http2::default() })
    }

    fn all(bytes: &[u8], mut each: impl FnMut(&Http2Frame)) {
        Frames::of_server().pass(bytes, |piece| {
            if piece.begins {
                each(&piece.frame)
            }
        });
    }

    fn receive(floods: &mut Floods, bytes: &[u8], times: usize, now: Instant) {
        all(&bytes.repeat(times), |frame| floods.received(frame, now));
    }

    #[test]
    fn frames_beyond_the_limit_of_a_second_are_a_flood() {
        let now = Instant::now();
        let opening = 1000_u32.to_be_bytes();
        let cases: [(u8, &[u8], usize); 7] = [
            (frames::RST_STREAM, &[0; 4], 3),
            (PING, &[0; 8], 5),
            (2, &[0; 5], 5),
            (4, &[], 5),
            (99, b"unknown", 5),
            (frames::DATA, &[], 5),
            (frames::WINDOW_UPDATE, &opening, 5),
        ];
        for (kind, payload, most) in cases {
            let mut floods = floods();
            receive(&mut floods, &frame(kind, 0, payload), most, now);
            assert!(!floods.is_over(), "{kind}");
            receive(&mut floods, &frame(kind, 0, payload), 1, now);
            assert!(floods.is_over(), "{kind}");
        }
        let mut floods = floods();
        receive(&mut floods, &frame(frames::DATA, 0, &[frames::RST_STREAM; 200]), 1000, now);
        assert!(!floods.is_over(), "what is in DATA is no frame");
    }

    #[test]
    fn the_next_second_is_a_new_one() {
        let (mut floods, now) = (floods(), Instant::now());
        let ping = frame(PING, 0, &[0; 8]);
        receive(&mut floods, &ping, 5, now);
        receive(&mut floods, &ping, 5, now + WINDOW);
        assert!(!floods.is_over());
        receive(&mut floods, &ping, 1, now + WINDOW);
        assert!(floods.is_over());
    }

    #[test]
    fn window_updates_for_sent_bytes_are_no_flood() {
        let (mut floods, now) = (floods(), Instant::now());
        all(&frame(frames::DATA, 0, &[0; 100]).repeat(50), |frame| floods.sent(frame, now));
        let update = |increment: u32| frame(frames::WINDOW_UPDATE, 0, &increment.to_be_bytes());
        receive(&mut floods, &update(100), 100 + 5, now);
        assert!(!floods.is_over());
        receive(&mut floods, &update(100), 1, now);
        assert!(floods.is_over());
    }

    #[test]
    fn a_reset_that_was_provoked_counts_and_one_of_our_own_does_not() {
        let (mut floods, now) = (floods(), Instant::now());
        let mut send = |reason: u32, times: usize| {
            let reset = frame(frames::RST_STREAM, 0, &reason.to_be_bytes()).repeat(times);
            all(&reset, |frame| floods.sent(frame, now));
            floods.is_over()
        };
        OWN_REASONS.iter().for_each(|reason| assert!(!send(*reason, 10)));
        assert!(!send(1, 3));
        assert!(send(5, 1));
    }

    #[test]
    fn mistakes_of_a_minute_are_counted_and_those_before_are_forgiven() {
        let limits = Http2 { resets: 100, stream_errors: 2, ..Http2::default() };
        let (mut floods, now) = (Floods::new(&limits), Instant::now());
        let reset = frame(frames::RST_STREAM, 0, &5_u32.to_be_bytes());
        let mut send = |times: usize, at: Instant| {
            all(&reset.repeat(times), |frame| floods.sent(frame, at));
            floods.what()
        };
        assert_eq!(send(2, now), None);
        assert_eq!(send(2, now + LONG_WINDOW * 2), None);
        assert_eq!(send(1, now + LONG_WINDOW * 2), Some("more stream errors in a minute than H2MaxStreamErrors"));
    }
}
