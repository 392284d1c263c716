//! Transfers a program's output into the response and its stderr into the error log. The response is flushed as soon
//! as the program pauses.

use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::child::Child;

const PIECE: usize = 32 * 1024;
/// Interval of checks whether the client is still connected, in ms.
const LOOK: u16 = 1000;

pub enum TransferEnd {
    /// All output was transferred.
    Whole,
    /// The client has disconnected.
    Unheard,
    /// `RequestTimeout` was exceeded.
    TooLate,
    /// The output cannot be read any more.
    Lost(io::Error),
}

/// Source of the notice that `RequestTimeout` has passed.
#[derive(Debug, Clone, Copy)]
pub enum Deadline {
    /// The signal that the master sends to a worker with Perl.
    Signalled,
    /// The clock. `None`: no limit.
    At(Option<Instant>),
}

impl Deadline {
    fn is_over(self) -> bool {
        match self {
            Deadline::Signalled => libperl::is_late(),
            Deadline::At(by) => by.is_some_and(|by| by <= Instant::now()),
        }
    }

    /// Time until the next check, in ms: rounded up, so that the deadline is over then.
    fn wait(self) -> u16 {
        let Deadline::At(Some(by)) = self else { return LOOK };
        let left = by.saturating_duration_since(Instant::now()).as_millis() + 1;
        u16::try_from(left).map_or(LOOK, |left| left.min(LOOK))
    }
}

/// Transfers all output of the program. Returns at its end, on a timeout, on a disconnect, or on a read error.
pub fn all(child: &mut Child, request: u64, deadline: Deadline) -> TransferEnd {
    let mut buffer = vec![0; PIECE];
    let mut has_sent_status = false;
    while child.stdout.is_some() || child.stderr.is_some() || !child.has_ended() {
        let ready = match wait(child, if has_sent_status { 0 } else { deadline.wait() }) {
            Ok(ready) => ready,
            Err(Errno::EINTR) if deadline.is_over() => return TransferEnd::TooLate,
            Err(Errno::EINTR) => continue,
            Err(error) => return TransferEnd::Lost(error.into()),
        };
        if deadline.is_over() {
            return TransferEnd::TooLate;
        }
        if ready == Ready::default() {
            has_sent_status = false;
            apache::flush();
            if apache::is_unheard(request) {
                return TransferEnd::Unheard;
            }
            continue;
        }
        if ready.stderr {
            pass(&mut child.stderr, &mut buffer, apache::log_output);
        }
        if ready.stdout {
            has_sent_status = true;
            pass(&mut child.stdout, &mut buffer, apache::output);
            if apache::is_unheard(request) {
                return TransferEnd::Unheard;
            }
        }
        if ready.end && !ready.stderr {
            child.stderr = None;
        }
    }
    TransferEnd::Whole
}

/// Logs remaining stderr until the stream ends or is silent for `time` ms. Further stdout is discarded.
pub fn last_words(child: &mut Child, time: u16) {
    let mut buffer = vec![0; PIECE];
    child.stdout = None;
    while let Some(stderr) = &child.stderr {
        match poll(&mut [readable(stderr.as_fd())], PollTimeout::from(time)) {
            Ok(0) => return,
            Ok(_) => pass(&mut child.stderr, &mut buffer, apache::log_output),
            Err(Errno::EINTR) => {}
            Err(_) => return,
        }
    }
}

#[derive(PartialEq, Eq, Default)]
struct Ready {
    stdout: bool,
    stderr: bool,
    end: bool,
}

fn wait(child: &Child, time: u16) -> Result<Ready, Errno> {
    let (stdout, stderr) = (child.stdout.as_ref().map(AsFd::as_fd), child.stderr.as_ref().map(AsFd::as_fd));
    // After the program's end, wait only for the streams: other processes may hold them open.
    let (has_stdout, has_stderr) = (stdout.is_some(), stderr.is_some());
    let mut waited: Vec<PollFd<'_>> = stdout.into_iter().chain(stderr).map(readable).collect();
    if !has_stdout || has_stderr {
        waited.push(readable(child.end()));
    }
    poll(&mut waited, PollTimeout::from(time))?;
    let mut is_ready = waited.iter().map(|fd| fd.any().unwrap_or(true));
    let mut next = |is_there: bool| is_there && is_ready.next().unwrap_or(false);
    Ok(Ready { stdout: next(has_stdout), stderr: next(has_stderr), end: next(!has_stdout || has_stderr) })
}

fn readable(stream: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::new(stream, PollFlags::POLLIN)
}

/// Transfers one piece. Sets `stream` to `None` at its end or on an error.
fn pass(stream: &mut Option<impl Read>, buffer: &mut [u8], to: fn(&[u8])) {
    let got = stream.as_mut().map_or(Ok(0), |stream| stream.read(buffer));
    match got {
        Ok(0) => *stream = None,
        Ok(length) => to(&buffer[..length]),
        Err(error) if error.kind() == ErrorKind::Interrupted => {}
        Err(_) => *stream = None,
    }
}
