//! The body of a cached response in other content codings.

use std::sync::Mutex;

use bytes::Bytes;

use crate::base::lock::lock;
use config::response::compress::Coding;

/// Maximum number of stored forms; further ones are compressed for each request. A location uses one level of each
/// coding.
const MAX_FORMS: usize = 4;

/// The compressed forms of one response. `None` as the body: compression does not make it shorter.
#[derive(Debug, Default)]
pub struct Forms(Mutex<Vec<(Coding, u32, Option<Bytes>)>>);

impl Forms {
    /// The body in this coding and level. The outer `None`: it was not compressed yet.
    pub fn get(&self, coding: Coding, level: u32) -> Option<Option<Bytes>> {
        let forms = lock(&self.0);
        let (_, _, packed) = forms.iter().find(|(of, at, _)| (*of, *at) == (coding, level))?;
        Some(packed.clone())
    }

    /// Stores a form, and returns by how many bytes the memory use grows.
    pub fn put(&self, coding: Coding, level: u32, packed: Option<Bytes>) -> usize {
        let mut forms = lock(&self.0);
        if forms.len() == MAX_FORMS || forms.iter().any(|(of, at, _)| (*of, *at) == (coding, level)) {
            return 0;
        }
        let length = packed.as_ref().map_or(0, Bytes::len);
        forms.push((coding, level, packed));
        length
    }
}
