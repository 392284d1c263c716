//! `UNIQUE_ID`: the identity of a request in programs, rules and headers (httpd manual, mod_unique_id).
//!
//! A `UNIQUE_ID` ends with the request's name in logs (`%L`), so that one search finds both. The beginning is random
//! and differs from server to server.

use std::sync::LazyLock;

use super::RequestContext;
use crate::log::entry::since_1970;
use crate::trace::random;
use wire::frame::name_in_logs;

/// Variable of mod_unique_id, for programs and logs.
pub const UNIQUE_ID: &str = "UNIQUE_ID";
/// Length of an identity, as in httpd.
const LENGTH: usize = 27;
/// Least length of the random beginning. A longer name in logs makes the identity longer.
const MIN_LENGTH: usize = 8;

/// The random beginning of this process.
static BEGINNING: LazyLock<String> = LazyLock::new(|| {
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let letter = |number: u64| char::from(LETTERS[(number % 62) as usize]);
    (0..LENGTH).map(|_| letter(random())).collect()
});

impl RequestContext {
    /// The identity of the request, which its subrequests and internal redirects share. Clients cannot choose it.
    pub fn unique_id(&self) -> String {
        with_beginning(&BEGINNING, &name_in_logs(since_1970(self.received), self.number()))
    }
}

fn with_beginning(beginning: &str, name: &str) -> String {
    let length = LENGTH.saturating_sub(name.len()).max(MIN_LENGTH);
    [beginning.get(..length).unwrap_or(beginning), name].concat()
}

/// Whether a variable is the identity, or that of a request before an internal redirect.
pub fn is_unique_id(name: &str) -> bool {
    name.trim_start_matches("REDIRECT_") == UNIQUE_ID
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_has_27_characters_and_ends_with_the_name_in_logs() {
        let (beginning, name) = (&*BEGINNING, name_in_logs(1_800_000_000_000_000, 0x1a2b));
        let id = with_beginning(beginning, &name);
        assert_eq!(id.len(), 27);
        assert!(id.ends_with(&name) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'), "{id}");
        let long = name_in_logs(u64::MAX, u64::MAX);
        assert_eq!(with_beginning(beginning, &long).len(), long.len() + MIN_LENGTH);
        assert!(is_unique_id("REDIRECT_REDIRECT_UNIQUE_ID") && !is_unique_id("UNIQUE"));
    }
}
