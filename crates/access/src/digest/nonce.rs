//! Nonces of Digest authentication: the time when the server made them, and a proof that it did. Nothing is stored.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sha1::{Digest, Sha1};
use subtle::ConstantTimeEq;

use config::access::NonceLifetime;

/// Length of the time in bytes: seconds since 1970.
const TIME: usize = 8;
/// Length of the proof in bytes.
const PROOF: usize = 16;
/// A response names the next nonce if the client's has no more than this time left, as in httpd.
const NEAR_ITS_END: Duration = Duration::from_secs(30);

/// Age of a client's nonce.
#[derive(Debug, PartialEq, Eq)]
pub enum NonceAge {
    /// Not a nonce of this server.
    Foreign,
    /// The nonce has expired, or was made with the key of an earlier start.
    Stale,
    Fresh {
        /// Whether the client should use another one soon.
        is_near_its_end: bool,
    },
}

pub fn made(key: &[u8; 16], now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs().to_be_bytes();
    STANDARD_NO_PAD.encode([&seconds[..], &proof(key, seconds)].concat())
}

/// Determines the age of a nonce that a client has sent.
pub fn age(key: &[u8; 16], nonce: &str, lifetime: NonceLifetime, now: SystemTime) -> NonceAge {
    let bytes = STANDARD_NO_PAD.decode(nonce).ok().filter(|bytes| bytes.len() == TIME + PROOF);
    let Some((seconds, theirs)) = bytes.as_ref().and_then(|bytes| bytes.split_first_chunk::<TIME>()) else {
        return NonceAge::Foreign;
    };
    if !bool::from(proof(key, *seconds).ct_eq(theirs)) {
        return NonceAge::Stale;
    }
    let since = UNIX_EPOCH.checked_add(Duration::from_secs(u64::from_be_bytes(*seconds)));
    let age = since.and_then(|since| now.duration_since(since).ok()).unwrap_or_default();
    match lifetime {
        NonceLifetime::Unlimited => NonceAge::Fresh { is_near_its_end: false },
        NonceLifetime::Limited(most) if age > most => NonceAge::Stale,
        NonceLifetime::Limited(most) => NonceAge::Fresh { is_near_its_end: age + NEAR_ITS_END > most },
    }
}

/// A hash of key and time. Both have a fixed length, so nobody can extend a known hash to that of another time.
fn proof(key: &[u8; 16], seconds: [u8; TIME]) -> [u8; PROOF] {
    let digest = Sha1::new().chain_update(key).chain_update(seconds).finalize();
    let mut proof = [0; PROOF];
    proof.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
    proof
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 16] = [7; 16];
    const LIFETIME: NonceLifetime = NonceLifetime::Limited(Duration::from_secs(300));

    fn after(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_800_000_000 + seconds)
    }

    #[test]
    fn a_nonce_is_fresh_for_its_lifetime() {
        let nonce = made(&KEY, after(0));
        let age_after = |seconds, lifetime| age(&KEY, &nonce, lifetime, after(seconds));
        assert_eq!(age_after(270, LIFETIME), NonceAge::Fresh { is_near_its_end: false });
        assert_eq!(age_after(300, LIFETIME), NonceAge::Fresh { is_near_its_end: true });
        assert_eq!(age_after(301, LIFETIME), NonceAge::Stale);
        assert_eq!(age_after(1 << 32, NonceLifetime::Unlimited), NonceAge::Fresh { is_near_its_end: false });
    }

    #[test]
    fn a_nonce_with_another_key_is_stale_and_other_text_foreign() {
        assert_eq!(age(&[8; 16], &made(&KEY, after(0)), LIFETIME, after(0)), NonceAge::Stale);
        for text in ["", "invented", "dcd98b7102dd2f0e8b11d0f600bfb0c093aaaaaaaaaaaaaaaaaa", "é"] {
            assert_eq!(age(&KEY, text, LIFETIME, after(0)), NonceAge::Foreign, "{text}");
        }
    }
}
