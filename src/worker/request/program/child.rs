//! The process of a program.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{ChildStderr, ChildStdout, Command, Stdio};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, Whence, lseek};

use crate::config::program::ProgramLimits;
use crate::sys::{self, Image};

/// Where a program finds others when nobody has said it.
const PATH: &[u8] = b"/usr/local/bin:/usr/bin:/bin";
/// What the server says of itself to Perl code only.
const OURS: &[u8] = b"MOD_PERL";
/// How long a program may take to end when it is told to, in milliseconds.
const PATIENCE: u16 = 3000;

/// It is the leader of a process group, which ends with it.
pub struct Child {
    process: std::process::Child,
    handle: OwnedFd,
    pub stdout: Option<ChildStdout>,
    pub stderr: Option<ChildStderr>,
    has_ended: bool,
}

impl Child {
    /// Executes `file` in its folder, with the environment of the current request and its body.
    pub fn start(file: &Path, arguments: Vec<Vec<u8>>, limits: &ProgramLimits) -> io::Result<Child> {
        let image = Image::new(file.as_os_str().as_bytes(), arguments, environment())?;
        let mut command = Command::new(file);
        command.current_dir(file.parent().unwrap_or(Path::new("/")));
        // Earlier phases may have read from it.
        lseek(io::stdin().as_fd(), 0, Whence::SeekSet)?;
        command.stdin(Stdio::inherit()).stdout(Stdio::piped()).stderr(Stdio::piped());
        sys::become_program(&mut command, image, limits);
        let mut process = command.spawn()?;
        let handle = sys::pidfd_open(Pid::from_raw(process.id() as i32));
        let (stdout, stderr) = (process.stdout.take(), process.stderr.take());
        match handle {
            Ok(handle) => Ok(Child { process, handle, stdout, stderr, has_ended: false }),
            Err(error) => {
                let _ = process.kill().and_then(|()| process.wait());
                Err(error)
            }
        }
    }

    /// Readable when the program has ended.
    pub fn end(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    pub fn has_ended(&mut self) -> bool {
        // A script may have left SIGCHLD ignored: then nobody is there to wait for.
        self.has_ended = self.has_ended || self.process.try_wait().map_or(true, |status| status.is_some());
        self.has_ended
    }

    fn tell(&self, signal: Signal) {
        let _ = killpg(Pid::from_raw(self.process.id() as i32), signal);
    }

    fn wait(&mut self, time: u16) -> bool {
        if !self.has_ended() {
            let mut end = [PollFd::new(self.handle.as_fd(), PollFlags::POLLIN)];
            let _ = poll(&mut end, PollTimeout::from(time));
        }
        self.has_ended()
    }
}

impl Drop for Child {
    /// Whatever of its group is left is told to end; the program itself, if it does not, is killed.
    fn drop(&mut self) {
        (self.stdout, self.stderr) = (None, None);
        self.tell(Signal::SIGTERM);
        if !self.wait(PATIENCE) {
            self.tell(Signal::SIGKILL);
            let _ = self.process.wait();
        }
    }
}

/// RFC 3875's variables and what the configuration adds; nothing of the worker's own. Later ones replace earlier ones.
fn environment() -> Vec<Vec<u8>> {
    let mut variables: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::from([(b"PATH".to_vec(), PATH.to_vec())]);
    apache::program_env(&mut |name, value| {
        let is_possible = !name.is_empty() && !name.contains(&b'=') && !name.contains(&0) && !value.contains(&0);
        if is_possible && name != OURS {
            variables.insert(name.to_vec(), value.to_vec());
        }
    });
    variables.insert(b"GATEWAY_INTERFACE".to_vec(), b"CGI/1.1".to_vec());
    variables.into_iter().map(|(name, value)| [&name[..], b"=", &value].concat()).collect()
}
