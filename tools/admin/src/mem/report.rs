//! Memory report of a server: the status, joined with the kernel's data for each process.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use wire::control::WorkerStatus;

use machine::memory::{
    Available, Machine, Measured, MemorySizes, growth_per_thousand, more_that_fit, one_more,
    real_memory_with_largest_share, real_memory_with_parent,
};
use status::{GenerationStatus, ServerStatus};

/// Title of a mold's process.
const MOLD_TITLE: &str = "cameleer: mold";
/// Roles of other children of the master by their names, which the kernel cuts after 15 bytes.
const ROLES: [(&str, ProcessRole); 4] = [
    ("cameleer-sample", ProcessRole::Sampler),
    ("cameleer-prof", ProcessRole::Profiler),
    ("cameleer-monitr", ProcessRole::Monitor),
    ("cameleer-expand", ProcessRole::Expander),
];

/// The memory of a server at one moment.
#[derive(Debug, Serialize)]
pub struct MemorySnapshot {
    pub version: String,
    pub pid: i32,
    /// The configuration's file, or `command line`.
    pub origin: String,
    /// Master, front, molds, workers, and their child processes.
    pub processes: Vec<Process>,
    /// Sums over the readable processes.
    pub total: MemorySizes,
    /// Number of unreadable processes.
    pub unreadable: usize,
    /// Memory that a stop gives back to the machine, in bytes.
    pub given_back: u64,
    /// Total by the mod_perl Guide's formula, in bytes.
    pub with_largest_share: u64,
    /// Total by the formula of Practical mod_perl, in bytes.
    pub with_parent: u64,
    /// Cost of one more worker in bytes; `None`: there are no workers.
    pub one_more_worker: Option<u64>,
    /// Number of workers that have served; `one_more_worker` is their median.
    pub workers_that_served: usize,
    /// Number of further workers that fit into `available`.
    pub more_workers: Option<u64>,
    /// The memory available, and its limit.
    pub available: Option<Available>,
}

#[derive(Debug, Serialize)]
pub struct Process {
    /// Master, front, mold, worker, or a child of one of them.
    pub role: ProcessRole,
    pub pid: i32,
    /// Generation of a mold or a worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    /// Pid of the mold that forked a worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mold: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<u32>,
    /// Requests answered by a worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Sizes; `None`: the process has ended or may not be read.
    pub sizes: Option<MemorySizes>,
    /// Share of its mold's memory that a worker still shares, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_mold: Option<f64>,
    /// Lower bound of a worker's private memory, in bytes: pages of its mold in swap are not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certainly_private: Option<u64>,
    /// Growth of a worker's private memory per 1,000 requests, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth_per_1000: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ProcessRole {
    /// Supervises the other processes.
    Master,
    /// Serves the client connections.
    Front,
    /// Has loaded the Perl code and forks workers.
    Mold,
    /// Answers requests.
    Worker,
    /// Measures the memory of the other processes.
    Sampler,
    /// Reads the Perl stacks of workers.
    Profiler,
    /// Serves AdminListen, and writes HistoryFile.
    Monitor,
    /// Runs the Perl code of a configuration that is being loaded.
    Expander,
    /// Child of another process, such as a CGI program or a piped log.
    Child,
}

impl MemorySnapshot {
    pub fn of(status: &ServerStatus, machine: &Machine) -> MemorySnapshot {
        let mut processes = processes(status, machine);
        let measured = measured(&processes);
        compare_with_molds(&mut processes);
        for process in &mut processes {
            process.growth_per_1000 = process.measured().and_then(|one| growth_per_thousand(&one, &measured));
        }
        let available = machine.available_to(status.pid);
        let one_more_worker = one_more(&measured);
        let all: Vec<MemorySizes> = processes.iter().filter_map(|process| process.sizes).collect();
        let total: MemorySizes = all.iter().copied().sum();
        MemorySnapshot {
            version: status.version.clone(),
            pid: status.pid,
            origin: status.origin.clone(),
            unreadable: processes.len() - all.len(),
            given_back: total.given_back(),
            with_largest_share: real_memory_with_largest_share(&all),
            with_parent: with_parent(&processes),
            one_more_worker,
            workers_that_served: measured.iter().filter(|worker| worker.requests > 0).count(),
            more_workers: available.zip(one_more_worker).and_then(|(available, one)| more_that_fit(available, one)),
            available,
            total,
            processes,
        }
    }

