//! A process between its two stops: its memory at both, its system calls between them.

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

use machine::memory::{Machine, Sizes};
use sys::{self, SystemCall};

/// As long as a name may be.
const LONGEST_NAME: usize = libc::PATH_MAX as usize;

/// What was seen. Sizes are bytes.
#[derive(Debug, Default, Serialize)]
pub struct Traced {
    /// Pages that no other process has.
    pub private_before: u64,
    pub private_after: u64,
    /// The part of them that belongs to no file: what was computed and allocated.
    pub heap_before: u64,
    pub heap_after: u64,
    pub system_calls: u64,
    /// Those that were opened.
    pub files: BTreeSet<String>,
    /// How often a file was looked for that is not there: each folder before the right one in `@INC`.
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

/// Follows a child that has asked to be traced from its first SIGSTOP to its second, and lets it go. `None` when it ends before that.
pub fn follow(child: Pid) -> anyhow::Result<Option<Traced>> {
    let WaitStatus::Stopped(..) = waitpid(child, None)? else {
        return Ok(None);
    };
    // A program that it becomes is no Perl any more, and ends it.
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

fn sizes(child: Pid) -> anyhow::Result<Sizes> {
    Machine::default().sizes(child.as_raw()).with_context(|| format!("/proc/{child}/smaps_rollup cannot be read"))
}

/// What a system call under way does with a file.
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

/// The text at this address of the process, up to its NUL.
fn text_at(memory: &File, address: u64) -> String {
    let mut bytes = vec![0; LONGEST_NAME];
    let read = memory.read_at(&mut bytes, address).unwrap_or(0);
    bytes.truncate(read);
    let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}
