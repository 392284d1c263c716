//! Traces a process between two stops: its memory at both, and its system calls in between.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;

use anyhow::{Context, bail};
use nix::libc;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use serde::Serialize;

use machine::memory::{Machine, MemorySizes};
use sys::{self, SystemCall};

/// Maximum length of a file name, in bytes.
const MAX_NAME_BYTES: usize = libc::PATH_MAX as usize;

/// Result of the trace. Sizes are in bytes.
#[derive(Debug, Default, Serialize)]
pub struct Traced {
    /// Private memory at the first and the second stop.
    pub private_before: u64,
    pub private_after: u64,
    /// The anonymous part of the private memory.
    pub heap_before: u64,
    pub heap_after: u64,
    pub system_calls: u64,
    /// Files opened.
    pub files: BTreeSet<String>,
    /// Number of failed look-ups of files, such as in folders of `@INC` before the right one.
    pub missed: u64,
}

impl Traced {
    pub fn private(&self) -> i64 {
        self.private_after.cast_signed() - self.private_before.cast_signed()
    }

    pub fn heap(&self) -> i64 {
        self.heap_after.cast_signed() - self.heap_before.cast_signed()
    }
}

/// Traces a child that has called PTRACE_TRACEME from its first SIGSTOP to its second, then detaches. `None`: the child
/// has ended earlier.
pub fn follow(child: Pid) -> anyhow::Result<Option<Traced>> {
    let WaitStatus::Stopped(..) = waitpid(child, None)? else {
        return Ok(None);
    };
    // With PTRACE_O_TRACEEXEC an exec is an event. Otherwise it is a SIGTRAP (ptrace(2)), which would kill the child.
    ptrace::setoptions(
        child,
        Options::PTRACE_O_TRACESYSGOOD | Options::PTRACE_O_EXITKILL | Options::PTRACE_O_TRACEEXEC,
    )?;
    let memory = File::open(format!("/proc/{child}/mem"))?;
    let before = sizes(child)?;
    let mut seen = Traced {
        private_before: before.private,
        heap_before: before.anonymous.saturating_sub(before.shared_anonymous),
        ..Traced::default()
    };
    let mut call = None;
    let mut deliver = None;
    loop {
        ptrace::syscall(child, deliver.take())?;
        match waitpid(child, None)? {
            WaitStatus::PtraceSyscall(_) => seen.note(child, &memory, &mut call)?,
            WaitStatus::Stopped(_, Signal::SIGSTOP) => break,
            WaitStatus::Stopped(_, signal) => deliver = Some(signal),
            WaitStatus::Exited(..) => return Ok(None),
            WaitStatus::Signaled(_, signal, _) => bail!("perl was ended by {signal}"),
            _ => {}
        }
    }
    let after = sizes(child)?;
    seen.private_after = after.private;
    seen.heap_after = after.anonymous.saturating_sub(after.shared_anonymous);
    ptrace::detach(child, None)?;
    Ok(Some(seen))
}

fn sizes(child: Pid) -> anyhow::Result<MemorySizes> {
    Machine::default().sizes(child.as_raw()).with_context(|| format!("/proc/{child}/smaps_rollup cannot be read"))
}

/// Kind of the current system call, if it concerns a file.
enum FileCall {
    Opens(String),
    LooksAt,
}

impl Traced {
    fn note(&mut self, child: Pid, memory: &File, call: &mut Option<FileCall>) -> anyhow::Result<()> {
        match sys::system_call(child)? {
            Some(SystemCall::Entered { number, arguments }) => {
                self.system_calls += 1;
                *call = file_call(number, arguments, memory);
            }
            Some(SystemCall::Left { failed }) => match call.take() {
                Some(_) if failed => self.missed += 1,
                Some(FileCall::Opens(file)) => _ = self.files.insert(file),
                _ => {}
            },
            None => {}
        }
        Ok(())
    }
}

fn file_call(number: i64, arguments: [u64; 6], memory: &File) -> Option<FileCall> {
    match number {
        libc::SYS_openat => Some(FileCall::Opens(text_at(memory, arguments[1]))),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open => Some(FileCall::Opens(text_at(memory, arguments[0]))),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_stat | libc::SYS_lstat | libc::SYS_access => Some(FileCall::LooksAt),
        libc::SYS_newfstatat | libc::SYS_statx | libc::SYS_faccessat => Some(FileCall::LooksAt),
        _ => None,
    }
}

/// The text at an address of the process, up to its NUL.
fn text_at(memory: &File, address: u64) -> String {
    let mut bytes = vec![0; MAX_NAME_BYTES];
    let read = memory.read_at(&mut bytes, address).unwrap_or(0);
    bytes.truncate(read);
    let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}
