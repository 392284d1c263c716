//! What a process that we trace asks of the kernel.

use std::io;

use nix::libc;
use nix::sys::ptrace::syscall_info;
use nix::unistd::Pid;

/// Where a traced process stopped at a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemCall {
    /// Before the kernel did anything.
    Entered {
        /// `SYS_openat` and the like.
        number: i64,
        /// As they are in its registers; some mean addresses of its memory.
        arguments: [u64; 6],
    },
    /// After it.
    Left {
        /// With an errno.
        failed: bool,
    },
}

/// The system call that a stopped process is at; `None` when it stopped for another reason.
pub fn system_call(pid: Pid) -> io::Result<Option<SystemCall>> {
    let info = syscall_info(pid)?;
    Ok(match info.op {
        libc::PTRACE_SYSCALL_INFO_ENTRY => {
            // SAFETY: `op` says which part of the union the kernel has filled.
            let entry = unsafe { info.u.entry };
            Some(SystemCall::Entered { number: entry.nr.cast_signed(), arguments: entry.args })
        }
        // SAFETY: as above.
        libc::PTRACE_SYSCALL_INFO_EXIT => Some(SystemCall::Left { failed: unsafe { info.u.exit }.is_error != 0 }),
        _ => None,
    })
}
