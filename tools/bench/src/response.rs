//! A response, as far as the load tester checks it.

use memchr::memmem::Finder;

use super::times::Moments;

/// A response that was received to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompleteResponse {
    /// 200
    pub status: u16,
    /// Number of bytes received.
    pub received: u64,
    /// Times of the response's parts.
    pub moments: Moments,
}

/// Searches for a text in a body that comes in pieces.
pub struct BodySearch<'t> {
    text: Option<&'t Finder<'t>>,
    /// The end of the pieces so far, in which the text may have begun.
    tail: Vec<u8>,
}

impl<'t> BodySearch<'t> {
    /// A search for `text`; without a text it succeeds immediately.
    pub fn with(text: Option<&'t Finder<'t>>) -> BodySearch<'t> {
        BodySearch { text: text.filter(|text| !text.needle().is_empty()), tail: Vec::new() }
    }

    /// Searches the next piece.
    pub fn see(&mut self, piece: &[u8]) {
        let Some(text) = self.text else { return };
        self.tail.extend_from_slice(piece);
        if text.find(&self.tail).is_some() {
            (self.text, self.tail) = (None, Vec::new());
            return;
        }
        let kept = self.tail.len().min(text.needle().len() - 1);
        self.tail.drain(..self.tail.len() - kept);
    }

    /// Whether the text was found.
    pub fn was_found(&self) -> bool {
        self.text.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_across_pieces_of_a_body() {
        let finder = Finder::new("hello");
        for cut in 0..=11 {
            let (head, tail) = "say hellohe".split_at(cut);
            let mut body = BodySearch::with(Some(&finder));
            body.see(head.as_bytes());
            body.see(tail.as_bytes());
            assert!(body.was_found(), "{cut}");
        }
        let mut body = BodySearch::with(Some(&finder));
        body.see(b"hell");
        body.see(b"hell");
        assert!(!body.was_found() && BodySearch::with(None).was_found());
    }
}
