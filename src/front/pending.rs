//! The part of an answer that its client has not taken yet. A little is kept in memory, and then the worker waits. When the
//! client turns out to be slow, the rest goes to a file without a name, so that it holds no worker.
//!
//! ```text
//!   client ◀── chunks ◀── spool ◀── late ◀── worker        late: what came when the spool was full
//! ```

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use bytes::Bytes;

use super::payload::PIECE;

/// In memory above which the worker is no longer read.
const HIGH_WATER: usize = 256 * 1024;
/// In memory below which it is read again.
const LOW_WATER: usize = HIGH_WATER / 2;

/// See the module's text.
#[derive(Default)]
pub struct Pending {
    chunks: VecDeque<Bytes>,
    spool: Option<Spool>,
    late: VecDeque<Bytes>,
    /// Of `chunks` and `late` together.
    in_memory: usize,
}

struct Spool {
    file: File,
    /// What was written and not read yet.
    from: u64,
    to: u64,
    limit: u64,
}

impl Pending {
    /// What the worker says.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.late.is_empty()
            && let Some(spool) = &mut self.spool
            && spool.write(bytes).is_ok()
        {
            return;
        }
        self.in_memory += bytes.len();
        let queue = if self.spool.is_some() { &mut self.late } else { &mut self.chunks };
        queue.push_back(Bytes::copy_from_slice(bytes));
    }

    /// What the client gets next.
    pub fn pop(&mut self) -> io::Result<Option<Bytes>> {
        if let (true, Some(spool)) = (self.chunks.is_empty(), &mut self.spool) {
            if let Some(piece) = spool.read()? {
                return Ok(Some(piece));
            }
            self.spool = None;
            self.chunks = std::mem::take(&mut self.late);
        }
        let chunk = self.chunks.pop_front();
        self.in_memory -= chunk.as_ref().map_or(0, Bytes::len);
        Ok(chunk)
    }

    /// All of it, when that is one piece or nothing.
    pub fn pop_only(&mut self) -> Option<Bytes> {
        if self.spool.is_some() || self.chunks.len() > 1 {
            return None;
        }
        self.in_memory = 0;
        Some(self.chunks.pop_front().unwrap_or_default())
    }

    /// How much it is.
    pub fn len(&self) -> u64 {
        self.in_memory as u64 + self.spool.as_ref().map_or(0, |spool| spool.to - spool.from)
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the worker must wait for the client.
    pub fn is_full(&self) -> bool {
        match self.spool {
            Some(_) => !self.late.is_empty(),
            None => self.in_memory > HIGH_WATER,
        }
    }

    /// Whether a worker that waits can go on.
    pub fn has_room(&self) -> bool {
        !self.is_full() && self.in_memory < LOW_WATER
    }

    /// Forgets it all.
    pub fn clear(&mut self) {
        *self = Pending::default();
    }

    /// What comes from now on goes to a file in TMPDIR, up to `limit` bytes at one time. Says whether it was not so already.
    pub fn begin_spool(&mut self, limit: u64) -> io::Result<bool> {
        if self.spool.is_some() || limit == 0 {
            return Ok(false);
        }
        self.spool = Some(Spool { file: tempfile::tempfile()?, from: 0, to: 0, limit });
        Ok(true)
    }
}

impl Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.to + bytes.len() as u64 > self.limit {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.file.write_all_at(bytes, self.to)?;
        self.to += bytes.len() as u64;
        Ok(())
    }

    fn read(&mut self) -> io::Result<Option<Bytes>> {
        let mut piece = vec![0; (self.to - self.from).min(PIECE as u64) as usize];
        self.file.read_exact_at(&mut piece, self.from)?;
        self.from += piece.len() as u64;
        Ok((!piece.is_empty()).then(|| piece.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(pending: &mut Pending) -> Vec<u8> {
        std::iter::from_fn(|| pending.pop().expect("readable")).flatten().collect()
    }

    #[test]
    fn without_a_file_the_worker_waits_and_with_one_it_does_not() {
        let mut pending = Pending::default();
        pending.push(&[1; HIGH_WATER]);
        assert!(!pending.is_full());
        pending.push(&[2; 10]);
        assert!(pending.is_full() && !pending.has_room());
        assert!(pending.begin_spool(1 << 20).expect("TMPDIR has room"));
        pending.push(&[3; 100_000]);
        assert!(!pending.is_full());
        assert_eq!(pending.len(), HIGH_WATER as u64 + 100_010);
        let all = drain(&mut pending);
        assert_eq!(all, [vec![1; HIGH_WATER], vec![2; 10], vec![3; 100_000]].concat());
        assert!(pending.is_empty() && pending.has_room());
    }

    #[test]
    fn what_a_full_file_does_not_take_comes_after_it() {
        let mut pending = Pending::default();
        pending.push(b"first ");
        assert!(pending.begin_spool(10).expect("TMPDIR has room"));
        assert!(!pending.begin_spool(10).expect("nothing to do"));
        for piece in [&b"second "[..], b"third ", b"4th"] {
            pending.push(piece);
        }
        assert!(pending.is_full());
        assert_eq!(drain(&mut pending), b"first second third 4th");
        assert!(!pending.is_full());
    }

    #[test]
    fn a_single_piece_is_had_at_once() {
        let mut pending = Pending::default();
        assert_eq!(pending.pop_only(), Some(Bytes::new()));
        pending.push(b"one");
        assert_eq!(pending.pop_only().as_deref(), Some(&b"one"[..]));
        pending.push(b"one");
        pending.push(b"two");
        assert_eq!(pending.pop_only(), None);
        assert_eq!(drain(&mut pending), b"onetwo");
    }
}
