//! Limits that make a response fit the messages to the front: after a longer one the front would have this
//! worker killed.

use bytes::Bytes;
use wire::reply::{HEADER, LogKind, MAX_PACKET, MAX_PAYLOAD};

/// Maximum size of all headers of a head, in bytes.
pub(crate) const MAX_HEADERS: usize = 56 * 1024;
/// Path of a file or redirect that is the response, in bytes.
pub(crate) const MAX_TARGET: usize = 32 * 1024;
/// Maximum length of a reason phrase, in bytes.
const MAX_REASON: usize = 512;
/// Maximum size of all values for the access log, in bytes.
const MAX_VALUES: usize = 6 * 1024;
/// Overhead of a header or a log value, in bytes.
const EACH: usize = 9;
/// Further overhead of a head or an end, in bytes.
const AROUND: usize = HEADER + 16;

// A small response must fit into one packet with head, body and end.
const _: () = assert!(2 * AROUND + MAX_HEADERS + MAX_REASON + HEADER + MAX_PAYLOAD + MAX_VALUES <= MAX_PACKET);

/// Encoded length of a header.
pub(crate) fn length(name: &[u8], value: &[u8]) -> usize {
    name.len() + value.len() + EACH
}

/// Whether all headers together are below the limit.
pub(crate) fn fits(headers: &[(Bytes, Bytes)]) -> bool {
    headers.iter().map(|(name, value)| length(name, value)).sum::<usize>() <= MAX_HEADERS
}

/// The reason phrase, truncated to its maximum length.
pub(crate) fn reason(words: &[u8]) -> Vec<u8> {
    words[..words.len().min(MAX_REASON)].to_vec()
}

/// Shortens the values for the access log to their limit; the names come from the configuration.
pub(crate) fn cut(log: &mut [(LogKind, Vec<u8>, Vec<u8>)]) {
    let names: usize = log.iter().map(|(_, name, _)| length(name, b"")).sum();
    let mut room = MAX_VALUES.saturating_sub(names);
    for (.., value) in log {
        value.truncate(room);
        room -= value.len();
    }
}
