//! Layout of the words by which the master limits the memory of workers. The master writes the words, workers read
//! them.
//!
//! A value is in bytes; 0 means that there is no limit yet.

/// Number of words: one for all workers, and two for each slot.
pub const COUNT: usize = 16384;

/// Index of the word that limits the memory of a worker beyond its size at the fork, in bytes.
pub const CEILING_WORD: usize = 0;

/// Index of the limit for the anonymous memory of the worker in `slot`. 0: that worker has not been measured yet.
pub fn word_of(slot: u32) -> usize {
    CEILING_WORD + 1 + 2 * slot as usize
}

/// Index of the limit for the growth since its fork of a worker in `slot` that has not been measured yet.
pub fn newborn_word_of(slot: u32) -> usize {
    word_of(slot) + 1
}
