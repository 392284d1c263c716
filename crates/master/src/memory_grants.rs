//! How much memory each worker may have: words in shared memory that only the master writes and that molds and workers
//! read.

use std::io;

use wire::control::Slot;
use wire::memory_words;

use super::children::peer::Fd;
use sys::{Words, new_words};

pub struct MemoryGrants {
    words: Words,
    fd: Fd,
}

impl MemoryGrants {
    /// Creates the words; no memory is granted yet.
    pub fn new() -> io::Result<MemoryGrants> {
        let (words, fd) = new_words(memory_words::COUNT)?;
        Ok(MemoryGrants { words, fd: fd.into() })
    }

    /// A descriptor for molds, whose workers inherit it.
    pub fn fd(&self) -> Fd {
        self.fd.clone()
    }

    /// The memory of all processes together, in bytes; `None`: memory is not limited.
    pub fn set_ceiling(&mut self, bytes: Option<u64>) {
        self.words.write(memory_words::CEILING_WORD, bytes.unwrap_or(0));
    }

    /// The limit of the worker at `slot` in bytes: once it was measured, and until then.
    pub fn set(&mut self, slot: Slot, measured: u64, newborn: u64) {
        self.words.write(memory_words::word_of(slot), measured);
        self.words.write(memory_words::newborn_word_of(slot), newborn);
    }
}
