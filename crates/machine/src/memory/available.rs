//! Available memory of the machine, and of the control groups of a process.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::kernel_file::text;
use super::sizes::kilobytes;

/// Available memory, and the limit that determines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Available {
    /// Available memory in bytes.
    pub bytes: u64,
    /// The limit that determines it.
    pub bound: MemoryBound,
}

/// A limit of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MemoryBound {
    /// The kernel's estimate of memory available without swapping.
    MemAvailable,
    /// The limit of a control group, minus its usage.
    #[serde(rename = "cgroup")]
    ControlGroup,
}

impl std::fmt::Display for MemoryBound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            MemoryBound::MemAvailable => "MemAvailable",
            MemoryBound::ControlGroup => "the limit of its control group",
        })
    }
}

pub(super) fn of_machine(meminfo: &str) -> Option<Available> {
    let bytes = kilobytes(meminfo, "MemAvailable")?;
    Some(Available { bytes, bound: MemoryBound::MemAvailable })
}

/// The minimum over the groups in `/proc/PID/cgroup` and their parents. `None` without any limit.
pub(super) fn of_groups(root: &Path, cgroup: &str) -> Option<Available> {
    let groups = cgroup.lines().filter_map(|line| hierarchy(root, line));
    let rooms = groups.flat_map(|(mount, path, files)| {
        let levels: Vec<PathBuf> = path.ancestors().map(|level| mount.join(level)).collect();
        levels.into_iter().filter_map(move |folder| files.room(&folder))
    });
    rooms.min().map(|bytes| Available { bytes, bound: MemoryBound::ControlGroup })
}

/// Number of processes that the kernel killed for lack of memory in the groups of `/proc/PID/cgroup`. `None` if the
/// kernel does not report it.
pub(super) fn killed_in_groups(root: &Path, cgroup: &str) -> Option<u64> {
    let mut groups = cgroup.lines().filter_map(|line| hierarchy(root, line));
    groups.find_map(|(mount, path, files)| {
        let events = text(&mount.join(path).join(files.events))?;
        events.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
    })
}

/// File names of one version of control groups.
struct Files {
    limits: &'static [&'static str],
    usage: &'static str,
    /// Field of `memory.stat`, including child groups: cached files that were not used lately, which are reclaimed
    /// first.
    unused_files: &'static str,
    /// File with the number of killed processes.
    events: &'static str,
}

const VERSION_2: Files = Files {
    limits: &["memory.max", "memory.high"],
    usage: "memory.current",
    unused_files: "inactive_file",
    events: "memory.events",
};

const VERSION_1: Files = Files {
    limits: &["memory.limit_in_bytes"],
    usage: "memory.usage_in_bytes",
    unused_files: "total_inactive_file",
    events: "memory.oom_control",
};

/// Mount point of the hierarchy, path in it, and file names, for a line of `/proc/PID/cgroup`.
fn hierarchy(root: &Path, line: &str) -> Option<(PathBuf, PathBuf, &'static Files)> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, Path::new(parts.next()?));
    // `/..` is a group outside of our namespace. Its files are not visible, so our root is used.
    let below = path.components().filter(|part| matches!(part, Component::Normal(_))).collect();
    match controllers {
        "" if root.join("unified").is_dir() => Some((root.join("unified"), below, &VERSION_2)),
        "" => Some((root.to_owned(), below, &VERSION_2)),
        names if names.split(',').any(|name| name == "memory") => Some((root.join("memory"), below, &VERSION_1)),
        _ => None,
    }
}

