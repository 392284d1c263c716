//! Evidence for the rules: the status at two moments, memory, and the configuration.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use wire::control::{FrontStatus, WorkerState, WorkerStatus};

use super::shared::ReforkEvidence;
use crate::mem::report::MemorySnapshot;
use compat::programs::Programs;
use config::Directive;
use machine::memory::Machine;
use master::configuration::Survey;
use master::sockets::control_socket::Command;
use profiler::{StackFrame, StackProfile};
use status::{ServerStatus, Usages};
use toolkit::client::Server;
use toolkit::conf::Conf;

/// Interval between two status requests.
const EVERY: Duration = Duration::from_secs(1);

/// Data that the rules evaluate.
pub struct AdviceEvidence {
    pub first: ServerStatus,
    /// CPU times of workers at the first status.
    pub first_usages: Usages,
    /// The last status; equal to `first` if there was only one.
    pub last: ServerStatus,
    /// CPU times of workers at the last status.
    pub last_usages: Usages,
    /// Time for which all workers have been busy while requests waited, up to the last status, in seconds.
    pub full: f64,
    /// Time from the first status to the last, in seconds.
    pub seconds: f64,
    /// Memory of the server's processes.
    pub memory: MemorySnapshot,
    /// Sampled Perl stacks of the workers; only if all were busy at the last status.
    pub stacks: Option<StackProfile>,
    /// The current directives; empty if the server has no readable configuration file.
    pub tree: Vec<Directive>,
    /// CGI programs of the configuration.
    pub programs: Programs,
    /// What a refork would share; only if it is worth it.
    pub refork: ReforkEvidence,
}

impl AdviceEvidence {
    /// Observes the server for `time`.
    pub fn gather(server: &mut Server, time: Duration) -> anyhow::Result<AdviceEvidence> {
        if !server.shares_our_numbers() {
            bail!("the server runs in another container, where its processes have other pids; run this command there");
        }
        let began = Instant::now();
        let (first, first_usages) = look(server)?;
        let (mut last, mut last_usages) = (first.clone(), first_usages.clone());
        let mut full_since = full(&first).then_some(began);
        while began.elapsed() < time {
            std::thread::sleep(EVERY.min(time.saturating_sub(began.elapsed())));
            (last, last_usages) = look(server)?;
            full_since = full_since.or(Some(Instant::now())).filter(|_| full(&last));
        }
        let watched = full_since.map_or(0.0, |since| since.elapsed().as_secs_f64());
        let survey = Conf::of(Path::new(&last.origin)).origin().map(|origin| Survey::of(&origin));
        let (tree, programs) = survey.map(|survey| (survey.tree, Programs::of(&survey.config))).unwrap_or_default();
        Ok(AdviceEvidence {
            full: watched.max(shortest_busy(&last)),
            seconds: began.elapsed().as_secs_f64(),
            memory: MemorySnapshot::of(&last, &Machine::default()),
            stacks: full(&last).then(|| stacks(server)).flatten(),
            tree,
            programs,
            refork: last.memory.refork_saves.map(|_| ReforkEvidence::gather(server)).unwrap_or_default(),
            first,
            first_usages,
            last,
            last_usages,
        })
    }

    pub fn front(&self) -> Option<&FrontStatus> {
        self.last.front.as_ref()
    }

    /// The workers that have a request.
    pub fn busy(&self) -> impl Iterator<Item = &WorkerStatus> {
        self.last.workers().iter().filter(|worker| worker.state == WorkerState::Busy)
    }

    /// CPU time divided by the time in which workers had requests, 0 to 1. `None` below one second of observation.
    pub fn cpu_part(&self) -> Option<f64> {
        let worked = self.front()?.worked_us.checked_sub(self.first.front.as_ref()?.worked_us)? as f64 / 1e6;
        let used = |worker: &WorkerStatus| {
            let [first, last] = [&self.first_usages, &self.last_usages].map(|usages| usages.get(worker.pid).cpu_ms);
            last?.checked_sub(first?)
        };
        let cpu: u64 = self.last.workers().iter().filter_map(used).sum();
        (self.seconds >= 1.0 && worked > 0.0).then(|| (cpu as f64 / 1e3 / worked).min(1.0))
    }

