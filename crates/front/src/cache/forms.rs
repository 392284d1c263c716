//! The body of an answer that is kept in other codings.

use std::sync::Mutex;

use bytes::Bytes;

use crate::base::lock::lock;
use config::response::compress::Coding;

/// More forms of one answer are compressed each time: a place has one level of each coding.
const MOST: usize = 4;

/// The forms of one answer. `None`: compressed it would not be shorter.
#[derive(Debug, Default)]
pub struct Forms(Mutex<Vec<(Coding, u32, Option<Bytes>)>>);

impl Forms {
    /// The body in that coding, if it was compressed before.
    pub fn get(&self, coding: Coding, level: u32) -> Option<Option<Bytes>> {
        let forms = lock(&self.0);
        let (_, _, packed) = forms.iter().find(|(of, at, _)| (*of, *at) == (coding, level))?;
        Some(packed.clone())
    }

    /// Keeps it, and says how many bytes there are more.
    pub fn put(&self, coding: Coding, level: u32, packed: Option<Bytes>) -> usize {
        let mut forms = lock(&self.0);
        if forms.len() == MOST || forms.iter().any(|(of, at, _)| (*of, *at) == (coding, level)) {
            return 0;
        }
        let length = packed.as_ref().map_or(0, Bytes::len);
        forms.push((coding, level, packed));
        length
    }
}
