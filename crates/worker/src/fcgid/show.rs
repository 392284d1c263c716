//! The state of all programs and processes, shown to the master once a second.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use wire::board::{BoardWriter, MAX_BYTES};
use wire::fcgid::{ProgramProcess, ProgramProcessState, ProgramSpec, ProgramStatus, ProgramsBoard};

use super::process::FcgidProcess;
use base::log;

/// Shortest time between two writes, unless a process has begun or ended.
const PERIOD: Duration = Duration::from_secs(1);
/// Maximum number of programs that are counted; of more, those without processes are forgotten.
const MAX_PROGRAMS: usize = 1000;

/// Counters of a program.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    requests: u64,
    started: u64,
    failed: u64,
}

/// The board, and what is counted for it.
pub struct Shown {
    board: Option<BoardWriter>,
    counts: BTreeMap<(u16, PathBuf), Counts>,
    /// The number of processes as written last, and when.
    last: Option<(usize, Instant)>,
    /// Whether changes wait for the next write.
    pub is_behind: bool,
}

impl Shown {
    /// Shows nothing yet. Without a board, the server's status has no programs.
    pub fn on(board: OwnedFd) -> Shown {
        let board = BoardWriter::new(board).inspect_err(|error| {
            log::error("fcgid", format_args!("cannot show FastCGI programs in the status: {error}"))
        });
        Shown { board: board.ok(), counts: BTreeMap::new(), last: None, is_behind: false }
    }

    /// Counts a start.
    pub fn started(&mut self, spec: &ProgramSpec) {
        self.of(spec).started += 1;
    }

    /// Counts an answered request.
    pub fn answered(&mut self, spec: &ProgramSpec) {
        self.of(spec).requests += 1;
    }

    /// Counts a process that has ended by itself.
    pub fn failed(&mut self, spec: &ProgramSpec) {
        self.of(spec).failed += 1;
    }

    fn of(&mut self, spec: &ProgramSpec) -> &mut Counts {
        self.counts.entry((spec.host, spec.file.clone())).or_default()
    }

    /// Writes the board, if that is due.
    pub fn show<'a>(
        &mut self,
        processes: &[FcgidProcess],
        waiting: impl Iterator<Item = &'a ProgramSpec>,
        now: Instant,
    ) {
        let count = processes.len();
        if self.board.is_none() || self.last.is_some_and(|(last, at)| last == count && now.duration_since(at) < PERIOD)
        {
            self.is_behind = self.board.is_some();
            return;
        }
        (self.last, self.is_behind) = (Some((count, now)), false);
        if self.counts.len() > MAX_PROGRAMS {
            let runs = |key: &(u16, PathBuf)| processes.iter().any(|it| it.spec.host == key.0 && it.spec.file == key.1);
            self.counts.retain(|key, _| runs(key));
        }
        let text = text(&self.programs(processes, waiting, now));
        let written = self.board.as_mut().map_or(Ok(()), |board| board.write(&text));
        if let Err(error) = written {
            log::error("fcgid", format_args!("cannot show FastCGI programs in the status: {error}"));
            self.board = None;
        }
    }

    fn programs<'a>(
        &self,
        processes: &[FcgidProcess],
        waiting: impl Iterator<Item = &'a ProgramSpec>,
        now: Instant,
    ) -> Vec<ProgramStatus> {
        let mut all: BTreeMap<(u16, PathBuf), ProgramStatus> = BTreeMap::new();
        for (key, Counts { requests, started, failed }) in &self.counts {
            let (host, file) = (key.0, key.1.display().to_string());
            let (requests, started, failed) = (*requests, *started, *failed);
            all.insert(
                key.clone(),
                ProgramStatus { host, file, requests, started, failed, ..ProgramStatus::default() },
            );
        }
        for spec in waiting {
            let key = (spec.host, spec.file.clone());
            all.entry(key).or_insert_with(|| named(spec)).waiting += 1;
        }
        for process in processes {
            let key = (process.spec.host, process.spec.file.clone());
            all.entry(key).or_insert_with(|| named(&process.spec)).processes.push(of_process(process, now));
        }
        all.into_values().collect()
    }
}

fn named(spec: &ProgramSpec) -> ProgramStatus {
    ProgramStatus { host: spec.host, file: spec.file.display().to_string(), ..ProgramStatus::default() }
}

fn of_process(process: &FcgidProcess, now: Instant) -> ProgramProcess {
    let state = match (process.is_ending(), process.lease) {
        (true, _) => ProgramProcessState::Ending,
        (false, Some(_)) => ProgramProcessState::Busy,
        (false, None) => ProgramProcessState::Idle,
    };
    let (begun, request) = process.current.clone().map_or((None, String::new()), |(begun, text)| (Some(begun), text));
    ProgramProcess {
        pid: process.pid.as_raw(),
        state,
        requests: process.requests,
        age_s: process.age(now).as_secs(),
        memory: resident(process.pid.as_raw()).unwrap_or(0),
        busy_ms: begun.map(|begun| u64::try_from(now.saturating_duration_since(begun).as_millis()).unwrap_or(u64::MAX)),
        request,
    }
}

/// Resident memory of a process in bytes: the second number of `statm`, in pages.
fn resident(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages.saturating_mul(page_size()))
}

fn page_size() -> u64 {
    use nix::unistd::{SysconfVar, sysconf};
    sysconf(SysconfVar::PAGE_SIZE).ok().flatten().and_then(|size| u64::try_from(size).ok()).unwrap_or(4096)
}

/// The programs as JSON: as many as fit on the board.
fn text(programs: &[ProgramStatus]) -> String {
    let mut shown = ProgramsBoard { programs: programs.to_vec() };
    loop {
        let text = serde_json::to_string(&shown).unwrap_or_default();
        if text.len() <= MAX_BYTES || shown.programs.is_empty() {
            return text;
        }
        shown.programs.truncate(shown.programs.len() / 2);
    }
}
