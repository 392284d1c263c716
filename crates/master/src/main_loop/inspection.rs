//! Inspections: processes of the default pool are asked to report on themselves, and the reports are answers to
//! clients.

use std::cmp::Reverse;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use wire::control::{Inspection, LateCode, PoolId, ToFront, ToMold};

use super::Master;
use crate::children::MoldId;
use crate::children::peer::Fd;
use crate::inspections::{PendingInspection, ReportAsker, Reporter, pipe};
use crate::pool::workers::ServingWorker;
use crate::sockets::control_socket::{ControlClient, ControlReply, StopMode};

/// A worker that is busy for longer does not report.
const PATIENCE: Duration = Duration::from_secs(4);
/// A worker that is busy for longer does not search for unshared data.
const PATIENCE_OF_BLAME: Duration = Duration::from_secs(20);
/// Timeout of a search that has begun. It runs in a child of the worker with a limit of its CPU time; the clock's time
/// matters only if the child does not run at all.
const MAX_SEARCH: Duration = Duration::from_secs(600);
/// Timeout where code has to be loaded first; longer than the timeout of the mold's child.
const PATIENCE_OF_SCALES: Duration = Duration::from_secs(60);
/// Maximum number of workers that report.
const MAX_WORKERS: usize = 100;
/// Maximum number of workers that search for unshared data: those with the most private memory. Each forks a child for
/// it, which costs memory.
const MAX_BLAMED: usize = 4;

impl Master {
    /// `cameleer mem --advise` and the like, by `client`.
    pub(super) fn request_inspection(&mut self, client: ControlClient, what: Inspection) {
        if what == Inspection::Blame && self.inspections.waits(client) {
            return;
        }
        if let Err(error) = self.inspect(client, what) {
            self.answer(Some(client), &ControlReply::failed(error));
        }
    }

    fn inspect(&mut self, client: ControlClient, what: Inspection) -> io::Result<()> {
        let Some(serving) = self.generations.serving_pool() else {
            return Err(io::Error::other("the server is not serving at present"));
        };
        let molds: Vec<MoldId> = self.forking_mold(serving).into_iter().collect();
        let (molds, most, patience) = match what {
            Inspection::Blame => (&[][..], MAX_BLAMED, PATIENCE_OF_BLAME),
            Inspection::Loaded | Inspection::Census | Inspection::Growth => (&molds[..], MAX_WORKERS, PATIENCE),
        };
        let (reporters, done) = self.ask_pools(&[serving], molds, what, most)?;
        let now = Instant::now();
        let search_until = (what == Inspection::Blame).then(|| now + MAX_SEARCH);
        let asker = ReportAsker::Client(client);
        self.inspections.add(PendingInspection { asker, reporters, done, by: now + patience, search_until });
        Ok(())
    }

    /// Asks these molds and at most `most` workers of each pool. The descriptor is readable when all have reported.
    pub(super) fn ask_pools(
        &mut self,
        pools: &[PoolId],
        molds: &[MoldId],
        what: Inspection,
        most: usize,
    ) -> io::Result<(Vec<Reporter>, OwnedFd)> {
        let (done, theirs) = pipe()?;
        let mut reporters = Vec::new();
        for mold in molds {
            reporters.extend(self.inspect_mold(*mold, ToMold::Inspect { what }, &theirs)?);
        }
        for pool in pools {
            let mut workers = self.workers.serving(*pool);
            if what == Inspection::Blame {
                workers.sort_by_key(|worker| Reverse(worker.private));
            }
            for worker in workers.into_iter().take(most) {
                reporters.push(self.inspect_worker(*pool, worker, what, &theirs)?);
            }
        }
        Ok((reporters, done))
    }