    /// Memory independent of the number of workers: master, front and mold, with the pages that workers share.
    pub fn without_workers(&self) -> u64 {
        let own = |worker: &Process| worker.sizes.map_or(0, |sizes| sizes.own());
        self.given_back.saturating_sub(self.all(ProcessRole::Worker).map(own).sum())
    }

    /// All processes of a role, in order.
    pub fn all(&self, role: ProcessRole) -> impl Iterator<Item = &Process> {
        self.processes.iter().filter(move |process| process.role == role)
    }
}

impl Process {
    fn new(role: ProcessRole, pid: i32) -> Process {
        Process {
            role,
            pid,
            generation: None,
            mold: None,
            slot: None,
            requests: None,
            sizes: None,
            of_mold: None,
            certainly_private: None,
            growth_per_1000: None,
        }
    }

    fn molds(generation: &GenerationStatus) -> impl Iterator<Item = Process> {
        let others = generation.molds.iter().skip(1).map(|mold| mold.pid);
        let mold = |pid| Process { generation: Some(generation.generation), ..Process::new(ProcessRole::Mold, pid) };
        std::iter::once(generation.mold_pid).chain(others).map(mold)
    }

    fn worker(worker: &WorkerStatus) -> Process {
        Process {
            generation: Some(worker.generation),
            slot: Some(worker.slot),
            requests: Some(worker.requests),
            ..Process::new(ProcessRole::Worker, worker.pid)
        }
    }

    /// The measurement of a worker; `None` for other roles and unreadable workers.
    fn measured(&self) -> Option<Measured> {
        (self.role == ProcessRole::Worker).then_some(())?;
        Some(Measured { mold: self.mold?, requests: self.requests?, sizes: self.sizes? })
    }
}

/// All processes of the server, without duplicates. Processes named in the status come first, so that the role of
/// children is not guessed for them.
fn processes(status: &ServerStatus, machine: &Machine) -> Vec<Process> {
    let mut processes =
        vec![Process::new(ProcessRole::Master, status.pid), Process::new(ProcessRole::Front, status.front_pid)];
    processes.extend(status.generations.iter().flat_map(Process::molds));
    processes.extend(status.workers().iter().map(Process::worker));
    // The pid is 0 if a process is starting or has ended.
    processes.retain(|process| process.pid > 0);
    let mut known: BTreeSet<i32> = processes.iter().map(|process| process.pid).collect();
    let mut next = 0;
    while let Some(parent) = processes.get(next).map(|process| process.pid) {
        let children = machine.children(parent).into_iter().filter(|child| known.insert(*child));
        processes.extend(
            children.map(|child| Process::new(role(machine, status.pid, parent, child), child)).collect::<Vec<_>>(),
        );
        next += 1;
    }
    for process in &mut processes {
        process.sizes = machine.sizes(process.pid);
        process.mold = machine.parent(process.pid).filter(|_| process.role == ProcessRole::Worker);
    }
    processes
}

/// The role of a process that the status does not name. After a refork there are other molds, which are children of
/// the master, too.
fn role(machine: &Machine, master: i32, parent: i32, pid: i32) -> ProcessRole {
    let name = machine.name(pid).filter(|_| parent == master).unwrap_or_default();
    if name == MOLD_TITLE {
        return ProcessRole::Mold;
    }
    ROLES.iter().find(|(known, _)| *known == name).map_or(ProcessRole::Child, |(_, role)| *role)
}

fn measured(processes: &[Process]) -> Vec<Measured> {
    processes.iter().filter_map(Process::measured).collect()
}

