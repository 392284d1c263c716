//! Password and group files. Each is checked for changes once a second at most, and its parsed contents are cached
//! while it stays unchanged. File access happens on another thread: see [`FileReading`].

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::str::Utf8Chunk;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::stamp::Stamp;
use config::regular;
use databases::{DbmFile, MAX_DBM_BYTES};

const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of cached files; `.htaccess` files can name any number.
const MAX_FILES: usize = 256;
/// Maximum size of all cached contents, in bytes.
const MAX_TOTAL_BYTES: usize = 16 << 20;

/// Parsed contents of one kind of file.
pub trait Contents: Sized {
    /// Maximum size of a file in bytes.
    const MAX_BYTES: u64;

    fn of_bytes(bytes: Vec<u8>) -> Result<Self, String>;

    /// Memory of the contents in bytes.
    fn size(&self) -> usize;
}

/// Parsed contents, or an error message.
pub type FileContents<T> = Result<Arc<T>, String>;

/// Parsed contents by path, of which the least recently checked are dropped.
pub struct FileCache<T>(RefCell<HashMap<PathBuf, CachedFile<T>>>);

struct CachedFile<T> {
    checked: Instant,
    stamp: Option<Stamp>,
    held: FileContents<T>,
}

/// A file that has to be checked or read.
pub struct FileReading<T> {
    path: PathBuf,
    before: Option<(Stamp, Arc<T>)>,
}

/// Result of checking or reading a file.
pub struct FileLook<T> {
    path: PathBuf,
    stamp: Option<Stamp>,
    held: FileContents<T>,
}

impl Contents for DbmFile {
    const MAX_BYTES: u64 = MAX_DBM_BYTES;

    fn of_bytes(bytes: Vec<u8>) -> Result<DbmFile, String> {
        DbmFile::parse(bytes)
    }

    fn size(&self) -> usize {
        self.size()
    }
}

impl<T> Default for FileCache<T> {
    fn default() -> FileCache<T> {
        FileCache(RefCell::default())
    }
}

impl<T: Contents> FileCache<T> {
    /// The cached contents, if the file was checked after `since` or within the last second.
    pub fn get(&self, path: &Path, since: Instant) -> Result<FileContents<T>, FileReading<T>> {
        let files = self.0.borrow();
        let known = files.get(path);
        if let Some(known) = known.filter(|known| known.checked >= since || known.checked.elapsed() < CHECK_INTERVAL) {
            return Ok(known.held.clone());
        }
        let before = known.and_then(|known| Some((known.stamp?, known.held.clone().ok()?)));
        Err(FileReading { path: path.to_owned(), before })
    }

    /// Stores a result. The least recently checked files are dropped if the cache is full.
    pub fn learn(&self, look: FileLook<T>) {
        let mut files = self.0.borrow_mut();
        files.remove(&look.path);
        let mut free = MAX_TOTAL_BYTES.saturating_sub(size(&look.held));
        let mut newest: Vec<_> = files.drain().collect();
        newest.sort_by_key(|(_, known)| std::cmp::Reverse(known.checked));
        newest.truncate(MAX_FILES - 1);
        files.extend(newest.into_iter().take_while(|(_, known)| {
            let size = size(&known.held);
            let fits = size <= free;
            free = free.saturating_sub(size);
            fits
        }));
        files.insert(look.path, CachedFile { checked: Instant::now(), stamp: look.stamp, held: look.held });
    }
}

fn size<T: Contents>(held: &FileContents<T>) -> usize {
    held.as_ref().map_or(0, |contents| contents.size())
}

impl<T: Contents> FileReading<T> {
    /// Checks whether the file has changed since it was cached. `Err`: it must be read, which takes longer.
    pub fn glance(self) -> Result<FileLook<T>, FileReading<T>> {
        let now = std::fs::metadata(&self.path).ok().map(|it| Stamp::of(&it));
        match self.before {
            Some((known, contents)) if now == Some(known) => {
                Ok(FileLook { path: self.path, stamp: now, held: Ok(contents) })
            }
            _ => Err(self),
        }
    }

