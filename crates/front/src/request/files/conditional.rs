//! Conditional requests (RFC 9110, section 13): whether a file is sent, or a 304 or 412, by its entity tag and date.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::header::{HeaderMap, HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE};

use config::response::FileEtag;
use config::response::compress::Coding;
use files::open::OpenedFile;

/// The validators of a file, which change with the file (RFC 9110, section 8.8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validators {
    /// The entity tag, a strong one, with its quotation marks; empty under `FileETag None`.
    pub etag: String,
    /// The modification time in whole seconds, the resolution of HTTP dates.
    pub modified: SystemTime,
}

/// The result of a request's conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConditionOutcome {
    Send,
    /// 304: the client has the current version.
    NotModified,
    /// 412: the client wanted another version than the current one.
    Failed,
}

impl Validators {
    /// The validators of `file`. `FileETag` selects inode, size and time for the tag; the default is size and time.
    pub fn of(file: &OpenedFile, etag: Option<FileEtag>) -> Validators {
        let usual = Validators::new(file.size, file.modified);
        let Some(FileEtag { inode, mtime, size }) = etag else { return usual };
        let micros = file.modified.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64);
        let parts = [(inode, file.inode), (size, file.size), (mtime, micros)];
        let parts: Vec<String> = parts.iter().filter(|(on, _)| *on).map(|(_, part)| format!("{part:x}")).collect();
        let etag = if parts.is_empty() { String::new() } else { format!("\"{}\"", parts.join("-")) };
        Validators { etag, ..usual }
    }

    /// The validators of `file`, whose entity tag is known.
    pub fn known(file: &OpenedFile, etag: &str) -> Validators {
        Validators { etag: etag.to_owned(), modified: in_seconds(file.modified) }
    }

    /// The validators of a precompressed variant: the coding in its tag distinguishes it from the original of the same
    /// time and size.
    pub fn of_coding(mut self, coding: Option<Coding>) -> Validators {
        if let Some(coding) = coding
            && self.etag.pop().is_some()
        {
            self.etag = format!("{}-{}\"", self.etag, coding.token());
        }
        self
    }

    /// The validators of a file that was chosen among variants: its tag changes with their list (RFC 2295, section
    /// 9.2).
    pub fn among(mut self, variants: Option<u64>) -> Validators {
        if let Some(variants) = variants
            && self.etag.pop().is_some()
        {
            self.etag = format!("{};{variants:x}\"", self.etag);
        }
        self
    }

    /// The validators of a file with this size and modification time.
    fn new(size: u64, modified: SystemTime) -> Validators {
        let since = modified.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Validators {
            // Formatting 128-bit numbers is slow; 64 bits suffice for half a million years.
            etag: format!("\"{size:x}-{:x}\"", since.as_micros() as u64),
            modified: in_seconds(modified),
        }
    }

    /// Evaluates the conditions of a GET or HEAD in the order of RFC 9110, section 13.2.2.
    pub fn judge(&self, headers: &HeaderMap) -> ConditionOutcome {
        if headers.contains_key(IF_MATCH) {
            if !self.is_named(headers, IF_MATCH, Compare::Strong) {
                return ConditionOutcome::Failed;
            }
        } else if date(headers, IF_UNMODIFIED_SINCE).is_some_and(|date| self.modified > date) {
            return ConditionOutcome::Failed;
        }
        if headers.contains_key(IF_NONE_MATCH) {
            if self.is_named(headers, IF_NONE_MATCH, Compare::Weak) {
                return ConditionOutcome::NotModified;
            }
        } else if date(headers, IF_MODIFIED_SINCE).is_some_and(|date| self.modified <= date) {
            return ConditionOutcome::NotModified;
        }
        ConditionOutcome::Send
    }

    /// Whether `If-Range` allows the `Range` header for the current version of the file (RFC 9110, section 13.1.5).
    pub fn allow_range(&self, headers: &HeaderMap) -> bool {
        match headers.get(IF_RANGE) {
            None => true,
            Some(value) if value.as_bytes().ends_with(b"\"") => value.as_bytes() == self.etag.as_bytes(),
            Some(_) => date(headers, IF_RANGE) == Some(self.modified),
        }
    }

    fn is_named(&self, headers: &HeaderMap, name: HeaderName, compare: Compare) -> bool {
        let lists = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
        lists.flat_map(|list| list.split(',')).map(str::trim).any(|tag| match compare {
            _ if tag == "*" => true,
            Compare::Strong => tag == self.etag,
            Compare::Weak => tag.strip_prefix("W/").unwrap_or(tag) == self.etag,
        })
    }
}

/// A time in whole seconds; none before 1970.
fn in_seconds(time: SystemTime) -> SystemTime {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    UNIX_EPOCH + Duration::from_secs(since.as_secs())
}

#[derive(Clone, Copy)]
enum Compare {
    Strong,
    Weak,
}

fn date(headers: &HeaderMap, name: HeaderName) -> Option<SystemTime> {
    httpdate::parse_http_date(headers.get(name)?.to_str().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_weighed_in_the_rfcs_order() {
        let modified = UNIX_EPOCH + Duration::new(1_000_000_000, 500);
        let file = Validators::new(45, modified);
        assert_eq!(file.etag, "\"2d-38d7ea4c68000\"");
        let (same, before, after) =
            ("Sun, 09 Sep 2001 01:46:40 GMT", "Sun, 09 Sep 2001 01:46:39 GMT", "Sun, 09 Sep 2001 01:46:41 GMT");
        let tag = file.etag.as_str();
        let weak = format!("W/{tag}");
        let list = format!("\"a\", {tag}");
        use ConditionOutcome::*;
        let cases: &[(&[(HeaderName, &str)], ConditionOutcome)] = &[
            (&[], Send),
            (&[(IF_NONE_MATCH, tag)], NotModified),
            (&[(IF_NONE_MATCH, &weak)], NotModified),
            (&[(IF_NONE_MATCH, &list)], NotModified),
            (&[(IF_NONE_MATCH, "*")], NotModified),
            (&[(IF_NONE_MATCH, "\"a\"")], Send),
            (&[(IF_NONE_MATCH, "\"a\""), (IF_MODIFIED_SINCE, after)], Send),
            (&[(IF_MODIFIED_SINCE, same)], NotModified),
            (&[(IF_MODIFIED_SINCE, after)], NotModified),
            (&[(IF_MODIFIED_SINCE, before)], Send),
            (&[(IF_MODIFIED_SINCE, "yesterday")], Send),
            (&[(IF_MATCH, tag)], Send),
            (&[(IF_MATCH, &weak)], Failed),
            (&[(IF_MATCH, "*")], Send),
            (&[(IF_MATCH, "\"a\"")], Failed),
            (&[(IF_MATCH, tag), (IF_UNMODIFIED_SINCE, before)], Send),
            (&[(IF_UNMODIFIED_SINCE, before)], Failed),
            (&[(IF_UNMODIFIED_SINCE, same)], Send),
            (&[(IF_MATCH, tag), (IF_NONE_MATCH, tag)], NotModified),
        ];
        for (headers, expected) in cases {
            assert_eq!(file.judge(&map(headers)), *expected, "{headers:?}");
        }
        for (value, expected) in [(tag, true), (&weak, false), (same, true), (after, false), ("x", false)] {
            assert_eq!(file.allow_range(&map(&[(IF_RANGE, value)])), expected, "{value}");
        }
    }

    fn map(headers: &[(HeaderName, &str)]) -> HeaderMap {
        headers.iter().map(|(name, value)| (name.clone(), value.parse().expect("a value"))).collect()
    }
}
