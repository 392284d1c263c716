//! Inspections: processes of the default pool are asked to report on themselves, and the reports are answers to
//! clients.

use std::cmp::Reverse;
use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use wire::control::{Inspection, LateCode, PoolId, ToFront, ToMold};

use super::Master;
use crate::children::MoldId;
use crate::children::peer::Fd;
use crate::inspections::{PendingInspection, Reporter, pipe};
use crate::loaded;
use crate::pool::workers::ServingWorker;
use crate::sockets::control_socket::{ControlClient, ControlReply};

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
        if let Err(error) = self.inspect(Some(client), what) {
            self.answer(Some(client), &ControlReply::failed(error));
        }
    }

    /// The answer is `client`'s, or goes into [`Self::read_again`].
    pub(super) fn inspect(&mut self, client: Option<ControlClient>, what: Inspection) -> io::Result<()> {
        let Some(serving) = self.generations.serving_pool() else {
            return Err(io::Error::other("the server is not serving at present"));
        };
        let (done, theirs) = pipe()?;
        let mut reporters = Vec::new();
        let mut workers = self.workers.serving(serving);
        let patience = match what {
            Inspection::Blame => {
                workers.sort_by_key(|worker| Reverse(worker.private));
                workers.truncate(MAX_BLAMED);
                PATIENCE_OF_BLAME
            }
            Inspection::Loaded | Inspection::Census | Inspection::Growth => {
                reporters.extend(self.inspect_mold(serving, ToMold::Inspect { what }, &theirs)?);
                workers.truncate(MAX_WORKERS);
                PATIENCE
            }
        };
        let asked: io::Result<Vec<Reporter>> =
            workers.into_iter().map(|worker| self.inspect_worker(worker, what, &theirs)).collect();
        reporters.extend(asked?);
        let now = Instant::now();
        let search_until = (what == Inspection::Blame).then(|| now + MAX_SEARCH);
        self.inspections.add(PendingInspection { client, reporters, done, by: now + patience, search_until });
        Ok(())
    }

    fn inspect_worker(&mut self, worker: ServingWorker, what: Inspection, done: &Fd) -> io::Result<Reporter> {
        let ServingWorker { id, pid, mold, .. } = worker;
        let (reporter, into) = Reporter::new(Some(id.slot), pid)?;
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
        let reporters = self.inspect_mold(serving, ToMold::Weigh { code }, &theirs)?.into_iter().collect();
        let by = Instant::now() + PATIENCE_OF_SCALES;
        self.inspections.add(PendingInspection { client: Some(client), reporters, done, by, search_until: None });
        Ok(())
    }

    /// Sends `order` to the forking mold, if there is one. Returns the memfd for its report.
    fn inspect_mold(&mut self, serving: PoolId, order: ToMold, done: &Fd) -> io::Result<Option<Reporter>> {
        let forking = self.generations.forking(serving).map(|member| (member.refork, member.pid));
        let Some((refork, pid)) = forking else { return Ok(None) };
        let (reporter, into) = Reporter::new(None, pid)?;
        if let Some(mold) = self.children.mold(MoldId { pool: serving, refork }) {
            mold.peer.send(order, vec![into, done.clone()]);
        }
        Ok(Some(reporter))
    }

    /// Sends the reports to the client, once all processes have reported.
    pub(super) fn answer_inspection(&mut self, client: Option<ControlClient>) {
        let Some(inspection) = self.inspections.take(client) else { return };
        while let Some(next) = self.inspections.next_search() {
            self.request_inspection(next, Inspection::Blame);
        }
        let reports = inspection.reports();
        if client.is_some() {
            return self.answer(client, &ControlReply { reports: Some(reports), ..ControlReply::ok() });
        }
        self.reloads.add_preload(loaded::wanted(&reports));
        self.read_again();
    }

    /// Sends incomplete reports of inspections whose timeout has passed.
    pub(super) fn enforce_inspections(&mut self, now: Instant) {
        self.inspections.late(now).into_iter().for_each(|client| self.answer_inspection(client));
    }
}
