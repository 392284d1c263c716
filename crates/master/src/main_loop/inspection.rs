//! Inspections: processes of the default pool report on themselves. Each process writes into its own memfd. All of them
//! hold the write end of a pipe; its end of file shows that all reports are complete.

use std::cmp::Reverse;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::unistd::pipe2;
use wire::control::{Inspection, LateCode, PoolId, ToFront, ToMold};
use wire::transport::{in_memory, read_told};

use super::Master;
use crate::children::MoldId;
use crate::children::peer::Fd;
use crate::loaded;
use crate::pool::workers::ServingWorker;
use crate::sockets::control_socket::{Client, ControlReply, Told};
use base::log;

/// A worker that is busy for longer does not report.
const PATIENCE: Duration = Duration::from_secs(4);
/// Timeout of a search for unshared data, which runs in a child of the worker.
const PATIENCE_OF_BLAME: Duration = Duration::from_secs(20);
/// Timeout where code has to be loaded first; longer than the timeout of the mold's child.
const PATIENCE_OF_SCALES: Duration = Duration::from_secs(60);
/// Maximum number of workers that report.
const MOST: usize = 100;
/// Maximum number of workers that search for unshared data: those with the most private memory. Each forks a child for
/// it, which costs memory.
const MOST_BLAMED: usize = 4;

/// A reporting process: slot (`None`: no worker), process id, memfd for the report.
type Reporter = (Option<u32>, i32, Fd);

/// A running inspection.
#[derive(Debug)]
pub struct Asked {
    /// The waiting client; `None`: a reload, which needs the list of code for its molds to load.
    client: Option<Client>,
    files: Vec<Reporter>,
    /// Read end of a pipe that is closed when all processes have reported or ended.
    done: OwnedFd,
    by: Instant,
}

impl Asked {
    /// An inspection of one process that is no worker.
    pub(super) fn of(client: Client, pid: i32, into: Fd, done: OwnedFd, by: Instant) -> Asked {
        Asked { client: Some(client), files: vec![(None, pid, into)], done, by }
    }
}

impl Master {
    /// `cameleer mem --advise` and the like, by `client`.
    pub(super) fn ask_inspection(&mut self, client: Client, what: Inspection) {
        if let Err(error) = self.inspect(Some(client), what) {
            self.answer(Some(client), &ControlReply::failed(error));
        }
    }

    /// The answer is `client`'s, or goes into [`Self::read_again`].
    pub(super) fn inspect(&mut self, client: Option<Client>, what: Inspection) -> io::Result<()> {
        let Some(serving) = self.generations.serving_pool() else {
            return Err(io::Error::other("the server is not serving at present"));
        };
        let (told, done) = pipe2(OFlag::O_CLOEXEC)?;
        let done = Fd::new(done);
        let mut files = Vec::new();
        let mut asked = self.workers.serving(serving);
        let patience = match what {
            Inspection::Blame => {
                asked.sort_by_key(|worker| Reverse(worker.private));
                asked.truncate(MOST_BLAMED);
                PATIENCE_OF_BLAME
            }
            Inspection::Loaded | Inspection::Census | Inspection::Growth => {
                files.extend(self.ask_mold(serving, ToMold::Inspect { what }, &done)?);
                asked.truncate(MOST);
                PATIENCE
            }
        };
        let asked: io::Result<Vec<Reporter>> =
            asked.into_iter().map(|worker| self.ask_worker(worker, what, &done)).collect();
        files.extend(asked?);
        self.inspections.push(Asked { client, files, done: told, by: Instant::now() + patience });
        Ok(())
    }

    fn ask_worker(&mut self, worker: ServingWorker, what: Inspection, done: &Fd) -> io::Result<Reporter> {
        let ServingWorker { id, pid, mold, .. } = worker;
        let into = Fd::new(in_memory("told", b"")?.into());
        let mut fds = vec![into.clone(), done.clone()];
        if what == Inspection::Blame {
            fds.extend(self.memory_of(pid, mold)?);
        }
        self.send_to_front(ToFront::Inspect { worker: id, what }, fds);
        Ok((Some(id.slot), pid, into))
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
    pub(super) fn ask_weigh(&mut self, client: Client, code: LateCode) {
        if let Err(error) = self.weigh(client, code) {
            self.answer(Some(client), &ControlReply::failed(error));
        }
    }

    fn weigh(&mut self, client: Client, code: LateCode) -> io::Result<()> {
        let Some(serving) = self.generations.serving_pool() else {
            return Err(io::Error::other("the server is not serving at present"));
        };
        let (told, done) = pipe2(OFlag::O_CLOEXEC)?;
        let files = self.ask_mold(serving, ToMold::Weigh { code }, &Fd::new(done))?;
        let by = Instant::now() + PATIENCE_OF_SCALES;
        self.inspections.push(Asked { client: Some(client), files: files.into_iter().collect(), done: told, by });
        Ok(())
    }

    /// Sends `order` to the forking mold, if there is one. Returns the memfd for its report.
    fn ask_mold(&mut self, serving: PoolId, order: ToMold, done: &Fd) -> io::Result<Option<Reporter>> {
        let forking = self.generations.forking(serving).map(|member| (member.refork, member.pid));
        let Some((refork, pid)) = forking else { return Ok(None) };
        let into = Fd::new(in_memory("told", b"")?.into());
        if let Some(mold) = self.children.mold(MoldId { pool: serving, refork }) {
            mold.peer.send(order, vec![into.clone(), done.clone()]);
        }
        Ok(Some((None, pid, into)))
    }

    /// All inspections, with a descriptor that is readable when all processes have reported.
    pub(super) fn inspections(&self) -> impl Iterator<Item = (Option<Client>, BorrowedFd<'_>)> {
        self.inspections.iter().map(|asked| (asked.client, asked.done.as_fd()))
    }

    /// Sends the reports to the client, once all processes have reported.
    pub(super) fn answer_inspection(&mut self, client: Option<Client>) {
        let Some(at) = self.inspections.iter().position(|asked| asked.client == client) else { return };
        let asked = self.inspections.swap_remove(at);
        let told = asked.files.into_iter().filter_map(|(worker, pid, file)| {
            let text = read_told(file.as_fd()).inspect_err(|error| {
                log::warn("master", format_args!("pid={pid} sent an invalid report: {error}"));
            });
            Some(Told { worker, pid, text: text.ok()? })
        });
        let told: Vec<Told> = told.collect();
        if client.is_some() {
            return self.answer(client, &ControlReply { told: Some(told), ..ControlReply::ok() });
        }
        self.preload.add(loaded::wanted(&told));
        self.read_again();
    }

    /// Sends incomplete reports of inspections whose timeout has passed.
    pub(super) fn enforce_inspections(&mut self, now: Instant) {
        let late: Vec<Option<Client>> =
            self.inspections.iter().filter(|asked| asked.by <= now).map(|asked| asked.client).collect();
        late.into_iter().for_each(|client| self.answer_inspection(client));
    }

    /// When [`Self::enforce_inspections`] must be called next.
    pub(super) fn inspections_wake(&self) -> Option<Instant> {
        self.inspections.iter().map(|asked| asked.by).min()
    }
}
