//! The file of one response, which other threads write and read.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock, Weak};

use bytes::Bytes;

use super::totals::Totals;
use crate::base::{blocking, pieces};
use config::Spooling;

/// The file is created by the first write. `SpoolTotalLimit` counts it until it is closed.
pub struct ResponseFile {
    rules: Spooling,
    totals: Arc<Totals>,
    file: OnceLock<File>,
    /// Bytes that count for the limits.
    reserved: AtomicU64,
}

impl ResponseFile {
    /// Creates no file yet.
    pub fn new(rules: &Spooling, totals: &Arc<Totals>) -> ResponseFile {
        ResponseFile {
            rules: rules.clone(),
            totals: totals.clone(),
            file: OnceLock::new(),
            reserved: AtomicU64::new(0),
        }
    }

    /// Reserves `bytes`, unless that exceeds `SpoolLimit` or `SpoolTotalLimit`.
    pub fn reserve(&self, bytes: u64) -> bool {
        let may = self.reserved.load(Relaxed).saturating_add(bytes) <= self.rules.most
            && self.totals.reserve_disk(bytes, self.rules.total);
        if may {
            self.reserved.fetch_add(bytes, Relaxed);
        }
        may
    }

    /// Returns `bytes` that were reserved and will not be written.
    pub fn free(&self, bytes: u64) {
        self.reserved.fetch_sub(bytes, Relaxed);
        self.totals.free_disk(bytes);
    }

    /// Reads from `at` on. `WouldBlock`: the bytes are not in the page cache.
    pub fn read_from_memory(&self, at: u64, length: usize) -> io::Result<Bytes> {
        pieces::read_from_memory(self.opened()?, at, length)
    }

    /// Reads from `at` on, and may block on the disk.
    pub fn read(&self, at: u64, length: usize) -> io::Result<Bytes> {
        pieces::read(self.opened()?, at, length)
    }

    fn opened(&self) -> io::Result<&File> {
        self.file.get().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn write(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        if self.file.get().is_none() {
            // Only one batch of a response is written at a time.
            let _ = self.file.set(super::file(&self.rules)?);
        }
        self.opened()?.write_all_at(bytes, at)
    }
}

impl Drop for ResponseFile {
    fn drop(&mut self) {
        let (totals, reserved) = (self.totals.clone(), *self.reserved.get_mut());
        match self.file.take() {
            None => totals.free_disk(reserved),
            Some(file) => blocking::drop_aside(Closing { file: Some(file), totals, reserved }),
        }
    }
}

/// Returns the reservation after the file was closed.
struct Closing {
    file: Option<File>,
    totals: Arc<Totals>,
    reserved: u64,
}

impl Drop for Closing {
    fn drop(&mut self) {
        drop(self.file.take());
        self.totals.free_disk(self.reserved);
    }
}

/// Pieces of a response that are written together.
pub struct Batch {
    /// Dangling if the response is not wanted any more.
    file: Weak<ResponseFile>,
    at: u64,
    pieces: Vec<Bytes>,
}

impl Batch {
    /// An empty batch, to be written from `at` on.
    pub fn new(file: &Arc<ResponseFile>, at: u64) -> Batch {
        Batch { file: Arc::downgrade(file), at, pieces: Vec::new() }
    }

    pub fn add(&mut self, bytes: Bytes) {
        self.pieces.push(bytes);
    }

    pub fn len(&self) -> usize {
        self.pieces.iter().map(Bytes::len).sum()
    }

    /// Writes the batch, and may block on the disk.
    pub fn write(self) -> io::Result<()> {
        match self.file.upgrade() {
            Some(file) => file.write(&self.pieces.concat(), self.at),
            None => Ok(()),
        }
    }
}
