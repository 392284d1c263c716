//! What fits one message to the front. A longer one would be no message of ours: the front would have this worker killed.

use wire::reply::{HEADER, LogKind, MAX_PACKET, MAX_PAYLOAD};

/// All headers of a head.
pub(crate) const MAX_HEADERS: usize = 56 * 1024;
/// The file or the path that is the answer.
pub(crate) const MAX_TARGET: usize = 32 * 1024;
/// Nobody reads so much behind a status.
const MAX_REASON: usize = 512;
/// All values for the access log.
const MAX_VALUES: usize = 6 * 1024;
/// What a header or a log value takes besides its bytes.
const EACH: usize = 9;
/// What a head or an end takes besides the above.
const AROUND: usize = HEADER + 16;

// A small response is one packet: head, body and end.
const _: () = assert!(2 * AROUND + MAX_HEADERS + MAX_REASON + HEADER + MAX_PAYLOAD + MAX_VALUES <= MAX_PACKET);

/// What a header takes.
pub(crate) fn length(name: &[u8], value: &[u8]) -> usize {
    name.len() + value.len() + EACH
}

/// Whether so many headers can be sent.
pub(crate) fn fits(headers: &[(Vec<u8>, Vec<u8>)]) -> bool {
    headers.iter().map(|(name, value)| length(name, value)).sum::<usize>() <= MAX_HEADERS
}

/// The words behind a status, as far as they can be sent.
pub(crate) fn reason(words: &[u8]) -> Vec<u8> {
    words[..words.len().min(MAX_REASON)].to_vec()
}

/// Values for the access log, as far as they can be sent. Their names are the configuration's.
pub(crate) fn cut(log: &mut [(LogKind, Vec<u8>, Vec<u8>)]) {
    let names: usize = log.iter().map(|(_, name, _)| length(name, b"")).sum();
    let mut room = MAX_VALUES.saturating_sub(names);
    for (.., value) in log {
        value.truncate(room);
        room -= value.len();
    }
}
