//! What processes of the server's own pool tell about themselves: each writes into a memfd of its own, and a pipe whose other end all of
//! them hold says when the last one has.

use std::cmp::Reverse;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::unistd::pipe2;
use wire::control::{Inspection, LateCode, PoolId, ToFront, ToMold};
use wire::transport::{in_memory, read_told};

use super::children::MoldId;
use super::children::peer::Fd;
use super::pool::workers::Idle;
use super::sockets::control_socket::{Client, ControlReply, Told};
use super::{Master, loaded};
use base::log;

/// Who is at a request for longer tells nothing.
const PATIENCE: Duration = Duration::from_secs(4);
/// For what a child of the worker looks for.
const PATIENCE_OF_BLAME: Duration = Duration::from_secs(20);
/// For what has to be loaded first; longer than the mold's child takes for it.
const PATIENCE_OF_SCALES: Duration = Duration::from_secs(60);
/// So many workers are asked.
const MOST: usize = 100;
/// Those with most private memory, because each has a child for it that takes memory of its own.
const MOST_BLAMED: usize = 4;

/// Its place, `None` for who is no worker; its process; what it writes into.
type Teller = (Option<u32>, i32, Fd);

/// Somebody waits for what processes tell.
#[derive(Debug)]
pub struct Asked {
    /// `None`: a reload, for what its mold should load.
    client: Option<Client>,
    files: Vec<Teller>,
    /// At its end when all have told, or have ended.
    told: OwnedFd,
    by: Instant,
}

impl Asked {
    /// Of one process that is no worker.
    pub(super) fn of(client: Client, pid: i32, into: Fd, told: OwnedFd, by: Instant) -> Asked {
        Asked { client: Some(client), files: vec![(None, pid, into)], told, by }
    }
}

impl Master {
    /// `cameleer mem --advise` and the like, by `client`.
    pub(super) fn ask_inspection(&mut self, client: Client, what: Inspection) {
        if let Err(error) = self.inspect(Some(client), what) {
            self.tell(Some(client), &ControlReply::failed(error));
        }
    }

    /// The answer is `client`'s, or goes into [`Self::read_again`].
    pub(super) fn inspect(&mut self, client: Option<Client>, what: Inspection) -> io::Result<()> {
        let Some(serving) = self.serving_pool() else { return Err(io::Error::other("the server does not serve now")) };
        let (told, done) = pipe2(OFlag::O_CLOEXEC)?;
        let done = Fd::new(done);
        let mut files = Vec::new();
        let mut asked = self.workers.idle(serving);
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
        let asked: io::Result<Vec<Teller>> =
            asked.into_iter().map(|worker| self.ask_worker(worker, what, &done)).collect();
        files.extend(asked?);
        self.inspections.push(Asked { client, files, told, by: Instant::now() + patience });
        Ok(())
    }

    fn ask_worker(&mut self, worker: Idle, what: Inspection, done: &Fd) -> io::Result<Teller> {
        let Idle { id, pid, mold, .. } = worker;
        let into = Fd::new(in_memory("told", b"")?.into());
        let mut fds = vec![into.clone(), done.clone()];
        if what == Inspection::Blame {
            fds.extend(self.memory_of(pid, mold)?);
        }
        self.tell_front(ToFront::Inspect { worker: id, what }, fds);
        Ok((Some(id.slot), pid, into))
    }

    /// What [`Inspection::Blame`] takes; a worker that has changed its user may not open these.
    fn memory_of(&mut self, pid: i32, mold: MoldId) -> io::Result<[Fd; 3]> {
        let mold = self.mold(mold).ok_or_else(|| io::Error::other("the mold of a worker has ended"))?.pid;
        let open = |path: String| match File::open(&path) {
            Ok(file) => Ok(Fd::new(file.into())),
            Err(error) => Err(io::Error::other(format!("cannot look into {path}: {error}"))),
        };
        Ok([
            open(format!("/proc/{pid}/pagemap"))?,
            open(format!("/proc/{pid}/mem"))?,
            open(format!("/proc/{mold}/mem"))?,
        ])
    }

    /// What code would cost workers that load it, by `client`.
    pub(super) fn ask_weigh(&mut self, client: Client, code: LateCode) {
        if let Err(error) = self.weigh(client, code) {
            self.tell(Some(client), &ControlReply::failed(error));
        }
    }

    fn weigh(&mut self, client: Client, code: LateCode) -> io::Result<()> {
        let Some(serving) = self.serving_pool() else { return Err(io::Error::other("the server does not serve now")) };
        let (told, done) = pipe2(OFlag::O_CLOEXEC)?;
        let files = self.ask_mold(serving, ToMold::Weigh { code }, &Fd::new(done))?;
        let by = Instant::now() + PATIENCE_OF_SCALES;
        self.inspections.push(Asked { client: Some(client), files: files.into_iter().collect(), told, by });
        Ok(())
    }

    /// Asks the mold that forks now, if there is one. What it writes into.
    fn ask_mold(&mut self, serving: PoolId, order: ToMold, done: &Fd) -> io::Result<Option<Teller>> {
        let forking = self.mold_pool(serving).and_then(|pool| pool.molds.forking());
        let Some((refork, pid)) = forking.map(|member| (member.refork, member.mold.pid.as_raw())) else {
            return Ok(None);
        };
        let into = Fd::new(in_memory("told", b"")?.into());
        if let Some(mold) = self.mold(MoldId { pool: serving, refork }) {
            mold.peer.send(order, vec![into.clone(), done.clone()]);
        }
        Ok(Some((None, pid, into)))
    }

    /// Those of which all have told; they are readable.
    pub(super) fn inspections(&self) -> impl Iterator<Item = (Option<Client>, BorrowedFd<'_>)> {
        self.inspections.iter().map(|asked| (asked.client, asked.told.as_fd()))
    }

    /// All that were asked for `client` have told.
    pub(super) fn answer_inspection(&mut self, client: Option<Client>) {
        let Some(at) = self.inspections.iter().position(|asked| asked.client == client) else { return };
        let asked = self.inspections.swap_remove(at);
        let told = asked.files.into_iter().filter_map(|(worker, pid, file)| {
            let text = read_told(file.as_fd()).inspect_err(|error| {
                log::warn("master", format_args!("pid={pid} tells nonsense: {error}"));
            });
            Some(Told { worker, pid, text: text.ok()? })
        });
        let told: Vec<Told> = told.collect();
        if client.is_some() {
            return self.tell(client, &ControlReply { told: Some(told), ..ControlReply::ok() });
        }
        self.preload.add(loaded::wanted(&told));
        self.read_again();
    }

    /// Answers those that have waited long enough, with what is there.
    pub(super) fn enforce_inspections(&mut self, now: Instant) {
        let late: Vec<Option<Client>> =
            self.inspections.iter().filter(|asked| asked.by <= now).map(|asked| asked.client).collect();
        late.into_iter().for_each(|client| self.answer_inspection(client));
    }

    /// When [`Self::enforce_inspections`] has something to do.
    pub(super) fn inspections_wake(&self) -> Option<Instant> {
        self.inspections.iter().map(|asked| asked.by).min()
    }
}
