//! A trial: a child of the mold loads code, and reports about each piece. The child is killed at the end, so that
//! nothing of it remains.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Instant;

use libperl::Interpreter;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};

use super::{MAX_LOAD, Piece};
use wire::transport::in_memory;

/// The first byte of a line from the child: a piece begins.
const BEGINS: u8 = b'b';
/// The piece is safe.
const SAFE: u8 = b's';
/// The piece has died and left nothing behind; the reason follows.
const DIED: u8 = b'd';
/// The piece is not safe; the reason follows.
const UNSAFE: u8 = b'e';
/// The piece of this number, which had died, was loaded by a later one.
const LOADED: u8 = b'l';
/// Some piece has read `$$`.
const READS_PID: u8 = b'p';
/// All pieces were tried.
const DONE: u8 = b'.';

/// What a trial shows of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PieceVerdict {
    Safe,
    /// Without any other effect.
    Died(String),
    /// It died, and a later piece has loaded it.
    Brought,
    Unsafe(String),
}

/// Facts that one child of the mold has found.
#[derive(Debug, PartialEq, Eq)]
pub struct Trial {
    /// In the order of the pieces; none for those that were not reached. An unsafe piece ends a trial of effects,
    /// because the effects of later ones could be its own.
    pub verdicts: Vec<PieceVerdict>,
    /// Whether some piece has read `$$`, and may have stored it.
    pub reads_pid: bool,
    /// Whether all pieces were tried.
    pub is_complete: bool,
    /// Whether the time of all trials is over.
    pub is_late: bool,
}

/// What a trial is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialKind {
    /// Which pieces fail, or change the process.
    Effects,
    /// Which pieces store the process id. `$$` is a number that is found in memory; code could notice that, so nothing
    /// else is asked.
    StoredPids,
}

/// Tries the pieces.
pub fn of(perl: &Interpreter, pieces: &[Piece], kind: TrialKind, until: Instant) -> io::Result<Trial> {
    perl.require_module("Cameleer::Preload").map_err(|error| io::Error::other(error.to_string()))?;
    let (reader, writer) = io::pipe()?;
    let mold = getpid();
    let Some(child) = sys::fork()? else {
        drop(reader);
        if in_child(mold).is_ok() {
            let mut child = Child { perl, lines: File::from(OwnedFd::from(writer)), own: getpid() };
            match kind {
                TrialKind::Effects => child.find_effects(pieces),
                TrialKind::StoredPids => child.find_pids(pieces),
            }
        }
        sys::exit_now(0)
    };
    drop(writer);
    let watched = watch(child, File::from(OwnedFd::from(reader)), until);
    // Processes that the code has started are in the group, too.
    let _ = killpg(child, Signal::SIGKILL);
    // The child may not lead the group yet.
    let _ = kill(child, Signal::SIGKILL);
    let end = waitpid(child, None);
    match watched? {
        Watched::Ended(text) => Ok(read(&text, Some(&how(end)))),
        Watched::Hangs(text) => Ok(read(&text, Some(&format!("takes longer than {} s", MAX_LOAD.as_secs())))),
        Watched::Late(text) => Ok(read(&text, None)),
    }
}

/// Makes the child leader of a process group that dies with the mold. Its output goes to memory, where it is seen;
/// warnings go nowhere, since the mold's own loading prints the same.
fn in_child(mold: Pid) -> io::Result<()> {
    let output = in_memory("output", b"")?;
    let nowhere = File::options().write(true).open("/dev/null")?;
    sys::lead_group(mold, [output.as_raw_fd(), nowhere.as_raw_fd()])
}

struct Child<'a> {
    perl: &'a Interpreter,
    lines: File,
    own: Pid,
}

impl Child<'_> {
    fn find_effects(&mut self, pieces: &[Piece]) {
        if self.perl.call(c"Cameleer::Preload::begin_trial", None).is_err() {
            return;
        }
        let mut died = Vec::new();
        for (number, piece) in pieces.iter().enumerate() {
            self.send(BEGINS, "");
            let answer = self.ask(c"Cameleer::Preload::try_out", &piece.fields().join("\0"));
            match answer.split_at_checked(1) {
                None => self.send(SAFE, ""),
                Some(("d", why)) => {
                    died.push((number, piece));
                    self.send(DIED, why);
                }
                Some((_, why)) => {
                    self.send(UNSAFE, why);
                    return;
                }
            }
        }
        for (number, piece) in died {
            if piece.kind == "module" && !self.ask(c"Cameleer::Preload::is_loaded", &piece.name).is_empty() {
                self.send(LOADED, &number.to_string());
            }
        }
        if !self.ask(c"Cameleer::Preload::reads_pid", "").is_empty() {
            self.send(READS_PID, "");
        }
        self.send(DONE, "");
    }

    fn find_pids(&mut self, pieces: &[Piece]) {
        if self.perl.call(c"Cameleer::Preload::pretend_pid", None).is_err() {
            return;
        }
        for piece in pieces {
            self.send(BEGINS, "");
            self.ask(c"Cameleer::Preload::try_out", &piece.fields().join("\0"));
            match self.ask(c"Cameleer::Preload::stores_pid", "").is_empty() {
                true => self.send(SAFE, ""),
                false => self.send(UNSAFE, "stores its process id"),
            }
        }
        self.send(DONE, "");
    }

    /// Calls Perl. A process that the code has forked ends here: only the child itself reports.
    fn ask(&self, sub: &'static CStr, argument: &str) -> String {
        let answer = self.perl.call_for_text(sub, argument);
        if getpid() != self.own {
            sys::exit_now(0);
        }
        answer.unwrap_or_else(|error| format!("efails: {error}"))
    }

    fn send(&mut self, kind: u8, text: &str) {
        let mut line = vec![kind];
        line.extend(text.bytes().map(|byte| if byte == b'\n' { b' ' } else { byte }));
        line.push(b'\n');
        let _ = self.lines.write_all(&line);
    }
}

