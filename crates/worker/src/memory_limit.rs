//! Memory limit of a worker. The master measures workers from outside, which is slow; a program that leaks a megabyte
//! per request exceeds its limit sooner. The worker therefore samples its own memory before a request, at most every
//! few milliseconds, and exits after that request if it is too large.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use sys::Words;
use wire::memory_words::{CEILING_WORD, newborn_word_of, word_of};

/// Minimum time between two samples.
const EVERY: Duration = Duration::from_millis(5);

/// A worker that exceeds its memory limit within this many requests needs the memory for loaded code; later growth
/// points to a leak.
pub const FIRST_REQUESTS: u64 = 10;

/// A worker's limit.
pub struct MemoryLimit {
    words: Rc<Words>,
    /// Slot of the worker, which selects its words.
    slot: u32,
    /// `MaxMemoryPerChild`
    max_private: Option<u64>,
    statm: Option<File>,
    /// Anonymous memory at the worker's start, in bytes.
    born_with: u64,
    next: Instant,
}

/// The worker exceeds its limit.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// Growth since the worker's start, in bytes.
    pub grown: u64,
    /// Name of the directive that sets the limit.
    pub directive: &'static str,
}

impl MemoryLimit {
    /// Creates the limit of a worker that starts now in `slot`. If a ceiling is set, RLIMIT_DATA becomes the current
    /// data plus the ceiling.
    pub fn new(words: Rc<Words>, slot: u32, max_private: Option<u64>) -> MemoryLimit {
        let statm = File::open("/proc/self/statm").ok();
        let has = statm.as_ref().and_then(OwnMemory::read).unwrap_or_default();
        let ceiling = words.read(CEILING_WORD);
        if ceiling > 0 {
            bound(has.data.saturating_add(ceiling));
        }
        let next = Instant::now() + EVERY;
        MemoryLimit { words, slot, max_private, statm, born_with: has.anonymous, next }
    }

    /// Anonymous memory of this worker in bytes; `None`: the last sample is too recent.
    pub fn look(&mut self) -> Option<u64> {
        let now = Instant::now();
        if now < self.next {
            return None;
        }
        self.next = now + EVERY;
        self.anonymous()
    }

    /// Anonymous memory of this worker, in bytes.
    pub fn anonymous(&self) -> Option<u64> {
        Some(OwnMemory::read(self.statm.as_ref()?)?.anonymous)
    }

    /// Whether `has` bytes exceed a limit.
    pub fn is_exceeded_by(&self, has: u64) -> Option<TooLarge> {
        let grown = has.saturating_sub(self.born_with);
        let directive = match self.max_private {
            Some(most) if grown > most => "MaxMemoryPerChild",
            _ if self.exceeds_allowance(has, grown) => "MemoryBudget",
            _ => return None,
        };
        Some(TooLarge { grown, directive })
    }

    fn exceeds_allowance(&self, has: u64, grown: u64) -> bool {
        match (self.words.read(word_of(self.slot)), self.words.read(newborn_word_of(self.slot))) {
            (0, 0) => false,
            (0, newborn) => grown > newborn,
            (allowed, _) => has > allowed,
        }
    }
}

/// Memory of this process, in bytes.
#[derive(Debug, Default)]
struct OwnMemory {
    /// Resident memory without a file behind it.
    anonymous: u64,
    /// Private writable address space, which the kernel compares with RLIMIT_DATA.
    data: u64,
}

impl OwnMemory {
    /// See proc_pid_statm(5): size, resident, shared, text, lib, data, dt, in pages.
    fn read(statm: &File) -> Option<OwnMemory> {
        let mut line = [0; 128];
        let length = statm.read_at(&mut line, 0).ok()?;
        let fields = std::str::from_utf8(line.get(..length)?).ok()?;
        let mut pages = fields.split_ascii_whitespace().map(|field| field.parse::<u64>().ok());
        let (resident, shared) = (pages.nth(1)??, pages.next()??);
        let data = pages.nth(2)??;
        Some(OwnMemory { anonymous: resident.saturating_sub(shared) * PAGE, data: data * PAGE })
    }
}

const PAGE: u64 = 4096;

/// Lowers RLIMIT_DATA of this process to `bytes`. Allocations beyond it fail with ENOMEM.
fn bound(bytes: u64) {
    let unlimited = libc::RLIM_INFINITY;
    let (soft, hard) = getrlimit(Resource::RLIMIT_DATA).unwrap_or((unlimited, unlimited));
    let _ = setrlimit(Resource::RLIMIT_DATA, bytes.min(soft).min(hard), hard);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_grown_is_too_large() {
        let (mut master, memory) = sys::new_words(wire::memory_words::COUNT).expect("words");
        let words = Rc::new(sys::map_words(&memory).expect("mapped"));
        let mut limit = MemoryLimit::new(words, 7, None);
        assert_eq!(limit.look(), None, "not so soon");
        limit.next = Instant::now();
        let taken = vec![1_u8; 32 << 20];
        let has = limit.look().expect("it is time");
        assert!(has >= limit.born_with + (32 << 20));
        let directive = |limit: &MemoryLimit| limit.is_exceeded_by(has).map(|exceeded| exceeded.directive);
        assert_eq!(directive(&limit), None, "nothing limits it");
        master.write(newborn_word_of(7), 64 << 20);
        assert_eq!(directive(&limit), None, "a newborn may have more");
        master.write(word_of(7), limit.born_with + (16 << 20));
        assert_eq!(directive(&limit), Some("MemoryBudget"));
        limit.max_private = Some(16 << 20);
        assert_eq!(directive(&limit), Some("MaxMemoryPerChild"));
        drop(taken);
    }
}
