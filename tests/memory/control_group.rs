//! A control group for one server, on machines that permit one.

use std::fs;
use std::path::{Path, PathBuf};

/// A control group, removed on drop.
pub struct ControlGroup {
    folder: PathBuf,
    usage: &'static str,
    limit: &'static str,
}

impl ControlGroup {
    /// Creates a control group: version 2, or version 1 where the memory controller is bound to it. Needs root.
    pub fn new(name: &str) -> Option<ControlGroup> {
        let root = Path::new("/sys/fs/cgroup");
        let made = |root: &Path, usage, limit| {
            let folder = root.join(format!("cameleer-test-{name}-{}", std::process::id()));
            fs::create_dir(&folder).ok()?;
            let group = ControlGroup { folder, usage, limit };
            group.used().map(|_| group)
        };
        let version_1 = || made(&root.join("memory"), "memory.usage_in_bytes", "memory.limit_in_bytes");
        made(root, "memory.current", "memory.max").or_else(version_1)
    }

    /// The memory use of the group's processes and of the kernel for them, in bytes.
    pub fn used(&self) -> Option<u64> {
        fs::read_to_string(self.folder.join(self.usage)).ok()?.trim().parse().ok()
    }

    /// Sets the group's memory limit in bytes.
    pub fn limit(&self, bytes: u64) {
        fs::write(self.folder.join(self.limit), bytes.to_string()).expect("our own group");
    }

    /// The shell command that moves its process into the group and executes its arguments.
    pub fn enter(&self) -> String {
        format!("echo $$ > '{}' && exec \"$0\" \"$@\"", self.folder.join("cgroup.procs").display())
    }

    /// The name of the file with the group's memory use, for the test's output.
    pub fn name(&self) -> &'static str {
        self.usage
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}
