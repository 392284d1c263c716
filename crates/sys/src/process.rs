//! State of processes, and kernel settings of this one.

use std::ffi::c_int;
use std::io;

use nix::errno::Errno;
use nix::libc;
use nix::sys::prctl;

/// Whether a process is stopped by a signal or a debugger. `false` if it cannot be read.
pub fn is_stopped(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in parentheses may contain anything, so the last parenthesis is used.
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    matches!(state, Some('T' | 't'))
}

/// Time that a process has spent in the run queue since its start; zero if the kernel does not count it.
pub fn run_delay(pid: i32) -> std::time::Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    let nanoseconds = stat.split_whitespace().nth(1).and_then(|word| word.parse().ok());
    std::time::Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// Whether a debugger is attached to a process.
pub fn is_traced(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_some_and(|tracer| tracer.trim() != "0")
}

/// Makes this process traceable by others of the same user, which the kernel forbids after
/// [`crate::privileges::become_user`]: a profiler needs it. Must not be used in the front, because workers of the same
/// user could read other clients' data.
pub fn allow_profiling() -> io::Result<()> {
    Ok(prctl::set_dumpable(true)?)
}

/// Disables preemption by this process when it wakes up: a front that distributes several requests is not
/// interrupted by each worker. Children get the usual policy. See docs/decisions/0003.
pub fn do_not_preempt() -> io::Result<()> {
    let how = libc::SCHED_BATCH | libc::SCHED_RESET_ON_FORK;
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: the call reads one struct that lives during the call; 0 is this process.
    Errno::result(unsafe { libc::sched_setscheduler(0, how, &raw const parameters) })?;
    Ok(())
}

/// Lets the heap retain a few megabytes of freed memory. Otherwise glibc would return the pages of large response
/// buffers to the kernel and fault them in again every few packets. Setting either value disables glibc's own
/// adjustment.
pub fn keep_some_freed_memory() {
    const KEPT: c_int = 4 << 20;
    // SAFETY: the calls take integers. On failure they return 0 and change nothing.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
        libc::mallopt(libc::M_MMAP_THRESHOLD, KEPT / 4);
    }
}
