//! What the kernel knows of a process, and how it treats this one.

use std::ffi::c_int;
use std::io;

use nix::errno::Errno;
use nix::libc;
use nix::sys::prctl;

/// Whether a process is stopped, by a signal or by a debugger. One that cannot be seen is not.
pub fn is_stopped(pid: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in parentheses may hold anything, so look from its end.
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    matches!(state, Some('T' | 't'))
}

/// For how long a process has waited for a processor since its start; nothing where the kernel does not count that.
pub fn run_delay(pid: i32) -> std::time::Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    let nanoseconds = stat.split_whitespace().nth(1).and_then(|word| word.parse().ok());
    std::time::Duration::from_nanos(nanoseconds.unwrap_or(0))
}

/// Whether a debugger holds a process.
pub fn is_traced(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_some_and(|tracer| tracer.trim() != "0")
}

/// Lets others of the same user look into this process, which the kernel forbids when [`crate::privileges::drop`] changed it: a
/// profiler needs that. Not for the front: a worker is of the same user, and must not see other workers' clients.
pub fn allow_profiling() -> io::Result<()> {
    Ok(prctl::set_dumpable(true)?)
}

/// From now on, being woken does not take the processor from whoever wakes this process: a front that hands out several
/// requests does so without being interrupted by each. What it starts runs as usual. See docs/decisions/0003.
pub fn do_not_preempt() -> io::Result<()> {
    let how = libc::SCHED_BATCH | libc::SCHED_RESET_ON_FORK;
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: reads one struct that lives during the call; 0 is this process.
    Errno::result(unsafe { libc::sched_setscheduler(0, how, &raw const parameters) })?;
    Ok(())
}

/// Lets the heap keep a little of what was freed. Large answers pass through buffers that come and go, and glibc would give
/// their pages back to the kernel and fault them in anew every few packets; to set one of the two ends its own guessing.
pub fn keep_some_freed_memory() {
    const KEPT: c_int = 4 << 20;
    // SAFETY: the calls take integers; they fail by returning 0, and then all stays as it was.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
        libc::mallopt(libc::M_MMAP_THRESHOLD, KEPT / 4);
    }
}
