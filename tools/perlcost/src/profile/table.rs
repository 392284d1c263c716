//! The profile as a table: by subs and by requests, and the database's share.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::{ClockMode, folded};
use profiler::{PerlStack, StackCode, StackFrame, StackProfile};

/// Maximum number of subs and of requests in the table.
const SHOWN: usize = 20;

/// Weight of a sub: its own, the total with called subs, and by line.
#[derive(Debug, Default)]
struct Share {
    own: u64,
    total: u64,
    lines: BTreeMap<(String, u32), u64>,
}

impl Share {
    fn busiest_line(&self) -> String {
        let busiest = self.lines.iter().max_by_key(|(_, weight)| **weight);
        busiest.map_or_else(String::new, |((file, line), _)| format!("{file}:{line}"))
    }
}

pub fn of(profile: &StackProfile, mode: ClockMode) -> String {
    let weigh = |stacks: &[PerlStack]| stacks.iter().map(|stack| folded::weight(stack, mode)).sum::<u64>();
    let all: u64 = profile.requests.iter().map(|by| weigh(&by.stacks)).sum();
    let mut text = head(profile, mode, all);
    if all == 0 {
        text.push_str("no worker had a request during the recording\n");
        return text;
    }
    let percent = |weight: u64| weight as f64 * 100.0 / all as f64;
    let _ = writeln!(text, "database (DBI and drivers) {:.1} %", percent(in_database(profile, mode)));
    text.push_str("\n   self   total  sub, and its busiest line\n");
    for (name, share) in by_subs(profile, mode).iter().take(SHOWN) {
        let _ = writeln!(
            text,
            "{:6.1}% {:6.1}%  {name}  {}",
            percent(share.own),
            percent(share.total),
            share.busiest_line()
        );
    }
    text.push_str("\n          total  request\n");
    let mut requests: Vec<(u64, &str)> =
        profile.requests.iter().map(|by| (weigh(&by.stacks), by.request.as_str())).collect();
    requests.sort_by(|a, b| b.cmp(a));
    for (weight, request) in requests.iter().take(SHOWN) {
        let _ = writeln!(text, "        {:6.1}%  {request}", percent(*weight));
    }
    text
}

fn head(profile: &StackProfile, mode: ClockMode, all: u64) -> String {
    let StackProfile { seconds, rounds, samples, torn, .. } = profile;
    let busy = *samples as f64 / (*rounds).max(1) as f64;
    let work = match mode {
        ClockMode::Wall => String::new(),
        ClockMode::Cpu => format!("; they used {:.2} s of processor time", all as f64 / 1e6),
    };
    format!("{seconds:.1} s, {samples} samples ({torn} torn), {busy:.1} busy workers on average{work}\n")
}

fn in_database(profile: &StackProfile, mode: ClockMode) -> u64 {
    let is_database = |stack: &PerlStack| frames(profile, stack).any(StackFrame::is_database);
    let stacks = profile.requests.iter().flat_map(|by| &by.stacks);
    stacks.filter(|stack| is_database(stack)).map(|stack| folded::weight(stack, mode)).sum()
}

fn frames<'a>(profile: &'a StackProfile, stack: &'a PerlStack) -> impl DoubleEndedIterator<Item = &'a StackFrame> {
    stack.frames.iter().filter_map(|at| profile.frames.get(*at as usize))
}

/// Weights by sub, the largest own weight first. An operator counts for the sub that contains it.
fn by_subs(profile: &StackProfile, mode: ClockMode) -> Vec<(String, Share)> {
    let mut subs: BTreeMap<String, Share> = BTreeMap::new();
    for stack in profile.requests.iter().flat_map(|by| &by.stacks) {
        let weight = folded::weight(stack, mode);
        let mut seen = BTreeSet::new();
        let mut own = weight;
        for frame in frames(profile, stack).rev().filter(|frame| frame.code != StackCode::Operator) {
            let share = subs.entry(frame.name.clone()).or_default();
            share.own += std::mem::take(&mut own);
            if seen.insert(&frame.name) {
                share.total += weight;
                *share.lines.entry((frame.file.clone(), frame.line)).or_default() += weight;
            }
        }
    }
    let mut subs: Vec<(String, Share)> = subs.into_iter().collect();
    subs.sort_by_key(|(_, share)| std::cmp::Reverse((share.own, share.total)));
    subs
}
