//! Start of other programs: CGI programs, and programs of piped logs.

use std::ffi::{CString, c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use nix::errno::Errno;
use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigHandler, SigSet, SigmaskHow, Signal};
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, chdir, getpid, setpgid};

use super::descriptors::replace;
use super::roles::die_with;
use super::signals::{dispose, unblock_signals};

/// Stack of the new process until it executes the program, for about a hundred system calls.
const STACK: usize = 64 * 1024;

/// File, arguments and environment of a program.
pub struct Image {
    file: CString,
    /// Strings to which the lists point.
    _strings: Vec<CString>,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
}

impl Image {
    /// Prepares a program. `environment` has lines like `NAME=value`. No value may contain NUL.
    pub fn new(file: &[u8], arguments: Vec<Vec<u8>>, environment: Vec<Vec<u8>>) -> io::Result<Image> {
        let count = arguments.len();
        let strings = arguments.into_iter().chain(environment).map(CString::new).collect::<Result<Vec<_>, _>>()?;
        let file = CString::new(file)?;
        let (arguments, environment) = strings.split_at(count);
        let list = |first: Option<&CString>, rest: &[CString]| {
            let all = first.into_iter().chain(rest).map(|text| text.as_ptr());
            all.chain([std::ptr::null()]).collect::<Vec<_>>()
        };
        let (arguments, environment) = (list(Some(&file), arguments), list(None, environment));
        Ok(Image { file, _strings: strings, arguments, environment })
    }

    /// Executes the program; returns only on failure.
    fn execute(&self) -> io::Error {
        // SAFETY: a terminated name and two terminated lists of terminated strings, all of which `self` holds.
        unsafe { libc::execve(self.file.as_ptr(), self.arguments.as_ptr(), self.environment.as_ptr()) };
        io::Error::last_os_error()
    }
}

/// A limit of setrlimit(2): the resource, its soft and its hard limit.
pub type ResourceLimit = (Resource, u64, u64);

/// Input of the new process, in the memory that it shares with this one until it executes the program.
struct Start<'a> {
    image: &'a Image,
    folder: CString,
    /// Standard output and standard error.
    output: [RawFd; 2],
    limits: &'a [ResourceLimit],
    parent: Pid,
    /// Error number if the program could not be executed, or 0.
    error: i32,
}

/// Starts a program in a folder, with our standard input, as leader of a process group that ends with this process,
/// within limits. Only the kernel decides whether the file is executable, while the C library would try a shell.
/// Returns the process id, and a descriptor that becomes readable at its end.
///
/// As with posix_spawn no memory is copied, so that a start does not depend on the size of this process.
pub fn start_program(
    image: &Image,
    folder: &Path,
    output: [BorrowedFd<'_>; 2],
    limits: &[ResourceLimit],
) -> io::Result<(Pid, OwnedFd)> {
    let mut start = Start {
        image,
        folder: CString::new(folder.as_os_str().as_bytes())?,
        output: output.map(|stream| stream.as_raw_fd()),
        limits,
        parent: getpid(),
        error: 0,
    };
    // A signal handler that ran in the new process would change the memory of this one.
    let ours = SigSet::all().thread_swap_mask(SigmaskHow::SIG_SETMASK)?;
    let begun = share_memory(&mut start);
    ours.thread_set_mask()?;
    let (process, handle) = begun?;
    if start.error == 0 {
        return Ok((process, handle));
    }
    let _ = waitpid(process, None);
    Err(io::Error::from_raw_os_error(start.error))
}

/// Creates a process that runs [`enter`] in our memory while this thread waits, and has left it on return.
fn share_memory(start: &mut Start<'_>) -> io::Result<(Pid, OwnedFd)> {
    let mut stack = vec![0_u128; STACK / size_of::<u128>()];
    let mut handle: RawFd = -1;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
    let top = stack.as_mut_ptr_range().end.cast::<c_void>();
    // SAFETY: CLONE_VFORK blocks this thread until the new process has left our memory, so `stack` and `start` live
    // long enough. The stack grows down from its end, which is aligned to 16.
    let process = unsafe { libc::clone(enter, top, flags, (&raw mut *start).cast(), &raw mut handle) };
    let process = Pid::from_raw(Errno::result(process)?);
    // SAFETY: the kernel created the descriptor for the caller, by CLONE_PIDFD.
    Ok((process, unsafe { OwnedFd::from_raw_fd(handle) }))
}

/// Code of the new process: system calls only, without allocation. The return value is its exit status.
extern "C" fn enter(start: *mut c_void) -> c_int {
    // SAFETY: [`share_memory`] passed the pointer, and waits.
    let start = unsafe { &mut *start.cast::<Start<'_>>() };
    let error = start.become_program().err().unwrap_or_else(|| start.image.execute());
    start.error = error.raw_os_error().unwrap_or(libc::EIO);
    127
}

/// Prepares a fork of `parent` to act as a program: leader of a process group that ends with `parent`, with these
/// descriptors as standard output and standard error.
pub fn lead_group(parent: Pid, output: [RawFd; 2]) -> io::Result<()> {
    setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
    die_with(parent)?;
    output.into_iter().zip([libc::STDOUT_FILENO, libc::STDERR_FILENO]).try_for_each(|(fd, place)| replace(fd, place))
}

impl Start<'_> {
    fn become_program(&self) -> io::Result<()> {
        lead_group(self.parent, self.output)?;
        chdir(self.folder.as_c_str())?;
        for &(resource, soft, hard) in self.limits {
            let (_, highest) = getrlimit(resource)?;
            let hard = hard.min(highest);
            setrlimit(resource, soft.min(hard), hard)?;
        }
        // Ignored signals would stay ignored in the program. SIGKILL and SIGSTOP cannot be changed.
        Signal::iterator().for_each(|signal| drop(dispose(signal, SigHandler::SigDfl)));
        unblock_signals()
    }
}

/// Lets `command` start with no signal blocked. The server's own signals are blocked, because they are read from a
/// descriptor.
pub fn with_signals_unblocked(command: &mut Command) {
    // SAFETY: one async-signal-safe system call, no allocation.
    unsafe { command.pre_exec(unblock_signals) };
}
