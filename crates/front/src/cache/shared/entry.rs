//! A response as the store has it. Another version, a damaged or foreign entry is as good as none.
//!
//! ```text
//!   version · digest of the key and of all that follows · status · reason · headers · headers of `Header always` ·
//!   terms · body, all with their lengths
//! ```

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, HeaderName, HeaderValue, SET_COOKIE, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, StatusCode};
use hyper::ext::ReasonPhrase;

use crate::base::response_facts::AlwaysHeaders;
use crate::cache::forms::Forms;
use crate::cache::response::CachedResponse;
use crate::cache::terms::Terms;
use stores::digest;

/// Version of the format.
const VERSION: u8 = 1;
/// Length of a digest in hex.
const DIGEST: usize = 64;
/// Maximum number of fields of a header.
const MAX_FIELDS: u32 = 1000;
/// Fields that no stored response has, because they are for one client or one connection.
const NEVER: [HeaderName; 4] = [SET_COOKIE, TRANSFER_ENCODING, CONNECTION, UPGRADE];

/// Encodes a response for the key with this digest.
pub fn encode(key: &str, response: &CachedResponse) -> Vec<u8> {
    let mut content = Vec::with_capacity(response.body.len() + 1024);
    content.extend_from_slice(&response.status.as_u16().to_le_bytes());
    add(&mut content, response.reason.as_ref().map(ReasonPhrase::as_bytes).unwrap_or_default());
    add_headers(&mut content, &response.headers);
    content.push(response.always.is_shared.into());
    add_headers(&mut content, &response.always.fields);
    let terms = &response.terms;
    for time in [terms.lifetime, terms.initial_age, terms.while_revalidating, terms.if_error] {
        content.extend_from_slice(&u64::try_from(time.as_millis()).unwrap_or(u64::MAX).to_le_bytes());
    }
    content.extend_from_slice(&[terms.never_stale.into(), terms.for_users.into()]);
    content.extend_from_slice(&(terms.vary.len() as u32).to_le_bytes());
    terms.vary.iter().for_each(|name| add(&mut content, name.as_str().as_bytes()));
    add(&mut content, &response.body);
    [&[VERSION], digest(&[key.as_bytes(), &content]).as_bytes(), &content].concat()
}

/// Decodes an entry of this age. `None` if it is not whole, or not of this key and version.
pub fn decode(key: &str, entry: &[u8], age: Duration) -> Option<CachedResponse> {
    let (version, rest) = entry.split_first()?;
    let (sum, content) = rest.split_at_checked(DIGEST)?;
    if *version != VERSION || digest(&[key.as_bytes(), content]).as_bytes() != sum {
        return None;
    }
    let mut parts = Parts(content);
    let status = StatusCode::from_u16(u16::from_le_bytes(parts.array()?)).ok()?;
    let reason = match parts.part()? {
        b"" => None,
        reason => Some(ReasonPhrase::try_from(reason).ok()?),
    };
    let headers = parts.headers()?;
    let is_shared = parts.flag()?;
    let always = AlwaysHeaders { fields: parts.headers()?, is_shared };
    let [lifetime, initial_age, while_revalidating, if_error] =
        [parts.time()?, parts.time()?, parts.time()?, parts.time()?];
    let (never_stale, for_users) = (parts.flag()?, parts.flag()?);
    let mut vary = Vec::new();
    for _ in 0..parts.count()? {
        vary.push(HeaderName::from_bytes(parts.part()?).ok()?);
    }
    let body = Bytes::copy_from_slice(parts.part()?);
    let is_whole = parts.0.is_empty() && has_length(&headers, body.len());
    let terms = Terms {
        lifetime,
        initial_age: initial_age.saturating_add(age),
        ask_always: false,
        never_stale,
        while_revalidating,
        if_error,
        for_users,
        vary,
        omitted: Vec::new(),
    };
    let since = Instant::now();
    is_whole.then(|| CachedResponse { status, reason, headers, always, body, forms: Forms::default(), terms, since })
}

/// Whether a Content-Length, if there is one, is the length of the body.
fn has_length(headers: &HeaderMap, length: usize) -> bool {
    headers.get_all(CONTENT_LENGTH).iter().all(|value| value.as_bytes() == length.to_string().as_bytes())
}

fn add(to: &mut Vec<u8>, part: &[u8]) {
    to.extend_from_slice(&(part.len() as u32).to_le_bytes());
    to.extend_from_slice(part);
}

fn add_headers(to: &mut Vec<u8>, headers: &HeaderMap) {
    to.extend_from_slice(&(headers.len() as u32).to_le_bytes());
    for (name, value) in headers {
        add(to, name.as_str().as_bytes());
        add(to, value.as_bytes());
    }
}

