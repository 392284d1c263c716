//! Decides whether a file is a program or Perl.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use base::cache::BoundedCache;
use base::shebang::{self, head};
use base::stamp::Stamp;

/// Maximum number of files whose kind a worker caches.
const MAX_KNOWN: usize = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Program,
    /// Perl that this worker has not run yet.
    New,
    Perl,
}

/// Cached kinds of files, by name.
#[derive(Debug, Default)]
pub struct Kinds {
    known: RefCell<BoundedCache<PathBuf, (Stamp, Kind), MAX_KNOWN>>,
    /// Perl scripts that end the process that compiles them, valid while their stamps are unchanged.
    fatal: Vec<(PathBuf, Stamp)>,
}

impl Kinds {
    /// Creates a cache with scripts that no worker may compile.
    pub fn with_fatal(files: Vec<PathBuf>) -> Kinds {
        let stamped = |file: PathBuf| std::fs::metadata(&file).ok().map(|found| (file, Stamp::of(&found)));
        Kinds { known: RefCell::default(), fatal: files.into_iter().filter_map(stamped).collect() }
    }

    /// Whether the kernel must execute this file. False for unreadable files and non-files, which are refused
    /// elsewhere.
    pub fn is_program(&self, file: &Path) -> bool {
        let Ok(found) = std::fs::metadata(file) else { return false };
        if !found.is_file() {
            return false;
        }
        let stamp = Stamp::of(&found);
        if self.fatal.iter().any(|(fatal, known)| fatal == file && *known == stamp) {
            return true;
        }
        if let Some((known, kind)) = self.known.borrow_mut().get(file)
            && *known == stamp
        {
            return *kind == Kind::Program;
        }
        let kind = if is_program(file) { Kind::Program } else { Kind::New };
        self.known.borrow_mut().put(file.to_owned(), (stamp, kind));
        kind == Kind::Program
    }

    /// Whether a script has run for the first time since its file was last changed.
    pub fn has_run(&self, file: &Path) -> bool {
        let mut known = self.known.borrow_mut();
        match known.get(file).copied() {
            Some((stamp, Kind::New)) => {
                known.put(file.to_owned(), (stamp, Kind::Perl));
                true
            }
            _ => false,
        }
    }

    /// Has the kernel execute a script until its file changes.
    pub fn becomes_program(&self, file: &Path) {
        let mut known = self.known.borrow_mut();
        if let Some((stamp, _)) = known.get(file).copied() {
            known.put(file.to_owned(), (stamp, Kind::Program));
        }
    }
}

/// [`Kinds::is_program`] without the cache.
pub fn is_program(file: &Path) -> bool {
    head(file).is_ok_and(|head| shebang::is_foreign(&head))
}

/// Error message for a file that the kernel could not execute, with advice.
pub fn cannot_execute(file: &Path, error: &std::io::Error) -> String {
    let head = head(file).unwrap_or_default();
    let line = shebang::line(&head);
    let advice = match (error.raw_os_error().map(Errno::from_raw), line) {
        (Some(Errno::ENOENT), Some(line)) if line.ends_with(b"\r") => {
            "the first line ends with CR, which becomes part of the interpreter's name; save the file with Unix line ends"
                .to_owned()
        }
        (Some(Errno::ENOENT), Some(line)) => {
            format!("the first line names a missing interpreter: {}", String::from_utf8_lossy(line))
        }
        (Some(Errno::ENOEXEC), None) if !head.contains(&0) => {
            "the file has no #! line; write #!/usr/bin/perl as the first line, or set CgiMode fork or persistent for the folder"
                .to_owned()
        }
        (Some(Errno::EACCES), _) => {
            "the server's user has no permission to execute the file, or to search a folder of its path".to_owned()
        }
        _ => "the file must be a program for this machine, or its first line must name an existing interpreter".to_owned(),
    };
    format!("{}: cannot be executed: {error}: {advice}", file.display())
}