    /// Checks or reads the file, which may take long.
    pub fn take(self) -> FileLook<T> {
        let FileReading { path, before } = self;
        let found = look(&path, before).map_err(|error| format!("{}: {error}", path.display()));
        match found {
            Ok((stamp, contents)) => FileLook { path, stamp: Some(stamp), held: Ok(contents) },
            Err(error) => FileLook { path, stamp: None, held: Err(error) },
        }
    }
}

/// The cached contents, or new ones. The stamp belongs to the bytes that were read, even if the file is replaced
/// meanwhile.
fn look<T: Contents>(path: &Path, before: Option<(Stamp, Arc<T>)>) -> io::Result<(Stamp, Arc<T>)> {
    if let Some((known, contents)) = before
        && known == Stamp::of(&std::fs::metadata(path)?)
    {
        return Ok((known, contents));
    }
    let (it, bytes) = regular::read(path, T::MAX_BYTES)?;
    let contents = T::of_bytes(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
    Ok((Stamp::of(&it), Arc::new(contents)))
}

/// Decodes text. Replacing invalid UTF-8 may triple its length, which is limited, too.
pub fn text(bytes: Vec<u8>, longest: u64) -> Result<String, String> {
    let replaced = |chunk: Utf8Chunk<'_>| chunk.valid().len() + 3 * usize::from(!chunk.invalid().is_empty());
    String::from_utf8(bytes).or_else(|error| {
        let length: usize = error.as_bytes().utf8_chunks().map(replaced).sum();
        match length as u64 <= longest {
            true => Ok(String::from_utf8_lossy(error.as_bytes()).into_owned()),
            false => Err("the file is not UTF-8, and too large to be converted".to_owned()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Text(String);

    impl Contents for Text {
        const MAX_BYTES: u64 = 32 << 20;

        fn of_bytes(bytes: Vec<u8>) -> Result<Text, String> {
            text(bytes, Self::MAX_BYTES).map(Text)
        }

        fn size(&self) -> usize {
            self.0.len()
        }
    }

    fn cached(files: &FileCache<Text>) -> (usize, usize) {
        let known = files.0.borrow();
        (known.len(), known.values().map(|known| size(&known.held)).sum())
    }

    #[test]
    fn an_unchanged_file_is_not_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let files = FileCache::<Text>::default();
        std::fs::write(&path, "one").unwrap();
        let look = || {
            // Makes the last check appear old.
            files.0.borrow_mut().values_mut().for_each(|known| known.checked -= CHECK_INTERVAL);
            let Err(reading) = files.get(&path, Instant::now()) else { panic!("a check is due") };
            files.learn(reading.take());
            files.get(&path, Instant::now()).ok().expect("known").unwrap()
        };
        let first = look();
        assert!(Arc::ptr_eq(&first, &look()));
        std::fs::write(&path, "three").unwrap();
        assert_eq!(look().0, "three");
    }

    #[test]
    fn invalid_utf_8_does_not_exceed_the_maximum_length() {
        assert_eq!(text(b"a\xe9".to_vec(), 4).as_deref(), Ok("a\u{fffd}"));
        assert!(text(b"a\xe9".to_vec(), 3).is_err());
        assert_eq!(text(vec![b'a'; 9], 3).as_deref(), Ok("aaaaaaaaa"));
    }

    #[test]
    fn the_cache_is_bounded_in_number_and_bytes() {
        let files = FileCache::<Text>::default();
        let look = |name: String, size: usize| FileLook {
            path: name.into(),
            stamp: None,
            held: Ok(Arc::new(Text("x".repeat(size)))),
        };
        (0..1000).for_each(|n| files.learn(look(n.to_string(), 1)));
        assert_eq!(cached(&files), (MAX_FILES, MAX_FILES));
        (0..10).for_each(|n| files.learn(look(format!("large {n}"), 4 << 20)));
        let (_, bytes) = cached(&files);
        assert!(bytes <= MAX_TOTAL_BYTES, "{bytes}");
        assert!(files.get(Path::new("large 9"), Instant::now()).is_ok(), "the file that was read last is cached");
    }
}
