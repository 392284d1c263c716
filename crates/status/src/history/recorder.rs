//! Makes the record of a second from two consecutive statuses.

use std::ops::RangeInclusive;

use wire::control::{FrontStatus, ServerCounts, Spreads, WorkerState};

use super::Second;
use crate::ServerStatus;

/// Compares each status with the previous one.
#[derive(Debug, Default)]
pub struct Recorder {
    front: Option<FrontStatus>,
    counts: Option<ServerCounts>,
}

impl Recorder {
    /// The record of the time since the previous status. The first status, and the first one of a new front, yield only
    /// the current state: their counters also count earlier events.
    pub fn second(&mut self, time: u32, status: &ServerStatus) -> Second {
        let mut second = Second { time, ..Second::default() };
        memory(&mut second, status);
        if let Some(before) = self.counts.replace(status.counts.clone()) {
            happened(&mut second, &before, &status.counts);
        }
        let Some(front) = &status.front else {
            second.front_is_missing = 1;
            return second;
        };
        state(&mut second, front);
        let before = self.front.replace(front.clone());
        if let Some(before) = before.filter(|before| before.started_s == front.started_s) {
            answered(&mut second, &before, front);
        }
        second
    }
}

fn memory(second: &mut Second, status: &ServerStatus) {
    second.pss_kb = kb(status.memory.pss());
    let workers = status.workers().iter().filter_map(|worker| status.memory.processes.get(&worker.pid));
    let (private, shared) = workers.fold((0, 0), |(p, s), sizes| (p + sizes.private, s + sizes.shared));
    (second.private_kb, second.shared_kb) = (kb(private), kb(shared));
}

fn happened(second: &mut Second, before: &ServerCounts, now: &ServerCounts) {
    let sum = |counts: &ServerCounts| counts.exits.values().sum::<u64>();
    second.exits = narrow(sum(now).saturating_sub(sum(before)));
    second.faults = narrow(now.faults().saturating_sub(before.faults()));
    second.reloads = least(now.reloads.saturating_sub(before.reloads));
    second.failed_reloads = least(now.failed_reloads.saturating_sub(before.failed_reloads));
    second.reforks = least(now.reforks.saturating_sub(before.reforks));
}

fn state(second: &mut Second, front: &FrontStatus) {
    let count = |state| narrow(front.workers.iter().filter(|worker| worker.state == state).count() as u64);
    second.busy = count(WorkerState::Busy);
    second.idle = count(WorkerState::Idle);
    second.starting = count(WorkerState::Starting);
    second.retiring = count(WorkerState::Retiring);
    second.queued = front.queued;
    second.connections = wide(front.connections);
}

fn answered(second: &mut Second, before: &FrontStatus, now: &FrontStatus) {
    let class = |codes: RangeInclusive<u16>| {
        let sum = |front: &FrontStatus| front.codes.range(codes.clone()).map(|(_, count)| count).sum::<u64>();
        wide(sum(now).saturating_sub(sum(before)))
    };
    second.ok = class(100..=299);
    second.redirects = class(300..=399);
    second.client_errors = class(400..=499);
    second.server_errors = class(500..=599);
    second.shed = wide(now.shed.total().saturating_sub(before.shed.total()));
    if let (Some(before), Some(now)) = (&before.spreads, &now.spreads) {
        times(second, before, now);
    }
}

fn times(second: &mut Second, before: &Spreads, now: &Spreads) {
    let request = now.request.since(&before.request);
    second.p50_us = wide(request.quantile(50));
    second.p90_us = wide(request.quantile(90));
    second.p99_us = wide(request.quantile(99));
    second.queue_p99_us = wide(now.queue.since(&before.queue).quantile(99));
}

fn kb(bytes: u64) -> u32 {
    wide(bytes / 1024)
}

fn wide(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn narrow(number: u64) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

fn least(number: u64) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::control::{ExitReason, Shed, Spread};

    fn status(ok: u64, failed: u64, took: &[(u64, u64)]) -> ServerStatus {
        let request = Spread(took.iter().copied().collect());
        let front = FrontStatus {
            started_s: 5,
            codes: [(200, ok), (503, failed)].into(),
            shed: Shed { queue_full: failed, ..Shed::default() },
            spreads: Some(Spreads { request, ..Spreads::default() }),
            ..FrontStatus::default()
        };
        ServerStatus { front: Some(front), ..ServerStatus::default() }
    }

    #[test]
    fn a_record_counts_events_since_the_previous_status() {
        let mut recorder = Recorder::default();
        let first = recorder.second(1, &status(100, 1, &[(10, 101)]));
        assert_eq!((first.requests(), first.p50_us), (0, 0), "the requests are older than this second");
        let mut next = status(120, 4, &[(10, 101), (50, 22), (900, 1)]);
        next.counts.exited(ExitReason::Signal);
        next.counts.exited(ExitReason::Spare);
        let second = recorder.second(2, &next);
        assert_eq!((second.ok, second.server_errors, second.shed), (20, 3, 3));
        assert_eq!((second.p50_us, second.p99_us, second.exits, second.faults), (50, 900, 2, 1));
    }

    #[test]
    fn a_missing_or_new_front_adds_no_requests() {
        let mut recorder = Recorder::default();
        recorder.second(1, &status(100, 0, &[]));
        let away = recorder.second(2, &ServerStatus::default());
        assert_eq!((away.front_is_missing, away.requests()), (1, 0));
        let mut another = status(7, 0, &[]);
        another.front.as_mut().expect("a front").started_s = 6;
        assert_eq!(recorder.second(3, &another).requests(), 0);
    }
}
