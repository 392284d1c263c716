//! Decompression of request bodies: `SetInputFilter DEFLATE`, `AddInputFilter DEFLATE extension…`, and limits of the
//! decompressed size.

use crate::model::merge::{by_key, keep, settings};
use std::collections::BTreeMap;

use super::compress::has_extension;

settings! {
    /// Settings of a section. `None`: not set.
    #[derive(Clone, Default, PartialEq, Eq)]
    place struct Inflate {
        /// `SetInputFilter`: all bodies. `Some(false)` is `SetInputFilter None`.
        pub all: Option<bool>, keep;
        /// `AddInputFilter`: extensions in lower case, and whether bodies sent to files with them are decompressed.
        pub extensions: BTreeMap<String, bool>, by_key;
        /// `DeflateInflateLimitRequestBody`; 0: the value of `LimitRequestBody`.
        pub limit: Option<u64>, keep;
        /// `DeflateInflateRatioLimit`
        pub ratio: Option<u64>, keep;
        /// `DeflateInflateRatioBurst`
        pub burst: Option<u64>, keep;
    }
}

/// Default ratio of httpd.
const RATIO: u64 = 200;
const BURST: u64 = 3;

/// Limits of a decompressed body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InflateBounds {
    /// Maximum length in bytes.
    pub length: u64,
    /// Maximum ratio of decompressed to compressed length.
    pub ratio: u64,
    /// Number of consecutive buffers that may exceed the ratio.
    pub burst: u64,
}

impl Inflate {
    /// Whether bodies sent to some files are decompressed.
    pub fn is_on(&self) -> bool {
        self.all == Some(true) || !self.extensions.is_empty()
    }

    /// Whether bodies sent to this file are decompressed.
    pub fn takes(&self, file: &str) -> bool {
        self.all == Some(true) || has_extension(&self.extensions, file)
    }

    /// Limits of a decompressed body. `most` is the maximum length of a body as sent, in bytes.
    pub fn bounds(&self, most: u64) -> InflateBounds {
        InflateBounds {
            length: self.limit.filter(|limit| *limit != 0).unwrap_or(most),
            ratio: self.ratio.unwrap_or(RATIO),
            burst: self.burst.unwrap_or(BURST),
        }
    }
}
