//! Other processes, observed through /proc.

use std::ffi::CStr;
use std::fs;
use std::path::Path;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Sends `signal` to `pid`.
#[track_caller]
pub fn signal(pid: i32, signal: Signal) {
    kill(Pid::from_raw(pid), signal).expect("the process is there to be signalled");
}

/// Whether `pid` runs. A zombie does not.
pub fn alive(pid: i32) -> bool {
    stat(pid).is_some_and(|(state, _)| state != 'Z' && state != 'X')
}

/// The state letter in /proc, such as `T` for stopped.
pub fn state(pid: i32) -> Option<char> {
    stat(pid).map(|(state, _)| state)
}

/// The kernel's name of the process (`comm`).
pub fn name(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim_end().to_owned()
}

/// The processes whose parent is `pid`.
pub fn children(pid: i32) -> Vec<i32> {
    all().into_iter().filter(|child| stat(*child).is_some_and(|(_, parent)| parent == pid)).collect()
}

/// The CPU time that the process has used.
#[track_caller]
pub fn cpu_time(pid: i32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{pid}/schedstat")).expect("the process runs");
    let nanos = text.split_whitespace().next().and_then(|word| word.parse().ok());
    Duration::from_nanos(nanos.expect("a number"))
}

/// The CPU time that the first thread of the process uses while `act` runs, and that of its other threads, including
/// threads that end meanwhile.
#[track_caller]
pub fn first_and_other_threads(pid: i32, act: impl FnOnce()) -> (Duration, Duration) {
    let (first, all) = (cpu_time(pid), ticks(pid));
    act();
    let first = cpu_time(pid) - first;
    (first, (ticks(pid) - all).saturating_sub(first))
}

/// The CPU time of all threads of the process, in steps of 10 ms.
#[track_caller]
fn ticks(pid: i32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).expect("the process runs");
    let (_, fields) = text.rsplit_once(')').expect("the name is in parentheses");
    let user_and_system = fields.split_whitespace().skip(11).take(2);
    Duration::from_millis(10 * user_and_system.map(|ticks| ticks.parse::<u64>().expect("a number")).sum::<u64>())
}

/// The name and the used CPU time of each thread of the process.
#[track_caller]
pub fn threads(pid: i32) -> Vec<(String, Duration)> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).expect("the process runs").flatten();
    let thread = |folder: &Path| {
        let name = fs::read_to_string(folder.join("comm")).ok()?;
        let used = fs::read_to_string(folder.join("schedstat")).ok()?;
        let nanos = used.split_whitespace().next()?.parse().ok()?;
        Some((name.trim_end().to_owned(), Duration::from_nanos(nanos)))
    };
    tasks.filter_map(|task| thread(&task.path())).collect()
}

/// The number of open descriptors.
#[track_caller]
pub fn descriptors(pid: i32) -> usize {
    descriptors_if_it_runs(pid).expect("the process runs")
}

/// [`descriptors`]; `None` if the process has ended: the status may still list such a worker.
pub fn descriptors_if_it_runs(pid: i32) -> Option<usize> {
    Some(fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count())
}

/// Private_Dirty in bytes: pages that this process has written to and shares with no other.
pub fn own_memory(pid: i32) -> u64 {
    own_memory_if_it_runs(pid).expect("the process runs")
}

/// [`own_memory`]; `None` if the process has ended: the status may still list such a worker.
pub fn own_memory_if_it_runs(pid: i32) -> Option<u64> {
    memory(pid, "Private_Dirty:")
}

fn memory(pid: i32, kind: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let kilobytes = text.lines().find_map(|line| line.strip_prefix(kind)?.trim().strip_suffix(" kB")?.parse().ok());
    kilobytes.map(|n: u64| n * 1024)
}

/// The largest memory size of the process so far (VmHWM), in bytes.
#[track_caller]
pub fn peak_memory(pid: i32) -> u64 {
    peak_memory_if_it_runs(pid).expect("the process runs")
}

/// [`peak_memory`]; `None` if the process has ended: the status may still list such a worker.
pub fn peak_memory_if_it_runs(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kilobytes = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
    kilobytes.map(|n: u64| n * 1024)
}

/// Every live process that was started with `folder` in its environment, wherever the process has moved since.
pub fn of_site(folder: &Path) -> Vec<i32> {
    let mark = format!("TMPDIR={}/tmp", folder.display());
    let has_mark = |pid: &i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        // An unoptimized loop over the bytes of all processes would be a part of the cost of each test.
        let mut rest = &environment[..];
        while let Ok(variable) = CStr::from_bytes_until_nul(rest) {
            if variable.to_bytes() == mark.as_bytes() {
                return true;
            }
            rest = &rest[variable.count_bytes() + 1..];
        }
        false
    };
    all().into_iter().filter(has_mark).filter(|pid| alive(*pid)).collect()
}

fn all() -> Vec<i32> {
    let entries = fs::read_dir("/proc").expect("/proc is mounted").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The state letter and the parent's pid.
fn stat(pid: i32) -> Option<(char, i32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain any character, so the fields are counted from the last parenthesis.
    let mut fields = text[text.rfind(')')? + 1..].split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}
