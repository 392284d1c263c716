//! Password and group files as they are on disk. Each is looked at once a second at most, however many ask.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// The files that somebody has asked for.
#[derive(Default)]
pub struct Files(RefCell<HashMap<PathBuf, Known>>);

/// Lines `name: value`; comments and what has no colon are left out.
#[derive(Debug, Default)]
pub struct Lines(Vec<(String, String)>);

struct Known {
    looked: Instant,
    version: Option<Version>,
    lines: Result<Rc<Lines>, String>,
}

/// What changes when a file does.
type Version = (u64, u64, i64, i64);

impl Files {
    /// The lines of a file; the error is a sentence.
    pub fn read(&self, path: &Path) -> Result<Rc<Lines>, String> {
        let mut files = self.0.borrow_mut();
        if let Some(known) = files.get_mut(path) {
            if known.looked.elapsed() >= LOOK_AGAIN {
                known.look(path);
            }
            return known.lines.clone();
        }
        let mut known = Known { looked: Instant::now(), version: None, lines: Ok(Rc::default()) };
        known.look(path);
        files.entry(path.to_owned()).or_insert(known).lines.clone()
    }
}

impl Known {
    fn look(&mut self, path: &Path) {
        self.looked = Instant::now();
        match std::fs::metadata(path).map(|file| version(&file)) {
            Ok(version) if self.version == Some(version) => {}
            _ => match load(path) {
                Ok((version, lines)) => (self.version, self.lines) = (Some(version), Ok(Rc::new(lines))),
                Err(error) => (self.version, self.lines) = (None, Err(format!("{}: {error}", path.display()))),
            },
        }
    }
}

/// The version is that of the bytes that are read, not of a file that takes its place meanwhile.
fn load(path: &Path) -> io::Result<(Version, Lines)> {
    let mut file = File::open(path)?;
    let version = version(&file.metadata()?);
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok((version, Lines::parse(&String::from_utf8_lossy(&bytes))))
}

fn version(file: &Metadata) -> Version {
    (file.ino(), file.size(), file.mtime() * 1_000_000_000 + file.mtime_nsec(), file.ctime_nsec())
}

impl Lines {
    fn parse(text: &str) -> Lines {
        let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        let pairs = lines.filter_map(|line| line.split_once(':'));
        Lines(pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect())
    }

    /// The hash of a user: what stands before the next colon of its first line.
    pub fn hash_of(&self, user: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(name, _)| name == user)?;
        value.split(':').next()
    }

    /// The groups that a user stands in.
    pub fn groups_of(&self, user: &str) -> impl Iterator<Item = &str> {
        let of_user = move |(_, members): &&(String, String)| members.split_whitespace().any(|member| member == user);
        self.0.iter().filter(of_user).map(|(group, _)| group.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_httpd_reads_them() {
        let lines =
            Lines::parse("# staff: eve\nana:$1$a$b:Ana Lopez\n\nnonsense\nana:other\n staff : ana  ben\nall: ana\n");
        assert_eq!(lines.hash_of("ana"), Some("$1$a$b"));
        assert_eq!(lines.hash_of("eve"), None);
        assert_eq!(lines.groups_of("ana").collect::<Vec<_>>(), ["staff", "all"]);
        assert_eq!(lines.groups_of("an").count(), 0);
    }
}
