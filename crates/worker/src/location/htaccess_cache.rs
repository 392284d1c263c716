//! Cache of `.htaccess` texts. Each name is checked once per client request, including its subrequests and redirects;
//! an unchanged file is not read again.

use std::cell::{Cell, RefCell};
use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use base::cache::BoundedCache;
use base::stamp::Stamp;
use config::htaccess_file;

/// Maximum number of names in the cache; clients influence which names are looked up.
const MAX_KNOWN: usize = 1000;
/// Upper bound of a file system's time resolution: two changes within this time may have the same time stamp.
const TICK: Duration = Duration::from_millis(50);

#[derive(Default)]
pub struct HtaccessCache {
    known: RefCell<BoundedCache<PathBuf, CachedLook, MAX_KNOWN>>,
    /// Number of the current client request.
    turn: Cell<u64>,
}

struct CachedLook {
    looked_at: u64,
    found: Option<HtaccessText>,
}

#[derive(Clone)]
struct HtaccessText {
    text: Rc<str>,
    stamp: Stamp,
    /// Whether the file was older than `TICK` when read, so that any later change has another stamp.
    is_settled: bool,
}

impl HtaccessCache {
    /// Starts a new client request: cached files are checked again.
    pub fn next_turn(&self) {
        self.turn.set(self.turn.get() + 1);
    }

    /// The text of a file; `None`: no such file.
    pub fn read(&self, file: &Path) -> Result<Option<Rc<str>>, String> {
        let before = match self.known.borrow_mut().get(file) {
            Some(known) if known.looked_at == self.turn.get() => {
                return Ok(known.found.as_ref().map(|found| found.text.clone()));
            }
            Some(known) => known.found.clone(),
            None => None,
        };
        let found = look(file, before).map_err(|error| format!("{}: {error}", file.display()))?;
        let known = CachedLook { looked_at: self.turn.get(), found: found.clone() };
        self.known.borrow_mut().put(file.to_owned(), known);
        Ok(found.map(|found| found.text))
    }
}

/// Returns `before` if the file is unchanged, else reads the file.
fn look(file: &Path, before: Option<HtaccessText>) -> io::Result<Option<HtaccessText>> {
    let is_same = |it: &Metadata| before.as_ref().is_some_and(|found| found.is_settled && found.stamp == Stamp::of(it));
    match std::fs::metadata(file) {
        Ok(it) if is_same(&it) => return Ok(before),
        Err(error) if is_missing(&error) => return Ok(None),
        Ok(_) => {}
        Err(error) => return Err(error),
    }
    match read(file) {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn read(file: &Path) -> io::Result<HtaccessText> {
    let begun = SystemTime::now();
    let (metadata, text) = htaccess_file(file)?;
    let stamp = Stamp::of(&metadata);
    let is_settled = stamp.age_at(begun) > TICK;
    Ok(HtaccessText { text: text.into(), stamp, is_settled })
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cache: &HtaccessCache, file: &Path) -> Option<Rc<str>> {
        cache.next_turn();
        cache.read(file).unwrap()
    }

    #[test]
    fn every_change_is_seen_by_the_next_request() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, file) = (HtaccessCache::default(), folder.path().join("file"));
        assert_eq!(read(&cache, &file), None);
        for number in 0..200 {
            let text = format!("{number:03}");
            std::fs::write(&file, &text).unwrap();
            assert_eq!(read(&cache, &file).as_deref(), Some(&*text), "the same size, perhaps the same date");
        }
        std::fs::remove_file(&file).unwrap();
        assert_eq!(read(&cache, &file), None);
    }

    #[test]
    fn a_file_that_stays_as_it_is_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, file) = (HtaccessCache::default(), folder.path().join("file"));
        std::fs::write(&file, "text").unwrap();
        let deadline = SystemTime::now() + Duration::from_secs(20);
        let mut known = read(&cache, &file).unwrap();
        loop {
            let again = read(&cache, &file).unwrap();
            if Rc::ptr_eq(&known, &again) {
                return;
            }
            assert!(SystemTime::now() < deadline, "read again and again");
            known = again;
        }
    }

    #[test]
    fn a_request_sees_one_state_of_a_htaccess_file() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, file) = (HtaccessCache::default(), folder.path().join("file"));
        assert_eq!(read(&cache, &file), None);
        std::fs::write(&file, "text").unwrap();
        assert_eq!(cache.read(&file), Ok(None));
        assert_eq!(read(&cache, &file).as_deref(), Some("text"));
    }

    #[test]
    fn a_file_that_is_not_text_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "Deny\0").unwrap();
        assert!(HtaccessCache::default().read(&file).is_err());
        assert!(HtaccessCache::default().read(folder.path()).is_err());
    }
}
