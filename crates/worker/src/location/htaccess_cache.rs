//! The texts of `.htaccess` files, kept while the files stay as they are: one look at each name for a client's request,
//! whatever that leads to.

use std::cell::{Cell, RefCell};
use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use base::cache::Cache;
use base::stamp::Stamp;
use config::{LONGEST_HTACCESS, regular};

/// Names that are remembered; they follow strangers' words.
const MAX_KNOWN: usize = 1000;
/// The clock of a file system may stand still for so long: two changes in that time have the same date.
const TICK: Duration = Duration::from_millis(50);

#[derive(Default)]
pub struct HtaccessCache {
    known: RefCell<Cache<PathBuf, CachedLook, MAX_KNOWN>>,
    /// Which of the clients' requests it is.
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
    /// It had not just been changed when it was read: a later change has another stamp.
    is_settled: bool,
}

impl HtaccessCache {
    /// What is known is looked at again from now on.
    pub fn next_turn(&self) {
        self.turn.set(self.turn.get() + 1);
    }

    /// The text of a file, or that there is none.
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

/// As it was `before`, or read.
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
    let (it, bytes) = regular::read(file, LONGEST_HTACCESS)?;
    let stamp = Stamp::of(&it);
    let is_settled = stamp.age_at(begun) > TICK;
    match bytes.contains(&0) {
        true => Err(io::Error::new(ErrorKind::InvalidData, "it is not a text")),
        false => Ok(HtaccessText { text: String::from_utf8_lossy(&bytes).into(), stamp, is_settled }),
    }
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
    fn one_request_sees_one_state() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, file) = (HtaccessCache::default(), folder.path().join("file"));
        assert_eq!(read(&cache, &file), None);
        std::fs::write(&file, "text").unwrap();
        assert_eq!(cache.read(&file), Ok(None));
        assert_eq!(read(&cache, &file).as_deref(), Some("text"));
    }

    #[test]
    fn what_is_no_text_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "Deny\0").unwrap();
        assert!(HtaccessCache::default().read(&file).is_err());
        assert!(HtaccessCache::default().read(folder.path()).is_err());
    }
}
