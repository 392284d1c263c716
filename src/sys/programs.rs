//! How a program of somebody else is started: a CGI program, the program that a log is piped to.

use std::ffi::{CString, c_char};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::{Pid, getpid, setpgid};

use super::roles::die_with;
use super::signals::unblock_signals;
use crate::config::program::ProgramLimits;

/// What a program is started with: its file, its arguments and its environment.
pub struct Image {
    file: CString,
    /// What the lists point into.
    _strings: Vec<CString>,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
}

// SAFETY: the pointers lead into `_strings` and `file`, which nobody changes.
unsafe impl Send for Image {}
// SAFETY: as above.
unsafe impl Sync for Image {}

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

/// Has `command` become the program of `image`: the leader of a process group that dies with us, within these limits. The
/// kernel decides alone whether the file can be executed; the library's way would try a shell.
pub fn become_program(command: &mut Command, image: Image, limits: &ProgramLimits) {
    let worker = getpid();
    let limits = [
        (Resource::RLIMIT_CPU, limits.cpu),
        (Resource::RLIMIT_AS, limits.memory),
        (Resource::RLIMIT_NPROC, limits.processes),
    ];
    let enter = move || {
        setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
        die_with(worker)?;
        unblock_signals()?;
        for (resource, limit) in limits {
            if let Some((soft, hard)) = limit {
                let (_, highest) = getrlimit(resource)?;
                let hard = hard.min(highest);
                setrlimit(resource, soft.min(hard), hard)?;
            }
        }
        Err(image.execute())
    };
    // SAFETY: between fork and exec `enter` only makes async-signal-safe system calls and allocates nothing.
    unsafe { command.pre_exec(enter) };
}

/// Lets `command` start with no signal blocked: ours are, because we read them from a descriptor.
pub fn with_signals_unblocked(command: &mut Command) {
    // SAFETY: one async-signal-safe system call, no allocation.
    unsafe { command.pre_exec(unblock_signals) };
}
