//! What processes that have Perl tell about themselves: each writes into a memfd of its own, and a pipe whose other end all of
//! them hold says when the last one has.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::unistd::pipe2;
use wire::control::{Inspection, ToFront, ToMold};
use wire::transport::{in_memory, read_told};

use super::Master;
use super::children::MoldId;
use super::children::peer::Fd;
use super::sockets::control_socket::{Client, ControlReply, Told};
use crate::log;

/// Who is at a request for longer tells nothing.
const PATIENCE: Duration = Duration::from_secs(4);
/// So many workers are asked.
const MOST: usize = 100;

/// Somebody waits for what processes tell.
#[derive(Debug)]
pub struct Asked {
    client: Client,
    /// What each writes into: its place, `None` for the mold, and its process.
    files: Vec<(Option<u32>, i32, Fd)>,
    /// At its end when all have told, or have ended.
    told: OwnedFd,
    by: Instant,
}

impl Master {
    /// `cameleer mem --advise` and the like, by `client`.
    pub(super) fn ask_inspection(&mut self, client: Client, what: Inspection) {
        if let Err(error) = self.inspect(client, what) {
            self.tell(Some(client), &ControlReply::failed(error));
        }
    }

    fn inspect(&mut self, client: Client, what: Inspection) -> io::Result<()> {
        let Some(serving) = self.serving() else { return Err(io::Error::other("the server does not serve now")) };
        let (told, done) = pipe2(OFlag::O_CLOEXEC)?;
        let done = Fd::new(done);
        let mut files = Vec::new();
        let forking = self.generation(serving).and_then(|generation| generation.molds.forking());
        if let Some((refork, pid)) = forking.map(|member| (member.refork, member.mold.pid.as_raw())) {
            let into = Fd::new(in_memory("told", b"")?.into());
            files.push((None, pid, into.clone()));
            let id = MoldId { generation: serving, refork };
            self.mold(id).into_iter().for_each(|mold| {
                mold.peer.send(ToMold::Inspect { what }, vec![into.clone(), done.clone()]);
            });
        }
        for (worker, pid) in self.workers.idle(serving).into_iter().take(MOST) {
            let into = Fd::new(in_memory("told", b"")?.into());
            self.tell_front(ToFront::Inspect { worker, what }, vec![into.clone(), done.clone()]);
            files.push((Some(worker.slot), pid, into));
        }
        self.inspections.push(Asked { client, files, told, by: Instant::now() + PATIENCE });
        Ok(())
    }

    /// Those of which all have told; they are readable.
    pub(super) fn inspections(&self) -> impl Iterator<Item = (Client, BorrowedFd<'_>)> {
        self.inspections.iter().map(|asked| (asked.client, asked.told.as_fd()))
    }

    /// All that were asked for `client` have told.
    pub(super) fn answer_inspection(&mut self, client: Client) {
        let Some(at) = self.inspections.iter().position(|asked| asked.client == client) else { return };
        let asked = self.inspections.swap_remove(at);
        let told = asked.files.into_iter().filter_map(|(worker, pid, file)| {
            let text = read_told(file.as_fd()).inspect_err(|error| {
                log::warn("master", format_args!("pid={pid} tells nonsense: {error}"));
            });
            Some(Told { worker, pid, text: text.ok()? })
        });
        let answer = ControlReply { told: Some(told.collect()), ..ControlReply::ok() };
        self.tell(Some(client), &answer);
    }

    /// Answers those that have waited long enough, with what is there.
    pub(super) fn enforce_inspections(&mut self, now: Instant) {
        let late: Vec<Client> =
            self.inspections.iter().filter(|asked| asked.by <= now).map(|asked| asked.client).collect();
        late.into_iter().for_each(|client| self.answer_inspection(client));
    }

    /// When [`Self::enforce_inspections`] has something to do.
    pub(super) fn inspections_wake(&self) -> Option<Instant> {
        self.inspections.iter().map(|asked| asked.by).min()
    }
}
