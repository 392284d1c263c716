//! Inspections under way: processes report on themselves. Each process writes into its own memfd. All of them hold the
//! write end of a pipe; its end of file shows that all reports are complete.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::unistd::pipe2;
use wire::control::{PoolId, Slot};
use wire::transport::{has_begun, in_memory, read_report};

use super::children::peer::Fd;
use super::sockets::control_socket::{ControlClient, SelfReport};
use base::log;

/// Command or step of the server that waits for reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportAsker {
    /// A command.
    Client(ControlClient),
    /// A reload, whose molds load the code of the workers.
    Reload,
    /// A graceful stop: the code of the workers is for the next start.
    Stop,
    /// The same, from time to time.
    Survey,
}

/// A process that reports.
#[derive(Debug)]
pub struct Reporter {
    /// Pool of the process.
    pool: PoolId,
    /// Slot; `None` if it is no worker.
    slot: Option<Slot>,
    pid: i32,
    into: Fd,
}

impl Reporter {
    /// Creates the memory for the report of the process `pid`, which gets the descriptor.
    pub fn new(pool: PoolId, slot: Option<Slot>, pid: i32) -> io::Result<(Reporter, Fd)> {
        let into = Fd::new(in_memory("report", b"")?.into());
        Ok((Reporter { pool, slot, pid, into: into.clone() }, into))
    }

    /// Whether the process has announced its report and not written it.
    fn is_at_work(&self) -> bool {
        has_begun(self.into.as_fd())
    }

    fn report(self) -> Option<SelfReport> {
        let Reporter { slot, pid, into, .. } = self;
        match read_report(into.as_fd()) {
            Ok(text) => Some(SelfReport { worker: slot, pid, text }),
            Err(error) => {
                log::warn("master", format_args!("pid={pid} sent an invalid report: {error}"));
                None
            }
        }
    }
}

/// The pipe of an inspection: the end that the master watches, and the end that the processes hold.
pub fn pipe() -> io::Result<(OwnedFd, Fd)> {
    let (ours, theirs) = pipe2(OFlag::O_CLOEXEC)?;
    Ok((ours, Fd::new(theirs)))
}

#[derive(Debug)]
pub struct PendingInspection {
    pub asker: ReportAsker,
    /// The processes.
    pub reporters: Vec<Reporter>,
    /// Read end of a pipe that is closed when all processes have reported or ended.
    pub done: OwnedFd,
    /// When the inspection is answered with the reports that have arrived.
    pub by: Instant,
    /// For [`Inspection::Blame`](wire::control::Inspection::Blame), whose reports come from children of the workers:
    /// until when reports that have begun are waited for. The CPU time of the children is limited; on a busy machine
    /// they need more time of the clock.
    pub search_until: Option<Instant>,
}

/// Interval between two checks whether late searches are still at work.
const RECHECK: Duration = Duration::from_secs(1);

impl PendingInspection {
    /// Postpones the end of an inspection that is late while one of its processes is at work.
    fn postpone(&mut self, now: Instant) {
        let Some(until) = self.search_until.filter(|until| self.by <= now && now < *until) else { return };
        if self.reporters.iter().any(Reporter::is_at_work) {
            self.by = until.min(now + RECHECK);
        }
    }

    pub fn reports(self) -> Vec<SelfReport> {
        self.reporters.into_iter().filter_map(Reporter::report).collect()
    }

    /// Reports by pool, without those of processes that sent nothing that can be read.
    pub fn reports_by_pool(self) -> BTreeMap<PoolId, Vec<SelfReport>> {
        let mut pools: BTreeMap<PoolId, Vec<SelfReport>> = BTreeMap::new();
        for reporter in self.reporters {
            let pool = reporter.pool;
            pools.entry(pool).or_default().extend(reporter.report());
        }
        pools
    }
}

/// All inspections under way.
#[derive(Debug, Default)]
pub struct Inspections {
    pending: Vec<PendingInspection>,
    /// Clients whose searches begin after the one under way: the children of two searches would share the pages that
    /// both are to find.
    waiting: VecDeque<ControlClient>,
}

impl Inspections {
    pub fn add(&mut self, inspection: PendingInspection) {
        self.pending.push(inspection);
    }

