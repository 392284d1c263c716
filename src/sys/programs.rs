//! How a program of somebody else is started: a CGI program, the program that a log is piped to.

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
use crate::config::program::{Limit, ProgramLimits};

/// What the new process needs until it executes the program: it calls the system a hundred times, and no more.
const STACK: usize = 64 * 1024;

/// What a program is started with: its file, its arguments and its environment.
pub struct Image {
    file: CString,
    /// What the lists point into.
    _strings: Vec<CString>,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
}

impl Image {
    /// `environment` has lines like `NAME=value`. None of these may contain NUL.
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

    /// Returns only when it fails.
    fn execute(&self) -> io::Error {
        // SAFETY: a terminated name and two terminated lists of terminated strings, all of which `self` holds.
        unsafe { libc::execve(self.file.as_ptr(), self.arguments.as_ptr(), self.environment.as_ptr()) };
        io::Error::last_os_error()
    }
}

/// What the new process reads, in the memory that it has in common with this one until it executes the program.
struct Start<'a> {
    image: &'a Image,
    folder: CString,
    /// Its standard output and its standard error.
    output: [RawFd; 2],
    limits: [(Resource, Option<Limit>); 3],
    parent: Pid,
    /// Why the program was not executed: an errno, or 0.
    error: i32,
}

/// Starts the program in a folder, with our standard input: the leader of a process group that dies with us, within these
/// limits. The kernel decides alone whether the file can be executed; the library's way would try a shell. Returns its
/// process, and a descriptor that is readable when that has ended.
///
/// As with posix_spawn no memory of this process is copied, so that a start costs the same whatever Perl has loaded here.
pub fn start_program(
    image: &Image,
    folder: &Path,
    output: [BorrowedFd<'_>; 2],
    limits: &ProgramLimits,
) -> io::Result<(Pid, OwnedFd)> {
    let mut start = Start {
        image,
        folder: CString::new(folder.as_os_str().as_bytes())?,
        output: output.map(|stream| stream.as_raw_fd()),
        limits: [
            (Resource::RLIMIT_CPU, limits.cpu),
            (Resource::RLIMIT_AS, limits.memory),
            (Resource::RLIMIT_NPROC, limits.processes),
        ],
        parent: getpid(),
        error: 0,
    };
    // A handler of ours that ran in the new process would change this one's memory.
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

/// Begins a process that runs [`enter`] in our memory while this one waits, and has left it when this returns.
fn share_memory(start: &mut Start<'_>) -> io::Result<(Pid, OwnedFd)> {
    let mut stack = vec![0_u128; STACK / size_of::<u128>()];
    let mut handle: RawFd = -1;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::CLONE_PIDFD | libc::SIGCHLD;
    let top = stack.as_mut_ptr_range().end.cast::<c_void>();
    // SAFETY: CLONE_VFORK keeps this thread here until the new process has left our memory, so `stack` and `start` live as
    // long as it uses them; the stack grows down from its end, which is aligned to 16.
    let process = unsafe { libc::clone(enter, top, flags, (&raw mut *start).cast(), &raw mut handle) };
    let process = Pid::from_raw(Errno::result(process)?);
    // SAFETY: the kernel made it for us, by CLONE_PIDFD.
    Ok((process, unsafe { OwnedFd::from_raw_fd(handle) }))
}

/// The new process: system calls only, nothing is allocated. What it returns is its exit status.
extern "C" fn enter(start: *mut c_void) -> c_int {
    // SAFETY: [`share_memory`] has passed it, and waits.
    let start = unsafe { &mut *start.cast::<Start<'_>>() };
    let error = start.become_program().err().unwrap_or_else(|| start.image.execute());
    start.error = error.raw_os_error().unwrap_or(libc::EIO);
    127
}

/// In a fork of `parent` that is to be like a program: the leader of a process group that dies with it, with these as standard
/// output and standard error.
pub fn lead_group(parent: Pid, output: [RawFd; 2]) -> io::Result<()> {
    setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
    die_with(parent)?;
    output.into_iter().zip([libc::STDOUT_FILENO, libc::STDERR_FILENO]).try_for_each(|(fd, place)| replace(fd, place))
}

impl Start<'_> {
    fn become_program(&self) -> io::Result<()> {
        lead_group(self.parent, self.output)?;
        chdir(self.folder.as_c_str())?;
        for (resource, limit) in self.limits {
            if let Some((soft, hard)) = limit {
                let (_, highest) = getrlimit(resource)?;
                let hard = hard.min(highest);
                setrlimit(resource, soft.min(hard), hard)?;
            }
        }
        // What is ignored would stay so in the program; two cannot be changed.
        Signal::iterator().for_each(|signal| drop(dispose(signal, SigHandler::SigDfl)));
        unblock_signals()
    }
}

/// Lets `command` start with no signal blocked: ours are, because we read them from a descriptor.
pub fn with_signals_unblocked(command: &mut Command) {
    // SAFETY: one async-signal-safe system call, no allocation.
    unsafe { command.pre_exec(unblock_signals) };
}
