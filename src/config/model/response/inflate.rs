//! Which requests' bodies are unpacked before a program reads them: `SetInputFilter DEFLATE`, `AddInputFilter DEFLATE
//! extension…`, and how much may come out of them.

use crate::config::model::merge::{by_key, keep, settings};
use std::collections::BTreeMap;

use super::compress::has_extension;

settings! {
    /// What a section says; `None`: nothing.
    #[derive(Clone, Default, PartialEq, Eq)]
    place struct Inflate {
        /// `SetInputFilter`: everything; `Some(false)` is `SetInputFilter None`.
        pub all: Option<bool>, keep;
        /// `AddInputFilter`: extensions in lower case, and whether what is sent to files with them is unpacked.
        pub extensions: BTreeMap<String, bool>, by_key;
        /// `DeflateInflateLimitRequestBody`; 0: as `LimitRequestBody` says.
        pub limit: Option<u64>, keep;
        /// `DeflateInflateRatioLimit`
        pub ratio: Option<u64>, keep;
        /// `DeflateInflateRatioBurst`
        pub burst: Option<u64>, keep;
    }
}

/// httpd's numbers.
const RATIO: u64 = 200;
const BURST: u64 = 3;

/// What may come out of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// So many bytes.
    pub length: u64,
    /// So many times as many as went in,
    pub ratio: u64,
    /// and as many or more only so many buffers in a row.
    pub burst: u64,
}

impl Inflate {
    /// Whether what is sent to this file is unpacked.
    pub fn takes(&self, file: &str) -> bool {
        self.all == Some(true) || has_extension(&self.extensions, file)
    }

    /// What may come out of a body, where `most` bytes may be sent.
    pub fn bounds(&self, most: u64) -> Bounds {
        Bounds {
            length: self.limit.filter(|limit| *limit != 0).unwrap_or(most),
            ratio: self.ratio.unwrap_or(RATIO),
            burst: self.burst.unwrap_or(BURST),
        }
    }
}