impl Files {
    /// Available memory of a group in bytes. `None` without a limit.
    fn room(&self, folder: &Path) -> Option<u64> {
        let number = |name: &str| text(&folder.join(name))?.trim().parse::<u64>().ok();
        // `max` is not a number; version 1 represents no limit by a huge number.
        let limit = self.limits.iter().filter_map(|name| number(name)).min().filter(|limit| *limit < 1 << 60)?;
        let stat = text(&folder.join("memory.stat")).unwrap_or_default();
        let unused = stat.lines().find_map(|line| line.strip_prefix(self.unused_files)?.trim().parse::<u64>().ok());
        let used = number(self.usage)?.saturating_sub(unused.unwrap_or(0));
        Some(limit.saturating_sub(used))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Machine;
    use super::*;

    /// A simulated machine, as a folder.
    struct Simulated(PathBuf);

    impl Simulated {
        fn new(name: &str) -> Simulated {
            let root = std::env::temp_dir().join(format!("cameleer-cgroup-{name}-{}", std::process::id()));
            Simulated(root).file("proc/meminfo", "MemTotal: 2000000 kB\nMemAvailable:    1000000 kB\n")
        }

        fn file(self, name: &str, contents: &str) -> Simulated {
            let path = self.0.join(name);
            fs::create_dir_all(path.parent().expect("below the root")).expect("a folder in TMPDIR");
            fs::write(path, contents).expect("written in TMPDIR");
            self
        }

        fn available(&self) -> Option<Available> {
            Machine::below(&self.0).available_to(7)
        }

        fn killed(&self) -> Option<u64> {
            Machine::below(&self.0).killed_in_groups_of(7)
        }
    }

    impl Drop for Simulated {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn without_a_limit_the_machine_determines_available_memory() {
        let free = Available { bytes: 1_000_000 << 10, bound: MemoryBound::MemAvailable };
        let machine = Simulated::new("free");
        assert_eq!(machine.available(), Some(free));
        let machine = machine
            .file("proc/7/cgroup", "0::/site\n")
            .file("sys/fs/cgroup/site/memory.max", "max\n")
            .file("sys/fs/cgroup/site/memory.current", "5\n");
        assert_eq!(machine.available(), Some(free));
        assert_eq!(machine.file("proc/meminfo", "MemFree: 1 kB\n").available(), None);
    }

    #[test]
    fn the_group_with_the_least_memory_determines_available_memory() {
        let machine = Simulated::new("v2")
            .file("proc/7/cgroup", "0::/slice/site\n")
            .file("sys/fs/cgroup/slice/site/memory.max", "300000000\n")
            .file("sys/fs/cgroup/slice/site/memory.current", "100000000\n")
            .file("sys/fs/cgroup/slice/site/memory.stat", "anon 1\ninactive_file 30000000\n");
        let room = |bytes| Some(Available { bytes, bound: MemoryBound::ControlGroup });
        assert_eq!(machine.available(), room(230_000_000));
        let machine = machine
            .file("sys/fs/cgroup/slice/memory.max", "max\n")
            .file("sys/fs/cgroup/slice/memory.high", "200000000\n")
            .file("sys/fs/cgroup/slice/memory.current", "150000000\n");
        assert_eq!(machine.available(), room(50_000_000));
        let machine = machine.file("sys/fs/cgroup/slice/memory.current", "250000000\n");
        assert_eq!(machine.available(), room(0));
    }

    #[test]
    fn version_1_uses_other_names_and_a_path_outside_is_our_root() {
        let machine = Simulated::new("v1")
            .file("proc/7/cgroup", "9:name=systemd:/\n4:cpu,memory:/../other\n0::/\n")
            .file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
            .file("sys/fs/cgroup/memory/other/memory.limit_in_bytes", "1000000\n")
            .file("sys/fs/cgroup/memory/other/memory.usage_in_bytes", "400000\n")
            .file("sys/fs/cgroup/memory/other/memory.stat", "inactive_file 7\ntotal_inactive_file 100000\n");
        assert_eq!(machine.available(), Some(Available { bytes: 700_000, bound: MemoryBound::ControlGroup }));
    }

    #[test]
    fn killed_processes_are_counted_in_both_versions() {
        let events = "low 0\nhigh 12\nmax 3\noom 2\noom_kill 1\noom_group_kill 0\n";
        let two = Simulated::new("events-2").file("proc/7/cgroup", "0::/site\n");
        assert_eq!(two.killed(), None);
        assert_eq!(two.file("sys/fs/cgroup/site/memory.events", events).killed(), Some(1));
        let one = Simulated::new("events-1").file("proc/7/cgroup", "5:cpu:/x\n4:memory:/site\n");
        let control = "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n";
        assert_eq!(one.file("sys/fs/cgroup/memory/site/memory.oom_control", control).killed(), Some(7));
    }
}
