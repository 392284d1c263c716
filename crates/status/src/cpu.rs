//! CPU time of processes, as counted by the kernel.

use std::fs;

use nix::unistd::{SysconfVar, sysconf};

/// Maximum number of workers that are read, at 10 µs each, because the front generates the page between requests.
const MAX_WORKERS: usize = 200;

/// CPU time in seconds, since the start of each process.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cpu {
    /// User time.
    pub user: f64,
    /// System time.
    pub system: f64,
    /// User time of reaped children.
    pub children_user: f64,
    /// System time of reaped children.
    pub children_system: f64,
}

impl Cpu {
    /// Sum for the front and its workers.
    pub fn of(front: i32, workers: impl Iterator<Item = i32>) -> Cpu {
        let ticks = ticks();
        std::iter::once(front).chain(workers.take(MAX_WORKERS)).filter_map(stat).fold(
            Cpu::default(),
            |sum, [user, system, c_user, c_system]| Cpu {
                user: sum.user + user / ticks,
                system: sum.system + system / ticks,
                children_user: sum.children_user + c_user / ticks,
                children_system: sum.children_system + c_system / ticks,
            },
        )
    }

    /// CPU time of one process in milliseconds.
    pub fn millis(pid: i32) -> Option<u64> {
        let [user, system, ..] = stat(pid)?;
        Some(((user + system) * 1000.0 / ticks()) as u64)
    }

    /// Total time.
    pub fn sum(self) -> f64 {
        self.user + self.system + self.children_user + self.children_system
    }
}

/// Clock ticks per second.
fn ticks() -> f64 {
    sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100) as f64
}

fn stat(pid: i32) -> Option<[f64; 4]> {
    times(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Parses utime, stime, cutime and cstime, the 14th to 17th field, see proc_pid_stat(5). The second field is a name in
/// parentheses, which may contain any characters.
fn times(stat: &str) -> Option<[f64; 4]> {
    let (_, after) = stat.rsplit_once(')')?;
    let mut fields = after.split_ascii_whitespace().skip(11).map(|field| field.parse().ok());
    Some([fields.next()??, fields.next()??, fields.next()??, fields.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_fields() {
        let stat = "7 (a) R 1 2 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17";
        assert_eq!(times(stat), Some([11.0, 12.0, 13.0, 14.0]));
        for wrong in ["", "7 (a", "7 (a) S 1 2 3", "7 (a) S 1 2 3 4 5 6 7 8 9 10 x 12 13 14"] {
            assert_eq!(times(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn our_own_time_grows() {
        let ours = std::process::id().cast_signed();
        let before = Cpu::of(ours, std::iter::empty()).sum();
        let mut steps = 0_u64;
        while Cpu::of(ours, std::iter::empty()).sum() <= before {
            steps += 1;
            assert!(steps < 100_000_000, "the kernel counts nothing");
        }
    }
}
