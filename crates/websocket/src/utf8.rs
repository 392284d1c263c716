//! UTF-8 that arrives in pieces.

use std::str::from_utf8;

/// Checks pieces of a text. A character may be divided between pieces.
#[derive(Debug, Default)]
pub struct Utf8Check {
    /// The beginning of a character at the end of the last piece.
    begun: Vec<u8>,
}

impl Utf8Check {
    /// Whether the text is valid up to the end of this piece.
    pub fn push(&mut self, piece: &[u8]) -> bool {
        let mut rest = piece;
        while !self.begun.is_empty() {
            let Some((first, others)) = rest.split_first() else { return true };
            self.begun.push(*first);
            rest = others;
            match from_utf8(&self.begun) {
                Ok(_) => self.begun.clear(),
                Err(error) if error.error_len().is_some() => return false,
                Err(_) => {}
            }
        }
        let Err(error) = from_utf8(rest) else { return true };
        self.begun.extend_from_slice(
            rest.get(error.valid_up_to()..).filter(|_| error.error_len().is_none()).unwrap_or_default(),
        );
        error.error_len().is_none()
    }

    /// Whether the text may end here.
    pub fn is_complete(&self) -> bool {
        self.begun.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Whether the whole text is valid, and the number of pieces after which that is known.
    fn check(text: &[u8], size: usize) -> bool {
        let mut check = Utf8Check::default();
        text.chunks(size).all(|piece| check.push(piece)) && check.is_complete()
    }

    #[test]
    fn an_invalid_text_is_found_at_its_first_wrong_byte() {
        for text in [&b"\xc0"[..], b"\xed\xa0", b"\xf4\x90", b"a\x80", b"\xf5", b"\xe2\x28"] {
            let mut check = Utf8Check::default();
            let (last, before) = text.split_last().expect("a byte");
            assert!(check.push(before) && !check.push(&[*last]), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn pieces_of_a_text_do_not_matter(text: String, bytes: Vec<u8>, cut in 0..9_usize, size in 1..5_usize) {
            prop_assert!(check(text.as_bytes(), size));
            prop_assert_eq!(check(&bytes, size), from_utf8(&bytes).is_ok());
            let shorter = &text.as_bytes()[..text.len().saturating_sub(cut)];
            prop_assert_eq!(check(shorter, size), from_utf8(shorter).is_ok());
        }
    }
}