/// Compares workers with their mold's current memory, which hardly changes after its last fork.
fn compare_with_molds(processes: &mut [Process]) {
    let molds: BTreeMap<i32, MemorySizes> = processes
        .iter()
        .filter(|process| process.role == ProcessRole::Mold)
        .filter_map(|process| Some((process.pid, process.sizes?)))
        .filter(|(_, sizes)| sizes.anonymous > 0)
        .collect();
    for worker in processes.iter_mut().filter(|process| process.role == ProcessRole::Worker) {
        let Some((sizes, mold)) = worker.sizes.zip(worker.mold.and_then(|pid| molds.get(&pid))) else { continue };
        worker.of_mold = Some((sizes.shared_anonymous as f64 / mold.anonymous as f64).min(1.0));
        worker.certainly_private = Some(sizes.certainly_private(mold));
    }
}

/// Practical mod_perl's formula with the largest mold as parent; other molds count as children.
fn with_parent(processes: &[Process]) -> u64 {
    let is_mold = |process: &&Process| process.role == ProcessRole::Mold;
    let mold = processes.iter().filter(is_mold).max_by_key(|mold| mold.sizes.map(|sizes| sizes.rss));
    let others = processes.iter().filter(|process| mold.is_none_or(|mold| mold.pid != process.pid));
    let children: Vec<MemorySizes> = others.filter_map(|process| process.sizes).collect();
    real_memory_with_parent(&children, &mold.and_then(|mold| mold.sizes).unwrap_or_default())
}

