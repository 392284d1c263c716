//! System calls of a traced process.

use std::io;

use nix::libc;
use nix::sys::ptrace::syscall_info;
use nix::unistd::Pid;

/// Stop of a traced process at a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemCall {
    /// The process is about to enter the system call.
    Entered {
        /// Number of the system call, such as `SYS_openat`.
        number: i64,
        /// Arguments in registers, some of which are addresses in the process.
        arguments: [u64; 6],
    },
    /// The process has returned from the system call.
    Left {
        /// Whether the system call failed.
        failed: bool,
    },
}

/// The system call at which a process stopped. `None` if it stopped for another reason.
pub fn system_call(pid: Pid) -> io::Result<Option<SystemCall>> {
    let info = syscall_info(pid)?;
    Ok(match info.op {
        libc::PTRACE_SYSCALL_INFO_ENTRY => {
            // SAFETY: `op` determines the valid member of the union.
            let entry = unsafe { info.u.entry };
            Some(SystemCall::Entered { number: entry.nr.cast_signed(), arguments: entry.args })
        }
        // SAFETY: `op` determines the valid member of the union.
        libc::PTRACE_SYSCALL_INFO_EXIT => Some(SystemCall::Left { failed: unsafe { info.u.exit }.is_error != 0 }),
        _ => None,
    })
}
