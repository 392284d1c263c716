//! A recording: all workers are sampled at a rate, for some seconds.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use libperl::PerlActivity;

use super::profile::{PerlStack, RequestProfile, StackFrame, StackProfile};
use super::watched::WatchedWorker;
use base::log;

/// Number of requests that are distinguished by method, host and path.
const MAX_REQUESTS: usize = 1000;
/// Maximum number of different stacks in a recording.
const MAX_STACKS: usize = 50_000;
const OTHERS: &str = "(others)";
/// Bounds of the sampling rate.
const HERTZ: std::ops::RangeInclusive<f64> = 0.1..=1000.0;
/// Longest recording, in seconds.
pub const MAX_SECONDS: f64 = 3600.0;

/// A recording under way.
#[derive(Debug)]
pub struct Recording {
    into: OwnedFd,
    /// Closed when the result is written.
    done: OwnedFd,
    began: Instant,
    ends: Instant,
    period: Duration,
    due: Instant,
    rounds: u64,
    torn: u64,
    /// CPU time of each worker at its last sample.
    used: HashMap<i32, Duration>,
    frames: Places,
    requests: HashMap<String, HashMap<Vec<u32>, Weight>>,
    stacks: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    samples: u64,
    cpu: Duration,
}

/// Frames without duplicates.
#[derive(Debug, Default)]
struct Places {
    numbers: HashMap<StackFrame, u32>,
    all: Vec<StackFrame>,
}

impl Places {
    fn number(&mut self, frame: StackFrame) -> u32 {
        let next = self.all.len() as u32;
        *self.numbers.entry(frame).or_insert_with_key(|frame| {
            self.all.push(frame.clone());
            next
        })
    }
}

impl Recording {
    pub fn new(seconds: f64, hertz: f64, into: OwnedFd, done: OwnedFd, workers: &[WatchedWorker]) -> Recording {
        let now = Instant::now();
        let used = workers.iter().map(|worker| (worker.pid, worker.processor_time())).collect();
        let bounded = |value: f64, least: f64, most: f64| if value.is_nan() { least } else { value.clamp(least, most) };
        let period = Duration::from_secs_f64(1.0 / bounded(hertz, *HERTZ.start(), *HERTZ.end()));
        let ends = now + Duration::from_secs_f64(bounded(seconds, 0.0, MAX_SECONDS));
        let (frames, requests) = (Places::default(), HashMap::new());
        let due = now + period;
        Recording { into, done, began: now, ends, period, due, rounds: 0, torn: 0, used, frames, requests, stacks: 0 }
    }

    /// When the next round is due.
    pub fn due(&self) -> Instant {
        self.due.min(self.ends)
    }

    pub fn is_over(&self, now: Instant) -> bool {
        self.ends <= now
    }

    /// Samples all workers, if that is due. A round that comes late replaces the ones that it missed.
    pub fn sample(&mut self, now: Instant, workers: &mut [WatchedWorker]) {
        if self.due > now {
            return;
        }
        self.rounds += 1;
        while self.due <= now {
            self.due += self.period;
        }
        for worker in workers {
            self.look_at(worker);
        }
    }

    fn look_at(&mut self, worker: &mut WatchedWorker) {
        let used = worker.processor_time();
        // A worker that was forked since the last round has used all of its CPU time meanwhile.
        let before = self.used.insert(worker.pid, used).unwrap_or_default();
        let cpu = used.saturating_sub(before);
        let Some(activity) = worker.activity() else { return };
        let stack = worker.stack(&activity).map(|frames| self.numbered(frames));
        if stack.is_none() {
            self.torn += 1;
        }
        let request = self.request(&activity);
        let is_known =
            stack.as_ref().is_none_or(|stack| self.requests.get(&request).is_some_and(|r| r.contains_key(stack)));
        let stack = stack.filter(|_| is_known || self.stacks < MAX_STACKS).unwrap_or_default();
        self.stacks += usize::from(!is_known);
        let weight = self.requests.entry(request).or_default().entry(stack).or_default();
        weight.samples += 1;
        weight.cpu += cpu;
    }

    fn numbered(&mut self, frames: Vec<StackFrame>) -> Vec<u32> {
        frames.into_iter().rev().map(|frame| self.frames.number(frame)).collect()
    }

    fn request(&self, activity: &PerlActivity) -> String {
        let path = activity.target.split('?').next().unwrap_or_default();
        let request = format!("{} {}{path}", activity.method, activity.host);
        let is_one_more = self.requests.len() >= MAX_REQUESTS && !self.requests.contains_key(&request);
        if is_one_more { OTHERS.to_owned() } else { request }
    }

    /// Writes the result of the recording.
    pub fn end(self, now: Instant) {
        let Recording { into, done, began, rounds, torn, frames, requests, .. } = self;
        let mut requests: Vec<RequestProfile> =
            requests.into_iter().map(|(request, stacks)| by_stacks(request, stacks)).collect();
        requests.sort_by(|a, b| a.request.cmp(&b.request));
        let samples = requests.iter().flat_map(|request| &request.stacks).map(|stack| stack.samples).sum();
        let seconds = (now - began).as_secs_f64();
        let profile = StackProfile { seconds, rounds, samples, torn, frames: frames.all, requests };
        let written = serde_json::to_vec(&profile).map_err(std::io::Error::from);
        if let Err(error) = written.and_then(|text| File::from(into).write_all(&text)) {
            log::error("profiler", format_args!("cannot write the recording: {error}"));
        }
        drop(done);
    }
}

fn by_stacks(request: String, stacks: HashMap<Vec<u32>, Weight>) -> RequestProfile {
    let stack = |(frames, weight): (Vec<u32>, Weight)| {
        let cpu_us = u64::try_from(weight.cpu.as_micros()).unwrap_or(u64::MAX);
        PerlStack { frames, samples: weight.samples, cpu_us }
    };
    let mut stacks: Vec<PerlStack> = stacks.into_iter().map(stack).collect();
    stacks.sort_by(|a, b| a.frames.cmp(&b.frames));
    RequestProfile { request, stacks }
}