#[cfg(test)]
pub mod tests {
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicU32, Ordering};

    use wire::control::{FrontStatus, GenerationState, WorkerState};

    use super::*;

    /// A simulated server whose /proc is in a temporary folder.
    pub struct Simulated(PathBuf);

    impl Simulated {
        pub fn new(name: &str) -> Simulated {
            // Tests that run in parallel may use the same name.
            static NEXT: AtomicU32 = AtomicU32::new(0);
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let folder = format!("cameleer-mem-{name}-{}-{number}", std::process::id());
            let simulated = Simulated(std::env::temp_dir().join(folder));
            simulated.write("meminfo", "MemAvailable: 1048576 kB\n");
            simulated.process(1, [9000, 2000, 1000, 8000], "3 2 97 99");
            simulated.process(2, [21000, 7000, 3000, 18000], "");
            simulated.process(3, [61000, 16000, 1000, 60000], "4 5 6");
            simulated.process(4, [61000, 12000, 400, 60600], "");
            simulated.process(5, [64000, 15000, 4000, 60000], "98");
            simulated.process(6, [99000, 70000, 69000, 30000], "");
            simulated.process(97, [400, 400, 0, 400], "");
            simulated.write("97/comm", "cameleer: mold\n");
            simulated.process(98, [500, 500, 500, 0], "");
            simulated
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.0.join("proc").join(name);
            std::fs::create_dir_all(path.parent().expect("below the root")).expect("a folder in TMPDIR");
            std::fs::write(path, text).expect("written in TMPDIR");
        }

        /// Writes a process with RSS, PSS, private and shared memory in kB. For a mold and its workers, up to 50 MB
        /// of the shared memory is anonymous.
        fn process(&self, pid: i32, sizes: [u64; 4], children: &str) {
            let [rss, pss, private, shared] = sizes;
            let anonymous = if (3..7).contains(&pid) { private + shared.min(51_200) } else { private };
            let rollup = format!(
                "Rss: {rss} kB\nPss: {pss} kB\nPss_File: 100 kB\nShared_Clean: 0 kB\nShared_Dirty: {shared} kB\n\
                 Private_Clean: 0 kB\nPrivate_Dirty: {private} kB\nAnonymous: {anonymous} kB\nSwap: 0 kB\n"
            );
            self.write(&format!("{pid}/smaps_rollup"), &rollup);
            self.write(&format!("{pid}/status"), "PPid: 3\nVmPTE: 84 kB\nThreads: 1\n");
            self.write(&format!("{pid}/task/{pid}/children"), children);
        }

        pub fn report(&self) -> MemorySnapshot {
            MemorySnapshot::of(&status(), &Machine::below(&self.0))
        }

        pub fn swap_out(&self, pid: i32) {
            let path = format!("{pid}/smaps_rollup");
            let text = std::fs::read_to_string(Path::new(&self.0).join("proc").join(&path)).expect("written before");
            self.write(&path, &text.replace("Swap: 0", "Swap: 2048"));
        }
    }

    impl Drop for Simulated {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn status() -> ServerStatus {
        let worker = |slot, pid, requests| WorkerStatus {
            slot,
            generation: 1,
            pid,
            state: WorkerState::Idle,
            requests,
            since_ms: 1,
            ..WorkerStatus::default()
        };
        let workers = vec![worker(0, 4, 0), worker(1, 5, 9), worker(2, 6, 10_000), worker(3, 7, 1), worker(4, 0, 0)];
        ServerStatus {
            version: "0.1.0".into(),
            pid: 1,
            uptime_s: 7300,
            uptime_ms: 7_300_400,
            origin: "/srv/site.conf".into(),
            listen: vec![],
            generation: 1,
            generations: vec![GenerationStatus {
                generation: 1,
                state: GenerationState::Serving,
                mold_pid: 3,
                refork: 1,
                workers: 5,
                molds: Vec::new(),
            }],
            max_clients: 5,
            front_pid: 2,
            front: Some(FrontStatus { workers, ..FrontStatus::default() }),
            ..ServerStatus::default()
        }
    }

    #[test]
    fn the_report_lists_each_process_once_and_counts_ended_ones() {
        let report = Simulated::new("once").report();
        let pids: Vec<_> = report.processes.iter().map(|process| (process.role, process.pid)).collect();
        let expected = [
            (ProcessRole::Master, 1),
            (ProcessRole::Front, 2),
            (ProcessRole::Mold, 3),
            (ProcessRole::Worker, 4),
            (ProcessRole::Worker, 5),
            (ProcessRole::Worker, 6),
            (ProcessRole::Worker, 7),
            (ProcessRole::Mold, 97),
            (ProcessRole::Child, 99),
            (ProcessRole::Child, 98),
        ];
        assert_eq!(pids, expected);
        assert_eq!(report.unreadable, 2, "7 and 99 have ended");
        assert_eq!(report.total.pss, (2000 + 7000 + 16000 + 12000 + 15000 + 70000 + 400 + 500) << 10);
        assert_eq!(report.given_back, report.total.pss - (800 << 10) + ((8 * 100) << 10));
    }

    /// Documented hazard: pages read back from swap look private although they were shared.
    #[test]
    fn with_swap_the_report_marks_uncertain_private_memory() {
        let simulated = Simulated::new("swap");
        simulated.swap_out(3);
        let report = simulated.report();
        let certain: Vec<_> = report.all(ProcessRole::Worker).map(|worker| worker.certainly_private).collect();
        assert_eq!(certain, [Some(0), Some((4000 - 2048) << 10), Some((69_000 - 2048) << 10), None]);
    }

    #[test]
    fn the_report_has_the_formulas_of_the_documents_and_growth() {
        let report = Simulated::new("formulas").report();
        let unshared = 1000 + 3000 + 1000 + 400 + 4000 + 69_000 + 500;
        assert_eq!(report.with_largest_share, (unshared + 60_600) << 10);
        assert_eq!(report.with_parent, (unshared - 1000 + 61_000) << 10);
        assert_eq!(report.one_more_worker, Some((69_000 + 100) << 10), "the upper one of two");
        assert_eq!(report.more_workers, Some(1_048_576 / 69_100));
        let workers: Vec<_> = report.all(ProcessRole::Worker).collect();
        assert_eq!(workers[2].growth_per_1000, Some(6860 << 10));
        assert_eq!((workers[0].growth_per_1000, workers[1].growth_per_1000), (None, None));
        let shares: Vec<_> = workers.iter().map(|worker| worker.of_mold.map(|share| (share * 100.0) as u32)).collect();
        assert_eq!(shares, [Some(98), Some(98), Some(57), None]);
    }
}
