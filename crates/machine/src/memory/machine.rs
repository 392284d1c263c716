//! Reader of `/proc` and control groups.

use std::path::{Path, PathBuf};

use super::MemorySizes;
use super::available::{self, Available};
use super::kernel_file::text;
use super::kinds::{self, PrivateKinds};
use super::sizes::value;

/// Paths of the kernel's files.
#[derive(Debug, Clone)]
pub struct Machine {
    proc: PathBuf,
    cgroups: PathBuf,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine::below(Path::new("/"))
    }
}

impl Machine {
    /// A machine with `/proc` and `/sys` below `root`.
    pub fn below(root: &Path) -> Machine {
        Machine { proc: root.join("proc"), cgroups: root.join("sys/fs/cgroup") }
    }

    /// Memory of a process. `None` if it has ended, or cannot be read.
    pub fn sizes(&self, pid: i32) -> Option<MemorySizes> {
        let rollup = self.read(pid, "smaps_rollup")?;
        MemorySizes::parse(&rollup, &self.read(pid, "status").unwrap_or_default())
    }

    /// Private memory of a process by the kind of its mappings. `None` if it has ended, or cannot be read.
    pub fn private_kinds(&self, pid: i32) -> Option<PrivateKinds> {
        Some(kinds::private_kinds(&self.read(pid, "smaps")?, &self.read(pid, "status")?))
    }

    /// Children of a process that were not reaped. Empty if the kernel does not report them.
    pub fn children(&self, pid: i32) -> Vec<i32> {
        let pids = self.read(pid, &format!("task/{pid}/children")).unwrap_or_default();
        pids.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    }

    /// Process id of the parent; `None` for a process that has ended.
    pub fn parent(&self, pid: i32) -> Option<i32> {
        value(&self.read(pid, "status")?, "PPid")?.parse().ok()
    }

    /// Name of a process, truncated to 15 bytes by the kernel.
    pub fn name(&self, pid: i32) -> Option<String> {
        Some(self.read(pid, "comm")?.trim_end().to_owned())
    }

    /// Memory available to a process, limited by its control groups and by the machine.
    pub fn available_to(&self, pid: i32) -> Option<Available> {
        let machine = available::of_machine(&text(&self.proc.join("meminfo"))?);
        let groups = available::of_groups(&self.cgroups, &self.read(pid, "cgroup").unwrap_or_default());
        machine.into_iter().chain(groups).min_by_key(|available| available.bytes)
    }

    /// Number of processes in the control group of a process that the kernel killed for lack of memory.
    pub fn killed_in_groups_of(&self, pid: i32) -> Option<u64> {
        available::killed_in_groups(&self.cgroups, &self.read(pid, "cgroup").unwrap_or_default())
    }

    fn read(&self, pid: i32, name: &str) -> Option<String> {
        text(&self.proc.join(pid.to_string()).join(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_process_has_sizes_and_an_invalid_pid_has_none() {
        let machine = Machine::default();
        let ours = machine.sizes(std::process::id().cast_signed()).expect("our own process");
        assert!(ours.private > 4096 && ours.pss >= ours.private && ours.rss >= ours.pss, "{ours:?}");
        assert!(ours.page_tables > 0 && ours.kernel_stacks > 0, "{ours:?}");
        assert_eq!(machine.sizes(0), None);
        assert_eq!(machine.sizes(-1), None);
        assert!(machine.children(0).is_empty());
        assert_eq!(
            machine.parent(std::process::id().cast_signed()),
            Some(std::os::unix::process::parent_id().cast_signed())
        );
        assert_eq!((machine.parent(0), machine.name(0)), (None, None));
    }

    #[test]
    fn a_child_is_listed_and_has_no_sizes_after_its_end() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("sleep is there");
        let (machine, pid) = (Machine::default(), child.id().cast_signed());
        // The kernel lists children by the thread that started them.
        let tasks = std::fs::read_dir("/proc/self/task").expect("procfs").flatten();
        let children =
            |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        assert!(tasks.map(children).any(|pids| pids.split_whitespace().any(|word| word == pid.to_string())));
        child.kill().expect("our own child");
        child.wait().expect("our own child");
        assert_eq!(machine.sizes(pid), None);
    }

    #[test]
    fn an_endless_file_is_read_only_up_to_the_limit() {
        let root = std::env::temp_dir().join(format!("cameleer-memory-{}", std::process::id()));
        let folder = root.join("proc/7");
        std::fs::create_dir_all(&folder).expect("a folder in TMPDIR");
        std::os::unix::fs::symlink("/dev/zero", folder.join("smaps_rollup")).expect("a link");
        assert_eq!(Machine::below(&root).sizes(7), None);
        std::fs::remove_dir_all(&root).expect("our own folder");
    }
}
