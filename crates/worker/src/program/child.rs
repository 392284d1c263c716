//! The process of a CGI program.

use std::io::{self, PipeReader};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::Resource;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, Whence, lseek};

use config::program::ProgramLimits;
use sys::{self, Image, ResourceLimit};

/// Time between SIGTERM and SIGKILL, in ms.
const PATIENCE: u16 = 3000;

/// A program's process. It leads a process group, which is terminated when this value is dropped.
pub struct Child {
    process: Pid,
    handle: OwnedFd,
    pub stdout: Option<PipeReader>,
    pub stderr: Option<PipeReader>,
    has_ended: bool,
}

impl Child {
    /// Executes `file` in its folder, with the environment of the current request and its body.
    pub fn start(file: &Path, arguments: Vec<Vec<u8>>, limits: &ProgramLimits) -> io::Result<Child> {
        Child::start_in(file.parent().unwrap_or(Path::new("/")), file, arguments, limits)
    }

    /// As [`Child::start`], in another folder.
    pub fn start_in(folder: &Path, file: &Path, arguments: Vec<Vec<u8>>, limits: &ProgramLimits) -> io::Result<Child> {
        let image = Image::new(file.as_os_str().as_bytes(), arguments, environment())?;
        // Rewind the body: earlier phases may have read from it.
        lseek(io::stdin().as_fd(), 0, Whence::SeekSet)?;
        let (stdout, its_stdout) = io::pipe()?;
        let (stderr, its_stderr) = io::pipe()?;
        let (process, handle) = sys::start_program(
            &image,
            folder,
            [its_stdout.as_fd(), its_stderr.as_fd()],
            &resource_limits([limits.cpu, limits.memory, limits.processes]),
        )?;
        Ok(Child { process, handle, stdout: Some(stdout), stderr: Some(stderr), has_ended: false })
    }

    /// Wraps a forked process that leads a group.
    pub fn forked(process: Pid, stdout: PipeReader, stderr: PipeReader) -> io::Result<Child> {
        let handle = sys::pidfd_open(process)?;
        Ok(Child { process, handle, stdout: Some(stdout), stderr: Some(stderr), has_ended: false })
    }

    /// Sends a script the deadline signal, on which it reports its position and dies.
    pub fn is_late(&self, request: u64) {
        let _ = sys::pidfd_queue(self.handle.as_fd(), sys::deadline_signal(), request);
    }

    /// A descriptor that is readable when the program has ended.
    pub fn end(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    pub fn has_ended(&mut self) -> bool {
        self.has_ended = self.has_ended || self.reap(Some(WaitPidFlag::WNOHANG));
        self.has_ended
    }

    /// Whether the program has ended. ECHILD counts too: with SIGCHLD ignored, the kernel has reaped it.
    fn reap(&self, how: Option<WaitPidFlag>) -> bool {
        match waitpid(self.process, how) {
            Ok(WaitStatus::Exited(..) | WaitStatus::Signaled(..)) | Err(Errno::ECHILD) => true,
            Ok(_) | Err(_) => false,
        }
    }

    fn kill(&self, signal: Signal) {
        let _ = killpg(self.process, signal);
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
    /// Sends SIGTERM to the group. If the program itself does not end in time, the group gets SIGKILL.
    fn drop(&mut self) {
        (self.stdout, self.stderr) = (None, None);
        self.kill(Signal::SIGTERM);
        if !self.wait(PATIENCE) {
            self.kill(Signal::SIGKILL);
            while !self.reap(None) {}
        }
    }
}

/// `NAME=value` variables of the current request, without the worker's own environment.
pub fn environment() -> Vec<Vec<u8>> {
    let is_possible = |name: &[u8], value: &[u8]| {
        !name.is_empty() && !name.contains(&b'=') && !name.contains(&0) && !value.contains(&0)
    };
    let pairs = apache::cgi_env().into_iter().filter(|(name, value)| is_possible(name, value));
    pairs.map(|(name, value)| [&portable(name)[..], b"=", &value].concat()).collect()
}

/// The name of a variable as httpd passes it to programs: shells know only letters, digits and underscores, and no
/// digit at the begin.
fn portable(mut name: Vec<u8>) -> Vec<u8> {
    for (at, byte) in name.iter_mut().enumerate() {
        let is_known = byte.is_ascii_alphabetic() || at > 0 && byte.is_ascii_digit();
        *byte = if is_known { *byte } else { b'_' };
    }
    name
}

/// `RLimitCPU`, `RLimitMEM` and `RLimitNPROC` as setrlimit(2) takes them.
pub fn resource_limits(limits: [Option<(u64, u64)>; 3]) -> Vec<ResourceLimit> {
    let [cpu, memory, processes] = limits;
    let all = [(Resource::RLIMIT_CPU, cpu), (Resource::RLIMIT_AS, memory), (Resource::RLIMIT_NPROC, processes)];
    all.into_iter().filter_map(|(resource, limit)| limit.map(|(soft, hard)| (resource, soft, hard))).collect()
}
