//! Search for the start tag, which may be divided between pieces.

use std::borrow::Cow;

/// `SSIStartTag`, by default `<!--#`, with the table of the Knuth-Morris-Pratt search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartTag {
    tag: Vec<u8>,
    /// For each length of a partial match, the length of the longest shorter one that ends at the same byte.
    shorter: Vec<usize>,
}

impl StartTag {
    /// A tag, which is not empty.
    pub fn new(tag: &[u8]) -> StartTag {
        let mut shorter = vec![0; tag.len() + 1];
        let mut length = 0;
        for (at, byte) in tag.iter().enumerate().skip(1) {
            while length > 0 && tag.get(length) != Some(byte) {
                length = shorter.get(length).copied().unwrap_or_default();
            }
            length += usize::from(tag.get(length) == Some(byte));
            if let Some(entry) = shorter.get_mut(at + 1) {
                *entry = length;
            }
        }
        StartTag { tag: tag.to_vec(), shorter }
    }

    pub fn len(&self) -> usize {
        self.tag.len()
    }

    /// The first bytes of the tag.
    pub fn part(&self, length: usize) -> &[u8] {
        self.tag.get(..length).unwrap_or_default()
    }

    /// Reads up to the end of the tag, or to the end of the input. `matched` is the number of bytes of the tag before
    /// the input, then at the position that was reached. Returns text that does not belong to the tag.
    pub fn find<'a>(&self, matched: &mut usize, input: &mut &'a [u8]) -> Option<Cow<'a, [u8]>> {
        while *matched > 0 && *matched < self.len() {
            let (byte, rest) = input.split_first()?;
            if self.tag.get(*matched) == Some(byte) {
                *matched += 1;
                *input = rest;
                continue;
            }
            let before = std::mem::replace(matched, self.shorter.get(*matched).copied().unwrap_or_default());
            return Some(Cow::Owned(self.part(before - *matched).to_vec()));
        }
        if *matched == self.len() {
            return None;
        }
        let whole = *input;
        let first = *self.tag.first()?;
        let mut from = 0;
        while let Some(at) = whole.get(from..).and_then(|rest| memchr::memchr(first, rest)).map(|at| from + at) {
            let candidate = whole.get(at..).unwrap_or_default();
            let same = candidate.iter().zip(&self.tag).take_while(|(one, other)| one == other).count();
            if same == self.len() || same == candidate.len() {
                *matched = same;
                *input = candidate.get(same..).unwrap_or_default();
                return whole.get(..at).filter(|text| !text.is_empty()).map(Cow::Borrowed);
            }
            // A tag of few different bytes may begin again within what has matched.
            from = at + same - self.shorter.get(same).copied().unwrap_or_default().min(same.saturating_sub(1));
            from = from.max(at + 1);
        }
        *input = &[];
        Some(Cow::Borrowed(whole)).filter(|text| !text.is_empty())
    }
}