    /// The asker of each inspection, and a descriptor that is readable when all processes have reported.
    pub fn watched(&self) -> impl Iterator<Item = (ReportAsker, BorrowedFd<'_>)> {
        self.pending.iter().map(|inspection| (inspection.asker, inspection.done.as_fd()))
    }

    /// Takes the first inspection of an asker.
    pub fn take(&mut self, asker: ReportAsker) -> Option<PendingInspection> {
        let at = self.pending.iter().position(|inspection| inspection.asker == asker)?;
        Some(self.pending.swap_remove(at))
    }

    /// Whether a search is under way. If so, `client` waits for its end.
    pub fn waits(&mut self, client: ControlClient) -> bool {
        let is_under_way = self.is_searching();
        if is_under_way {
            self.waiting.push_back(client);
        }
        is_under_way
    }

    /// The client whose search can begin now.
    pub fn next_search(&mut self) -> Option<ControlClient> {
        if self.is_searching() { None } else { self.waiting.pop_front() }
    }

    fn is_searching(&self) -> bool {
        self.pending.iter().any(|inspection| inspection.search_until.is_some())
    }

    /// The askers of the inspections whose time is over.
    pub fn late(&mut self, now: Instant) -> Vec<ReportAsker> {
        self.pending.iter_mut().for_each(|inspection| inspection.postpone(now));
        self.pending.iter().filter(|inspection| inspection.by <= now).map(|inspection| inspection.asker).collect()
    }

    /// When the next inspection is late.
    pub fn wakes(&self) -> Option<Instant> {
        self.pending.iter().map(|inspection| inspection.by).min()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use wire::transport::begin_report;

    use super::*;

    const CLIENT: ReportAsker = ReportAsker::Client(1);
    const LIMIT: Duration = Duration::from_secs(20);

    /// A search of one worker for client 1, its report, and the write end of its pipe.
    fn search(begun: Instant) -> (Inspections, File, Fd) {
        let (done, theirs) = pipe().expect("a pipe");
        let (reporter, into) = Reporter::new(PoolId { generation: 1, pool: 0 }, Some(0), 1).expect("a memfd");
        let mut inspections = Inspections::default();
        inspections.add(PendingInspection {
            asker: CLIENT,
            reporters: vec![reporter],
            done,
            by: begun + LIMIT,
            search_until: Some(begun + 10 * LIMIT),
        });
        (inspections, into.as_fd().try_clone_to_owned().expect("a descriptor").into(), theirs)
    }

    #[test]
    fn a_search_that_a_busy_worker_has_not_begun_is_late() {
        let begun = Instant::now();
        let (mut inspections, _, _theirs) = search(begun);
        assert_eq!(inspections.late(begun), []);
        assert_eq!(inspections.late(begun + LIMIT), [CLIENT]);
    }

    #[test]
    fn a_search_that_has_begun_may_take_more_time_of_the_clock() {
        let begun = Instant::now();
        let (mut inspections, into, _theirs) = search(begun);
        begin_report(into.as_fd()).expect("written");
        assert_eq!(inspections.late(begun + LIMIT), []);
        assert_eq!(inspections.wakes(), Some(begun + LIMIT + RECHECK));
        assert_eq!(inspections.late(begun + 10 * LIMIT), [CLIENT], "but not any time");
    }

    #[test]
    fn a_search_of_which_all_that_began_have_reported_is_late() {
        let begun = Instant::now();
        let (mut inspections, mut into, _theirs) = search(begun);
        begin_report(into.as_fd()).expect("written");
        into.write_all(b"{}").expect("written");
        assert_eq!(inspections.late(begun + LIMIT), [CLIENT]);
        let reports = inspections.take(CLIENT).expect("pending").reports();
        assert_eq!(reports.first().map(|report| report.text.trim()), Some("{}"));
    }

    #[test]
    fn a_second_search_waits_for_the_end_of_the_first() {
        let (mut inspections, _, _theirs) = search(Instant::now());
        assert!(inspections.waits(2));
        assert_eq!(inspections.next_search(), None);
        inspections.take(CLIENT);
        assert_eq!(inspections.next_search(), Some(2));
        assert!(!inspections.waits(3));
        assert_eq!(inspections.next_search(), None);
    }
}
