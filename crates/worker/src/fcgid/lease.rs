//! A worker's lease of a FastCGI program.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use wire::channel::{Channel, pair, send_packet};
use wire::fcgid::{FromManager, ProgramSpec, ToManager};

/// Interval of checks whether the client is still connected, in ms.
const LOOK: u16 = 1000;
/// Maximum number of bytes of a request's path that the status shows.
const MAX_SHOWN_BYTES: usize = 200;

/// A process of a program that serves this worker alone. Dropped without [`Lease::end`], the process ends.
pub struct Lease {
    channel: Channel<ToManager, FromManager>,
    /// The connection to the process.
    pub stream: UnixStream,
    /// Whether the process has answered requests before.
    pub is_used: bool,
    pub pid: i32,
}

/// Why there is no process.
#[derive(Debug)]
pub enum NoLease {
    /// The program cannot be started: the message for the log.
    NotStarted(String),
    /// All processes are busy for too long.
    Busy,
    ClientLeft,
    /// The manager has ended, or a process ended at once.
    Lost(io::Error),
}

impl Lease {
    /// Waits for a process of a program until `by`. With `is_fresh` the process has answered no request before.
    ///
    /// # Errors
    /// See [`NoLease`].
    pub fn wait(
        manager: &OwnedFd,
        request: u64,
        spec: &ProgramSpec,
        is_fresh: bool,
        by: Option<Instant>,
    ) -> Result<Lease, NoLease> {
        let channel = ask(manager, spec, is_fresh, shown(request)).map_err(NoLease::Lost)?;
        loop {
            let mut fds = [PollFd::new(channel.as_fd(), PollFlags::POLLIN)];
            match poll(&mut fds, wait_of(by)) {
                Ok(0) if by.is_some_and(|by| by <= Instant::now()) => return Err(NoLease::Busy),
                Ok(0) if apache::is_unheard(request) => return Err(NoLease::ClientLeft),
                Ok(0) | Err(Errno::EINTR) => continue,
                Ok(_) => break,
                Err(error) => return Err(NoLease::Lost(error.into())),
            }
        }
        match channel.receive().map_err(NoLease::Lost)? {
            None => Err(NoLease::Lost(io::ErrorKind::ConnectionReset.into())),
            Some((FromManager::Failed { error, .. }, _)) => Err(NoLease::NotStarted(error)),
            Some((FromManager::Leased { socket, pid, is_used }, _)) => match UnixStream::connect(socket) {
                Ok(stream) => Self::of(channel, stream, is_used, pid).map_err(NoLease::Lost),
                // The process has ended since its last request, and the manager has not noticed it yet.
                Err(_) if is_used && !is_fresh => Self::wait(manager, request, spec, true, by),
                Err(error) => Err(NoLease::Lost(error)),
            },
        }
    }

    fn of(channel: Channel<ToManager, FromManager>, stream: UnixStream, is_used: bool, pid: i32) -> io::Result<Lease> {
        stream.set_nonblocking(true)?;
        Ok(Lease { channel, stream, is_used, pid })
    }

    /// Gives the process back after a complete response.
    pub fn end(self) {
        let _ = self.channel.send(&ToManager::Done { reusable: true }, &[]);
    }
}

/// The time until the next check, in ms: rounded up, so that the deadline is over then.
pub fn wait_of(by: Option<Instant>) -> PollTimeout {
    let Some(by) = by else { return PollTimeout::from(LOOK) };
    let left = by.saturating_duration_since(Instant::now()).as_millis() + 1;
    PollTimeout::from(u16::try_from(left).map_or(LOOK, |left| left.min(LOOK)))
}

/// Method and path of a request, as the status shows them.
fn shown(request: u64) -> String {
    let path = apache::requested(request).path;
    let path = String::from_utf8_lossy(path.get(..MAX_SHOWN_BYTES).unwrap_or(&path)).into_owned();
    format!("{} {path}", apache::method(request))
}

fn ask(
    manager: &OwnedFd,
    spec: &ProgramSpec,
    is_fresh: bool,
    request: String,
) -> io::Result<Channel<ToManager, FromManager>> {
    let (ours, theirs) = pair()?;
    send_packet(manager.as_fd(), &[io::IoSlice::new(b"L")], &[theirs.as_raw_fd()])?;
    drop(theirs);
    let channel = Channel::new(ours);
    channel.send(&ToManager::Lease { spec: Box::new(spec.clone()), is_fresh, request }, &[])?;
    Ok(channel)
}