    fn inspect_worker(
        &mut self,
        pool: PoolId,
        worker: ServingWorker,
        what: Inspection,
        done: &Fd,
    ) -> io::Result<Reporter> {
        let ServingWorker { id, pid, mold, .. } = worker;
        let (reporter, into) = Reporter::new(pool, Some(id.slot), pid)?;
        let mut fds = vec![into, done.clone()];
        if what == Inspection::Blame {
            fds.extend(self.memory_of(pid, mold)?);
        }
        self.send_to_front(ToFront::Inspect { worker: id, what }, fds);
        Ok(reporter)
    }

    /// Files that [`Inspection::Blame`] needs; a worker that has changed its user may not open them.
    fn memory_of(&mut self, pid: i32, mold: MoldId) -> io::Result<[Fd; 3]> {
        let mold = self.children.mold(mold).ok_or_else(|| io::Error::other("the mold of a worker has ended"))?.pid;
        let open = |path: String| match File::open(&path) {
            Ok(file) => Ok(Fd::new(file.into())),
            Err(error) => Err(io::Error::other(format!("cannot open {path}: {error}"))),
        };
        Ok([
            open(format!("/proc/{pid}/pagemap"))?,
            open(format!("/proc/{pid}/mem"))?,
            open(format!("/proc/{mold}/mem"))?,
        ])
    }

    /// `cameleer size`: measures the memory of workers that load `code`, for `client`.
    pub(super) fn request_weighing(&mut self, client: ControlClient, code: LateCode) {
        if let Err(error) = self.weigh(client, code) {
            self.answer(Some(client), &ControlReply::failed(error));
        }
    }

    fn weigh(&mut self, client: ControlClient, code: LateCode) -> io::Result<()> {
        let Some(serving) = self.generations.serving_pool() else {
            return Err(io::Error::other("the server is not serving at present"));
        };
        let (done, theirs) = pipe()?;
        let reporters = match self.forking_mold(serving) {
            Some(mold) => self.inspect_mold(mold, ToMold::Weigh { code }, &theirs)?.into_iter().collect(),
            None => Vec::new(),
        };
        let by = Instant::now() + PATIENCE_OF_SCALES;
        let asker = ReportAsker::Client(client);
        self.inspections.add(PendingInspection { asker, reporters, done, by, search_until: None });
        Ok(())
    }

    pub(super) fn forking_mold(&self, pool: PoolId) -> Option<MoldId> {
        self.generations.forking(pool).map(|member| MoldId { pool, refork: member.refork })
    }

    /// Sends `order` to a mold, if it exists. Returns the memfd for its report.
    fn inspect_mold(&mut self, id: MoldId, order: ToMold, done: &Fd) -> io::Result<Option<Reporter>> {
        let Some(mold) = self.children.mold(id) else { return Ok(None) };
        let (reporter, into) = Reporter::new(id.pool, None, mold.pid.as_raw())?;
        mold.peer.send(order, vec![into, done.clone()]);
        Ok(Some(reporter))
    }

    /// Passes the reports on, once all processes have reported.
    pub(super) fn answer_inspection(&mut self, asker: ReportAsker) {
        let Some(inspection) = self.inspections.take(asker) else { return };
        while let Some(next) = self.inspections.next_search() {
            self.request_inspection(next, Inspection::Blame);
        }
        match asker {
            ReportAsker::Client(client) => {
                let reports = Some(inspection.reports());
                self.answer(Some(client), &ControlReply { reports, ..ControlReply::ok() });
            }
            ReportAsker::Survey => self.learn_late_code(inspection),
            ReportAsker::Reload => {
                self.learn_late_code(inspection);
                self.read_again();
            }
            ReportAsker::Stop => {
                self.learn_late_code(inspection);
                self.begin_to_stop(StopMode::Graceful);
            }
        }
    }

    /// Sends incomplete reports of inspections whose timeout has passed.
    pub(super) fn enforce_inspections(&mut self, now: Instant) {
        self.inspections.late(now).into_iter().for_each(|asker| self.answer_inspection(asker));
    }
}
