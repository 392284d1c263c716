//! CPU time and run queue time of processes, as counted by the kernel.

use std::ops::{Add, Sub};
use std::path::Path;

/// Times of one or several processes since their start, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, derive_more::Add)]
pub struct CpuTimes {
    /// Time on a processor.
    pub cpu: f64,
    /// Time in the run queue.
    pub queued: f64,
}

impl CpuTimes {
    /// Sum over all threads of a process. `None`: the process has ended, or cannot be read.
    pub fn of(pid: i32) -> Option<CpuTimes> {
        let threads = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
        threads.filter_map(|thread| of_thread(&thread.path())).reduce(Add::add)
    }

    /// Sum over all processes that exist.
    pub fn of_all(pids: &[i32]) -> CpuTimes {
        pids.iter().filter_map(|pid| CpuTimes::of(*pid)).fold(CpuTimes::default(), Add::add)
    }
}

impl Sub for CpuTimes {
    type Output = CpuTimes;

    /// The difference of each time, but at least 0: the times of a process that ended meanwhile are missing.
    fn sub(self, earlier: CpuTimes) -> CpuTimes {
        CpuTimes { cpu: (self.cpu - earlier.cpu).max(0.0), queued: (self.queued - earlier.queued).max(0.0) }
    }
}

fn of_thread(folder: &Path) -> Option<CpuTimes> {
    parse(&std::fs::read_to_string(folder.join("schedstat")).ok()?)
}

/// Parses `149841 2010115 2`: nanoseconds on a processor, nanoseconds in the run queue, number of time slices.
fn parse(text: &str) -> Option<CpuTimes> {
    let mut words = text.split_whitespace().map(|word| word.parse::<u64>().ok());
    let mut seconds = || Some(words.next()?? as f64 / 1e9);
    Some(CpuTimes { cpu: seconds()?, queued: seconds()? })
}

/// Number of processors that this process may use.
pub fn cores() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_process_has_times_and_an_ended_one_has_none() {
        // A separate process is used, because the test's own first thread only waits.
        let mut child = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("a shell");
        let busy = child.id().cast_signed();
        let since = std::time::Instant::now();
        let spent = || CpuTimes::of(busy).map_or(0.0, |times| times.cpu);
        while spent() == 0.0 && since.elapsed().as_secs() < 10 {
            std::thread::yield_now();
        }
        let cpu = spent();
        child.kill().and_then(|()| child.wait()).expect("our own child");
        assert!(cpu > 0.0);
        assert_eq!(CpuTimes::of(-1), None);
        assert_eq!(CpuTimes::of_all(&[-1]), CpuTimes::default());
    }

    #[test]
    fn an_invalid_statistic_is_none() {
        assert_eq!(parse("2000000000 500000000 7\n"), Some(CpuTimes { cpu: 2.0, queued: 0.5 }));
        for odd in ["", "1", "a b c", "-1 2 3"] {
            assert_eq!(parse(odd), None, "{odd}");
        }
    }
}
