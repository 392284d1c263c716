//! Changes of files, and how long to wait for more of them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A report of inotify(7) about a file that matters.
pub struct FileChange {
    /// Absolute path, below a watched folder.
    pub path: PathBuf,
    /// Whether the file has been removed or renamed. Editors do that before they write the new one.
    pub is_gone: bool,
}

/// After this time without a further change the program is loaded again.
const QUIET: Duration = Duration::from_millis(4);
/// The same after a file has been removed.
const QUIET_WITHOUT_FILE: Duration = Duration::from_millis(150);
/// Changes that go on for longer, as those of `git checkout`, do not delay the load further.
const MAX_DELAY: Duration = Duration::from_millis(400);

/// Changes that belong together.
pub struct ChangeBurst {
    began: Instant,
    last: FileChange,
    count: usize,
}

impl ChangeBurst {
    /// A burst that begins with this change.
    pub fn new(first: FileChange) -> ChangeBurst {
        ChangeBurst { began: Instant::now(), last: first, count: 1 }
    }

    /// Adds a change, which counts if it is of another file than the last one.
    pub fn add(&mut self, change: FileChange) {
        self.count += usize::from(change.path != self.last.path);
        self.last = change;
    }

    /// The longest time to wait for a further change.
    pub fn patience(&self) -> Duration {
        let quiet = if self.last.is_gone { QUIET_WITHOUT_FILE } else { QUIET };
        quiet.min(MAX_DELAY.saturating_sub(self.began.elapsed()))
    }

    /// Name of the changed file, for the terminal.
    pub fn name(&self) -> String {
        let name = self.last.path.file_name().unwrap_or(self.last.path.as_os_str()).to_string_lossy();
        match self.count {
            1 => name.into_owned(),
            more => format!("{name} and {} more", more - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, is_gone: bool) -> FileChange {
        FileChange { path: path.into(), is_gone }
    }

    #[test]
    fn a_removed_file_is_waited_for_until_it_is_written_again() {
        let mut burst = ChangeBurst::new(change("lib/A.pm", true));
        assert!(burst.patience() > QUIET);
        burst.add(change("lib/A.pm", false));
        assert!(burst.patience() <= QUIET);
        assert_eq!(burst.name(), "A.pm");
        burst.add(change("lib/B.pm", false));
        assert_eq!(burst.name(), "B.pm and 1 more");
    }
}
