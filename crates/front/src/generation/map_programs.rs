//! Programs of `RewriteMap name prg:…`: each reads a key per line, and answers a line.
//!
//! Each thread has its own processes, which it starts when a rule first needs them. A program that does not answer in
//! time, or sends more than a line, harms only the rule that waits: the program is killed, and started again after a
//! pause.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::base::blocking;
use base::path::Text;

/// Time limit of one lookup, and of the wait for lookups of other requests.
const PATIENCE: Duration = Duration::from_secs(2);
/// Shortest time between two starts of a program.
const PAUSE: Duration = Duration::from_secs(10);
/// Maximum length of an answer in bytes.
const MAX_BYTES: usize = 64 << 10;

/// The programs of one thread and generation.
#[derive(Default)]
pub struct MapPrograms(RefCell<HashMap<String, Rc<Mutex<Program>>>>);

#[derive(Default)]
struct Program {
    running: Option<Running>,
    started: Option<Instant>,
}

struct Running {
    socket: UnixStream,
    /// Killed and reaped when it is dropped.
    _process: Process,
}

struct Process(Option<Child>);

/// A killed process, to be waited for.
struct Killed(Child);

impl MapPrograms {
    /// The value of a key; `Ok(None)`: the program has none. The error is a line for the log.
    pub async fn value(&self, command: &str, key: &str) -> Result<Option<String>, String> {
        let program = self.0.borrow_mut().entry(command.to_owned()).or_default().clone();
        let asked = async { program.lock().await.value(command, key).await };
        match timeout(2 * PATIENCE, asked).await {
            Ok(answer) => answer,
            Err(_) => Err(format!(
                "prg:{command}: the program is too slow for the requests that wait for it; the rule gets no value"
            )),
        }
    }
}

impl Program {
    async fn value(&mut self, command: &str, key: &str) -> Result<Option<String>, String> {
        // A key with a line end would be two keys.
        if key.contains('\n') {
            return Ok(None);
        }
        if self.running.is_none() {
            // The line about the failure was written when the program failed.
            if self.started.is_some_and(|started| started.elapsed() < PAUSE) {
                return Ok(None);
            }
            self.started = Some(Instant::now());
            let running = Running::start(command);
            self.running = Some(running.map_err(|error| format!("prg:{command}: cannot be started: {error}"))?);
        }
        let Some(running) = &mut self.running else { return Ok(None) };
        let answer = match timeout(PATIENCE, running.look_up(key)).await {
            Ok(answer) => answer.map_err(|error| match error.kind() {
                ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof => {
                    "the program has ended".to_owned()
                }
                _ => error.to_string(),
            }),
            Err(_) => Err(format!("no answer within {} s", PATIENCE.as_secs())),
        };
        answer.map_err(|why| {
            self.running = None;
            let pause = PAUSE.as_secs();
            format!("prg:{command}: {why}; the program is killed, its rules get no values, and it is started again within {pause} s")
        })
    }
}

impl Running {
    fn start(command: &str) -> io::Result<Running> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let mut words = command.split_ascii_whitespace();
        let program = words.next().ok_or(ErrorKind::InvalidInput)?;
        let input: OwnedFd = theirs.try_clone()?.into();
        let mut child = Command::new(program);
        child.args(words).stdin(Stdio::from(input)).stdout(Stdio::from(OwnedFd::from(theirs)));
        // A process group of its own, so that the program's children end with the program.
        let process = Process(Some(child.process_group(0).spawn()?));
        Ok(Running { socket: UnixStream::from_std(ours)?, _process: process })
    }

    async fn look_up(&mut self, key: &str) -> io::Result<Option<String>> {
        // Output before the key was sent would be taken for its value.
        if self.socket.try_read(&mut [0]).is_ok_and(|count| count > 0) {
            return Err(io::Error::other("the program wrote more than one line for a key"));
        }
        let mut line = Text::bytes_in(key).to_vec();
        line.push(b'\n');
        self.socket.write_all(&line).await?;
        let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
        while answer.last() != Some(&b'\n') {
            let count = self.socket.read(&mut piece).await?;
            answer.extend_from_slice(piece.get(..count).unwrap_or_default());
            if count == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            if answer.len() > MAX_BYTES {
                return Err(io::Error::other("the program's line is too long"));
            }
        }
        answer.pop();
        if answer.contains(&b'\n') {
            return Err(io::Error::other("the program wrote more than one line for a key"));
        }
        Ok(Some(Text::new(&answer).0).filter(|value| !value.eq_ignore_ascii_case("NULL")))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let Some(child) = self.0.take() else { return };
        // A program that has left its group is not followed.
        let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
        blocking::drop_aside(Killed(child));
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.wait();
    }
}