/// The rest of an entry.
struct Parts<'a>(&'a [u8]);

impl<'a> Parts<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    fn part(&mut self) -> Option<&'a [u8]> {
        let length = u32::from_le_bytes(self.array()?) as usize;
        let (part, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(part)
    }

    fn count(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.array()?)).filter(|count| *count <= MAX_FIELDS)
    }

    fn flag(&mut self) -> Option<bool> {
        self.array().map(|[byte]| byte != 0)
    }

    fn time(&mut self) -> Option<Duration> {
        self.array().map(u64::from_le_bytes).map(Duration::from_millis)
    }

    fn headers(&mut self) -> Option<HeaderMap> {
        let mut headers = HeaderMap::new();
        for _ in 0..self.count()? {
            let name = HeaderName::from_bytes(self.part()?).ok()?;
            let value = HeaderValue::from_bytes(self.part()?).ok()?;
            if NEVER.contains(&name) {
                return None;
            }
            headers.append(name, value);
        }
        Some(headers)
    }
}

#[cfg(test)]
mod tests {
    use http::header::{ACCEPT_LANGUAGE, CONTENT_TYPE, ETAG};

    use super::*;

    fn response() -> CachedResponse {
        let mut headers = HeaderMap::new();
        headers.append(CONTENT_TYPE, HeaderValue::from_static("text/html"));
        headers.append(ETAG, HeaderValue::from_static("\"1\""));
        headers.append(ETAG, HeaderValue::from_bytes(b"\xe9").expect("a value"));
        let terms = Terms {
            lifetime: Duration::from_secs(60),
            initial_age: Duration::from_secs(1),
            never_stale: true,
            while_revalidating: Duration::from_secs(30),
            if_error: Duration::MAX,
            for_users: true,
            vary: vec![ACCEPT_LANGUAGE],
            ..Terms::default()
        };
        CachedResponse {
            status: StatusCode::NOT_FOUND,
            reason: ReasonPhrase::try_from(&b"Gone Fishing"[..]).ok(),
            always: AlwaysHeaders { fields: headers.clone(), is_shared: true },
            headers,
            body: Bytes::from_static(b"body"),
            forms: Forms::default(),
            terms,
            since: Instant::now(),
        }
    }

    #[test]
    fn a_response_survives_the_store_and_grows_older() {
        let (before, age) = (response(), Duration::from_secs(7));
        let after = decode("a", &encode("a", &before), age).expect("an entry");
        assert_eq!((after.status, &after.headers, &after.body), (before.status, &before.headers, &before.body));
        assert_eq!(after.reason.map(|reason| reason.as_bytes().to_vec()), Some(b"Gone Fishing".to_vec()));
        assert_eq!((after.always.fields, after.always.is_shared), (before.always.fields, true));
        let if_error = Duration::from_millis(u64::MAX);
        assert_eq!(after.terms, Terms { initial_age: Duration::from_secs(8), if_error, ..before.terms });
    }

    #[test]
    fn a_damaged_or_foreign_entry_is_none() {
        let entry = encode("a", &response());
        assert!(decode("b", &entry, Duration::ZERO).is_none(), "the key of another page");
        for length in 0..entry.len() {
            assert!(decode("a", &entry[..length], Duration::ZERO).is_none(), "{length}");
        }
        for at in 0..entry.len() {
            let mut damaged = entry.clone();
            damaged[at] ^= 1;
            assert!(decode("a", &damaged, Duration::ZERO).is_none(), "{at}");
        }
        assert!(decode("a", &[&entry[..], b"x"].concat(), Duration::ZERO).is_none());
    }

    /// An entry with a valid digest.
    fn sealed(content: &[u8]) -> Vec<u8> {
        [&[VERSION], digest(&[b"a", content]).as_bytes(), content].concat()
    }

    #[test]
    fn an_entry_of_an_intruder_breaks_nothing() {
        for field in ["set-cookie", "transfer-encoding", "content-length"] {
            let mut response = response();
            response.headers.append(HeaderName::from_static(field), HeaderValue::from_static("5"));
            assert!(decode("a", &encode("a", &response), Duration::ZERO).is_none(), "{field}");
        }
        let content = &encode("a", &response())[1 + DIGEST..];
        assert!(decode("a", &sealed(content), Duration::ZERO).is_some());
        for at in 0..content.len() {
            for byte in [0, 0x7f, 0xff] {
                let mut damaged = content.to_vec();
                damaged[at] = byte;
                let _ = decode("a", &sealed(&damaged), Duration::MAX);
            }
        }
    }
}
