//! Copies bytes into shared words and out of them.

use super::sync::{AtomicU64, Ordering::Relaxed};

/// Copies `bytes` to the words from index `at` on; the rest of the last word is zeroed. Without enough words nothing is
/// copied.
pub fn store(words: &[AtomicU64], at: usize, bytes: &[u8]) {
    let Some(words) = words.get(at..at + bytes.len().div_ceil(8)) else { return };
    let (whole, rest) = bytes.as_chunks::<8>();
    for (word, bytes) in words.iter().zip(whole) {
        word.store(u64::from_ne_bytes(*bytes), Relaxed);
    }
    if let Some(last) = words.get(whole.len()) {
        let mut bytes = [0; 8];
        bytes.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        last.store(u64::from_ne_bytes(bytes), Relaxed);
    }
}

/// Appends `length` bytes from the word index `at` on. Without enough words nothing is appended.
pub fn load(words: &[AtomicU64], at: usize, length: usize, into: &mut Vec<u8>) {
    let Some(words) = words.get(at..at.saturating_add(length.div_ceil(8))) else { return };
    let start = into.len();
    let end = start + length;
    into.resize(start + words.len() * 8, 0);
    let (room, _) = into.get_mut(start..).unwrap_or_default().as_chunks_mut::<8>();
    for (bytes, word) in room.iter_mut().zip(words) {
        *bytes = word.load(Relaxed).to_ne_bytes();
    }
    into.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_any_length_are_copied_unchanged() {
        let words: Vec<AtomicU64> = (0..8).map(|_| AtomicU64::new(u64::MAX)).collect();
        let text: Vec<u8> = (1..=48).collect();
        for length in 0..text.len() {
            store(&words, 1, &text[..length]);
            let mut read = b"before".to_vec();
            load(&words, 1, length, &mut read);
            assert_eq!(read, [b"before", &text[..length]].concat());
        }
        load(&words, 7, 9, &mut Vec::new());
    }
}