enum Watched {
    /// The child has ended, or has tried all.
    Ended(Vec<u8>),
    /// The child was still at work on a piece.
    Hangs(Vec<u8>),
    /// The time of all trials is over.
    Late(Vec<u8>),
}

/// Reads what the child sends, until it ends or takes too long.
fn watch(child: Pid, mut lines: File, until: Instant) -> io::Result<Watched> {
    let handle = sys::pidfd_open(child)?;
    let mut text = Vec::new();
    loop {
        let now = Instant::now();
        let by = until.min(now + MAX_LOAD);
        let left = u16::try_from(by.saturating_duration_since(now).as_millis() + 1).unwrap_or(u16::MAX);
        let mut fds = [lines.as_fd(), handle.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        let ready = match poll(&mut fds, left) {
            Err(Errno::EINTR) => continue,
            ready => ready?,
        };
        let [readable, _] = fds.map(|fd| fd.any().unwrap_or(true));
        let mut part = [0; 4096];
        // A process that the code has started may hold the pipe open, so the child's end counts, too.
        match (ready, readable) {
            (0, _) if Instant::now() >= until => return Ok(Watched::Late(text)),
            (0, _) => return Ok(Watched::Hangs(text)),
            (_, false) => return Ok(Watched::Ended(text)),
            (_, true) => match lines.read(&mut part)? {
                0 => return Ok(Watched::Ended(text)),
                count => text.extend_from_slice(part.get(..count).unwrap_or_default()),
            },
        }
        if text.ends_with(&[b'\n', DONE, b'\n']) {
            return Ok(Watched::Ended(text));
        }
    }
}

/// The lines of the child. `how` it ended is the reason against the piece that it was at work on; `None`: it was killed
/// because the time is over, which is no reason.
fn read(text: &[u8], how: Option<&str>) -> Trial {
    let mut trial = Trial { verdicts: Vec::new(), reads_pid: false, is_complete: false, is_late: how.is_none() };
    let mut has_begun = false;
    for line in text.split(|byte| *byte == b'\n') {
        let Some((kind, rest)) = line.split_first() else { continue };
        let rest = String::from_utf8_lossy(rest).into_owned();
        match *kind {
            SAFE => trial.verdicts.push(PieceVerdict::Safe),
            DIED => trial.verdicts.push(PieceVerdict::Died(rest)),
            UNSAFE => trial.verdicts.push(PieceVerdict::Unsafe(rest)),
            LOADED => {
                let known = rest.parse().ok().and_then(|at: usize| trial.verdicts.get_mut(at));
                known.into_iter().for_each(|verdict| *verdict = PieceVerdict::Brought);
            }
            READS_PID => trial.reads_pid = true,
            DONE => trial.is_complete = true,
            _ => {}
        }
        has_begun = *kind == BEGINS;
    }
    if let Some(how) = how.filter(|_| has_begun) {
        trial.verdicts.push(PieceVerdict::Unsafe(how.to_owned()));
    }
    trial
}

fn how(end: nix::Result<WaitStatus>) -> String {
    match end {
        Ok(WaitStatus::Exited(_, status)) => format!("ends its process with status {status}"),
        Ok(WaitStatus::Signaled(_, signal, _)) => format!("ends its process by {signal}"),
        _ => "ends its process".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_piece_has_the_verdict_that_the_child_reached() {
        let trial = read(b"b\ns\nb\ndfails: no\nb\neopens x\nb\ndtwo\nl3\np\n.\n", Some("?"));
        let verdicts = vec![
            PieceVerdict::Safe,
            PieceVerdict::Died("fails: no".to_owned()),
            PieceVerdict::Unsafe("opens x".to_owned()),
            PieceVerdict::Brought,
        ];
        assert_eq!(trial, Trial { verdicts, reads_pid: true, is_complete: true, is_late: false });
    }

    #[test]
    fn the_piece_at_which_the_child_ended_is_not_safe_and_later_ones_have_no_verdict() {
        let trial = read(b"b\ns\nb\n", Some("ends its process with status 3"));
        let ends = PieceVerdict::Unsafe("ends its process with status 3".to_owned());
        let verdicts = vec![PieceVerdict::Safe, ends];
        assert_eq!(trial, Trial { verdicts, reads_pid: false, is_complete: false, is_late: false });
    }

    #[test]
    fn the_end_of_the_time_is_no_reason_against_a_piece() {
        for text in [b"b\ns\nb\n".as_slice(), b"b\ns\nb", b"b\ns\n"] {
            let verdicts = vec![PieceVerdict::Safe];
            assert_eq!(read(text, None), Trial { verdicts, reads_pid: false, is_complete: false, is_late: true });
        }
    }
}