    /// The Perl code that most samples have in common as innermost frame, with its share of the samples.
    pub fn busiest_place(&self) -> Option<(&StackFrame, f64)> {
        let profile = self.stacks.as_ref()?;
        let mut places: HashMap<u32, u64> = HashMap::new();
        for stack in profile.requests.iter().flat_map(|by| &by.stacks) {
            if let Some(innermost) = stack.frames.last() {
                *places.entry(*innermost).or_default() += stack.samples;
            }
        }
        let (place, samples) = places.into_iter().max_by_key(|(_, samples)| *samples)?;
        Some((profile.frames.get(place as usize)?, samples as f64 / profile.samples.max(1) as f64))
    }

    /// Finds a directive with this name and first argument, at any depth.
    pub fn directive(&self, name: &str, word: &str) -> Option<&Directive> {
        find(&self.tree, &|directive| {
            directive.name.eq_ignore_ascii_case(name)
                && directive.args.first().is_some_and(|first| first.eq_ignore_ascii_case(word))
        })
    }
}

fn find<'t>(tree: &'t [Directive], is_it: &impl Fn(&Directive) -> bool) -> Option<&'t Directive> {
    tree.iter().find_map(|directive| match directive.section.as_deref() {
        Some(inner) => find(inner, is_it),
        None => is_it(directive).then_some(directive),
    })
}

fn look(server: &mut Server) -> anyhow::Result<(ServerStatus, Usages)> {
    let status = server.request(Command::Status)?.status.context("the server sent an invalid answer")?;
    let usages = Usages::of(status.workers(), |_| None);
    Ok((status, usages))
}

/// Samples stacks for a second. Without a profiler, advice is given without stacks.
fn stacks(server: &mut Server) -> Option<StackProfile> {
    server.request_from_profiler(Command::Record { seconds: 1.0, hertz: 50.0 }).ok()
}

/// Whether all workers are busy and requests wait. No further workers will be forked.
fn full(status: &ServerStatus) -> bool {
    let busy = status.workers().iter().filter(|worker| worker.state == WorkerState::Busy).count();
    let waiting = status.front.as_ref().is_some_and(|front| front.queued > 0);
    waiting && busy >= status.max_clients as usize
}

/// Time since the last worker became busy, in seconds: all workers have been busy at least that long.
fn shortest_busy(status: &ServerStatus) -> f64 {
    let busy = status.workers().iter().filter(|worker| worker.state == WorkerState::Busy);
    match full(status) {
        true => busy.map(|worker| worker.since_ms).min().unwrap_or(0) as f64 / 1e3,
        false => 0.0,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::mem::report::tests::Simulated;

    pub fn worker(slot: u32, request: &str) -> WorkerStatus {
        let state = if request.is_empty() { WorkerState::Idle } else { WorkerState::Busy };
        WorkerStatus { slot, pid: -1, state, request: request.to_owned(), since_ms: 14_000, ..WorkerStatus::default() }
    }

    /// A server without problems; `change` adds one.
    pub fn evidence(change: impl FnOnce(&mut ServerStatus, &mut FrontStatus)) -> AdviceEvidence {
        let mut status = ServerStatus { max_clients: 2, ..ServerStatus::default() };
        let workers = vec![worker(0, ""), worker(1, "")];
        let mut front = FrontStatus { requests: 1000, worker_requests: 1000, workers, ..FrontStatus::default() };
        change(&mut status, &mut front);
        status.front = Some(front);
        let mut memory = Simulated::new("advise").report();
        memory.processes.clear();
        AdviceEvidence {
            first: status.clone(),
            first_usages: Usages::default(),
            last: status,
            last_usages: Usages::default(),
            full: 0.0,
            seconds: 0.0,
            memory,
            stacks: None,
            tree: Vec::new(),
            programs: Programs::default(),
            refork: ReforkEvidence::default(),
        }
    }
}
