//! Which requests' bodies are unpacked before a program reads them: `SetInputFilter DEFLATE`, `AddInputFilter DEFLATE
//! extension…`, and how much may come out of them.

use std::collections::BTreeMap;

use super::super::draft::Draft;
use super::compress::{extension, has_extension, is_deflate_among};

/// What a section says; `None`: nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inflate {
    /// `SetInputFilter`: everything; `Some(false)` is `SetInputFilter None`.
    all: Option<bool>,
    /// `AddInputFilter`: extensions in lower case, and whether what is sent to files with them is unpacked.
    extensions: BTreeMap<String, bool>,
    /// `DeflateInflateLimitRequestBody`; 0: as `LimitRequestBody` says.
    pub limit: Option<u64>,
    /// `DeflateInflateRatioLimit`
    pub ratio: Option<u64>,
    /// `DeflateInflateRatioBurst`
    pub burst: Option<u64>,
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
    /// Merges what an inner section says.
    pub fn merge(&mut self, inner: &Inflate) {
        self.all = inner.all.or(self.all);
        self.extensions.extend(inner.extensions.iter().map(|(extension, on)| (extension.clone(), *on)));
        self.limit = inner.limit.or(self.limit);
        self.ratio = inner.ratio.or(self.ratio);
        self.burst = inner.burst.or(self.burst);
    }

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

/// `SetInputFilter filter[;filter…]|None`
pub fn set_filter(draft: &mut Draft, names: &str) {
    let all = !names.eq_ignore_ascii_case("none") && is_deflate_among(draft, names, FOREIGN);
    draft.said().rules.inflate.all = Some(all);
}

/// `AddInputFilter filter[;filter…] extension…`
pub fn by_extension(draft: &mut Draft, args: &[String]) {
    let Some((names, extensions)) = args.split_first() else { return };
    let inflates = is_deflate_among(draft, names, FOREIGN);
    say_of(draft, extensions, inflates);
}

/// `RemoveInputFilter extension…`
pub fn remove_filter(draft: &mut Draft, extensions: &[String]) {
    say_of(draft, extensions, false);
}

const FOREIGN: &str = "the only filter here is DEFLATE, bodies of requests reach programs as they were sent otherwise";

fn say_of(draft: &mut Draft, extensions: &[String], inflates: bool) {
    for word in extensions {
        draft.said().rules.inflate.extensions.insert(extension(word), inflates);
    }
}
