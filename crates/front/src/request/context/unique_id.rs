//! `UNIQUE_ID`: the identity of a request in programs, rules and headers (httpd manual, mod_unique_id).
//!
//! A `UNIQUE_ID` ends with the request's name in logs (`%L`), so that one search finds both. The beginning is random
//! and differs from server to server.

use std::sync::LazyLock;

use http::header::{HeaderMap, HeaderName};

use super::RequestContext;
use crate::log::entry::since_1970;
use crate::trace::random;
use wire::frame::{name_length, put_name_in_logs};

/// Variable of mod_unique_id, for programs and logs.
pub const UNIQUE_ID: &str = "UNIQUE_ID";
/// Length of an identity, as in httpd.
pub const LENGTH: usize = 27;
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
        let mut id = Vec::with_capacity(LENGTH);
        self.put_unique_id(&mut id);
        String::from_utf8(id).unwrap_or_default()
    }

    /// Appends the identity of the request.
    pub fn put_unique_id(&self, text: &mut Vec<u8>) {
        put_id(text, &BEGINNING, since_1970(self.received), self.number());
    }
}

/// Appends an identity that ends with the name in logs of these numbers.
fn put_id(text: &mut Vec<u8>, beginning: &str, received: u64, number: u64) {
    let length = LENGTH.saturating_sub(name_length(received, number)).max(MIN_LENGTH);
    text.extend_from_slice(beginning.get(..length).unwrap_or(beginning).as_bytes());
    put_name_in_logs(text, received, number);
}

/// Maximum length of the id of a proxy.
const MAX_OF_PROXY: usize = 128;

/// The id in the header `name`, if it is one and harmless in logs and programs.
pub fn sent_by_proxy<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let only = values.next().filter(|_| values.next().is_none())?;
    let id = only.to_str().ok()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:+/=@~".contains(&byte);
    ((1..=MAX_OF_PROXY).contains(&id.len()) && id.bytes().all(is_plain)).then_some(id)
}

/// Whether a variable is the identity, or that of a request before an internal redirect.
pub fn is_unique_id(name: &str) -> bool {
    name.trim_start_matches("REDIRECT_") == UNIQUE_ID
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::frame::name_in_logs;

    #[test]
    fn the_id_of_a_proxy_is_short_and_plain() {
        let name = HeaderName::from_static("x-request-id");
        let sent = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(&name, value.parse().expect("a value"));
            }
            sent_by_proxy(&headers, &name).map(str::to_owned)
        };
        assert_eq!(sent(&["1f0c-A_b.c:d+e/f=g@h~"]).as_deref(), Some("1f0c-A_b.c:d+e/f=g@h~"));
        assert!(sent(&[&"x".repeat(128)]).is_some());
        for wrong in [
            &[][..],
            &[""],
            &["a b"],
            &["a\"b"],
            &["a,b"],
            &["a%0a"],
            &["a", "b"],
            &[&"x".repeat(129)],
            &[&"x".repeat(8000)],
        ] {
            assert_eq!(sent(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn an_identity_has_27_characters_and_ends_with_the_name_in_logs() {
        let id = |received, number| {
            let mut id = Vec::new();
            put_id(&mut id, &BEGINNING, received, number);
            String::from_utf8(id).expect("text")
        };
        let (name, id_of_name) = (name_in_logs(1_800_000_000_000_000, 0x1a2b), id(1_800_000_000_000_000, 0x1a2b));
        assert_eq!(id_of_name.len(), 27);
        let is_plain = id_of_name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        assert!(id_of_name.ends_with(&name) && is_plain, "{id_of_name}");
        assert_eq!(id(u64::MAX, u64::MAX).len(), name_in_logs(u64::MAX, u64::MAX).len() + MIN_LENGTH);
        assert!(is_unique_id("REDIRECT_REDIRECT_UNIQUE_ID") && !is_unique_id("UNIQUE"));
    }
}
