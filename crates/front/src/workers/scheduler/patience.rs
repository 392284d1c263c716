//! Slow clients that hold up workers. While requests wait, their responses go to files. Where that fails, because the
//! disk is full or a limit is reached, each such client needs a minimum speed, which its own thread measures.

use std::time::{Duration, Instant};

use wire::control::WorkerId;

use super::{Action, RequestId, Scheduler};

/// Longest time that a client may be too slow.
const MAX_STALL: Duration = Duration::from_secs(1);
/// Shortest time, after several slow clients in a row: the next ones are probably slow, too.
const MIN_PATIENCE: Duration = Duration::from_millis(100);
/// After this time without a slow client, the patience is [`MAX_STALL`] again.
const FORGIVEN: Duration = Duration::from_secs(10);

/// How long clients may be too slow, depending on how many were lately.
#[derive(Debug, Default)]
pub struct ClientPatience {
    /// When the last slow client was cut, and how many were in this series.
    last: Option<(Instant, u32)>,
}

impl ClientPatience {
    fn now(&self, now: Instant) -> Duration {
        match self.last {
            Some((at, count)) if now.saturating_duration_since(at) < FORGIVEN => {
                (MAX_STALL / (1 << count.min(8))).max(MIN_PATIENCE)
            }
            _ => MAX_STALL,
        }
    }

    fn lose(&mut self, now: Instant) {
        let before = self.last.filter(|(at, _)| now.saturating_duration_since(*at) < FORGIVEN).map_or(0, |(_, n)| n);
        self.last = Some((now, before.saturating_add(1)));
    }
}

impl Scheduler {
    /// Notes that a slow client holds up `worker`: the request's timeout stands still until [`Scheduler::resumed`].
    /// `stuck`: the response cannot be stored, although it may use a file.
    pub fn hold(&mut self, worker: WorkerId, id: RequestId, stuck: bool) {
        if self.current(worker) != Some(id) {
            return;
        }
        self.set_held(worker, true);
        if let Some(held) = self.workers.get_mut(&worker) {
            held.stuck = stuck;
        }
        if self.queued > 0 && !stuck {
            // A queued request arrived before the worker was held up, so `release_held` has not spilled this response.
            self.act(Action::Spill(id));
        }
    }

    /// Ends [`Scheduler::hold`]; `after` is the time that the client held up the worker.
    pub fn resumed(&mut self, worker: WorkerId, id: RequestId, after: Duration) {
        if self.current(worker) == Some(id) {
            self.set_held(worker, false);
            if let Some(request) = self.requests.get_mut(&id) {
                request.started_at += after;
                request.timed.since += after;
            }
        }
    }

    pub(super) fn set_held(&mut self, worker: WorkerId, held: bool) {
        let Some(worker) = self.workers.get_mut(&worker) else { return };
        match (std::mem::replace(&mut worker.held, held), held) {
            (false, true) => self.held += 1,
            (true, false) => self.held -= 1,
            _ => {}
        }
    }

    /// Frees workers of slow clients, because a request waits: their responses go to files.
    pub(super) fn release_held(&mut self) {
        if self.held > 0 {
            let held = self.workers.values().filter(|worker| worker.held && !worker.stuck);
            let held: Vec<_> = held.filter_map(|worker| worker.current).collect();
            held.into_iter().for_each(|request| self.act(Action::Spill(request)));
        }
    }

    /// While requests wait, has the speed measured of clients that hold a stuck worker.
    pub(super) fn press_slow(&mut self, now: Instant) {
        if self.held == 0 || self.queued == 0 {
            return;
        }
        let patience = self.patience.now(now);
        let stuck = self.workers.values().filter(|worker| worker.held && worker.stuck);
        let pressed: Vec<_> = stuck.filter_map(|worker| worker.current).collect();
        pressed.into_iter().for_each(|request| self.act(Action::Press { request, patience }));
    }

    /// Notes that a slow client has lost the rest of its response.
    pub fn gave_up_slow(&mut self, now: Instant) {
        self.patience.lose(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_clients_are_too_slow_the_less_time_has_the_next_one() {
        let (mut patience, mut now) = (ClientPatience::default(), Instant::now());
        let mut all = Vec::new();
        for _ in 0..6 {
            all.push(patience.now(now).as_millis());
            now += patience.now(now);
            patience.lose(now);
        }
        assert_eq!(all, [1000, 500, 250, 125, 100, 100]);
        (0..100).for_each(|_| patience.lose(now));
        assert_eq!(patience.now(now), MIN_PATIENCE);
        assert_eq!(patience.now(now + FORGIVEN), MAX_STALL);
    }
}
