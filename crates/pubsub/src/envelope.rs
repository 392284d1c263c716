//! What servers send each other, as bytes. All of it comes from a store that others can write to.
//!
//! ```text
//!   version u8 · kind u8 · node u64 · number u64 · body
//! ```
//!
//! The body of a message is an encoded [`BroadcastMessage`](wire::broadcast::BroadcastMessage). The body of a report of
//! counts has for each channel: count u32 · length of the name u8 · name.

use wire::Malformed;
use wire::broadcast::check_channel;

/// Version of the format. A server drops what has another one.
pub const VERSION: u8 = 1;
/// Maximum size of a report's body, in bytes.
pub const MAX_REPORT: usize = 32 * 1024;

const MESSAGE: u8 = 1;
const COUNTS: u8 = 2;

/// A message or a report, and the server that has sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Envelope<'a> {
    /// Random number of the front that has sent this.
    pub node: u64,
    /// Number of this envelope among those of the node.
    pub number: u64,
    pub content: Content<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content<'a> {
    /// An encoded message for the subscribers of its channel.
    Message(&'a [u8]),
    /// Counts of subscriptions, for [`counts`].
    Counts(&'a [u8]),
}

/// Why an envelope cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// The version of another release.
    Version(u8),
    Malformed,
}

impl<'a> Envelope<'a> {
    pub fn encode(&self) -> Vec<u8> {
        let (kind, body) = match self.content {
            Content::Message(body) => (MESSAGE, body),
            Content::Counts(body) => (COUNTS, body),
        };
        [&[VERSION, kind][..], &self.node.to_be_bytes(), &self.number.to_be_bytes(), body].concat()
    }

    pub fn read(bytes: &'a [u8]) -> Result<Envelope<'a>, Unusable> {
        let (version, rest) = bytes.split_first().ok_or(Unusable::Malformed)?;
        if *version != VERSION {
            return Err(Unusable::Version(*version));
        }
        let (kind, rest) = rest.split_first().ok_or(Unusable::Malformed)?;
        let (node, rest) = rest.split_first_chunk().ok_or(Unusable::Malformed)?;
        let (number, body) = rest.split_first_chunk().ok_or(Unusable::Malformed)?;
        let content = match *kind {
            MESSAGE => Content::Message(body),
            COUNTS => Content::Counts(body),
            _ => return Err(Unusable::Malformed),
        };
        Ok(Envelope { node: u64::from_be_bytes(*node), number: u64::from_be_bytes(*number), content })
    }
}

/// Bodies of reports with these counts, at least one.
pub fn reports<'a>(counts: impl IntoIterator<Item = (&'a [u8], u64)>) -> Vec<Vec<u8>> {
    let mut bodies = vec![Vec::new()];
    for (channel, count) in counts {
        let Ok(length) = u8::try_from(channel.len()) else { continue };
        if bodies.last().is_none_or(|body| body.len() + 5 + channel.len() > MAX_REPORT) {
            bodies.push(Vec::new());
        }
        if let Some(body) = bodies.last_mut() {
            body.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_be_bytes());
            body.push(length);
            body.extend_from_slice(channel);
        }
    }
    bodies
}

/// Channels and counts of a report's body.
pub fn counts(body: &[u8]) -> Result<Vec<(&[u8], u32)>, Malformed> {
    const SHORT: Malformed = Malformed("a report of counts shorter than its length fields say");
    if body.len() > MAX_REPORT {
        return Err(Malformed("a report of counts longer than allowed"));
    }
    let (mut rest, mut counts) = (body, Vec::new());
    while !rest.is_empty() {
        let (count, after) = rest.split_first_chunk().ok_or(SHORT)?;
        let (length, after) = after.split_first().ok_or(SHORT)?;
        let (channel, after) = after.split_at_checked(usize::from(*length)).ok_or(SHORT)?;
        check_channel(channel)?;
        counts.push((channel, u32::from_be_bytes(*count)));
        rest = after;
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_envelope_is_read_as_it_was_written() {
        for content in [Content::Message(b"\x01amessage"), Content::Counts(b"")] {
            let envelope = Envelope { node: u64::MAX - 1, number: 7, content };
            assert_eq!(Envelope::read(&envelope.encode()), Ok(envelope));
        }
    }

    #[test]
    fn another_version_and_malformed_bytes_are_errors() {
        let good = Envelope { node: 1, number: 2, content: Content::Message(b"x") }.encode();
        assert_eq!(Envelope::read(&[&[2], &good[1..]].concat()), Err(Unusable::Version(2)));
        assert_eq!(Envelope::read(&[&[VERSION, 9], &good[2..]].concat()), Err(Unusable::Malformed));
        for length in 0..18 {
            assert!(Envelope::read(&good[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn reports_have_a_maximum_size_and_are_read_as_they_were_written() {
        let names: Vec<Vec<u8>> = (0..5000).map(|number| format!("channel {number}").into_bytes()).collect();
        let bodies = reports(names.iter().map(|name| (name.as_slice(), 3)));
        assert!(bodies.len() > 1 && bodies.iter().all(|body| body.len() <= MAX_REPORT));
        let read: Vec<_> = bodies.iter().flat_map(|body| counts(body).expect("well-formed")).collect();
        assert!(read.iter().map(|(name, _)| *name).eq(names.iter().map(Vec::as_slice)));
        assert!(read.iter().all(|(_, count)| *count == 3));
        assert!(counts(&[0, 0, 0, 1, 1, b'a'].repeat(MAX_REPORT / 6 + 1)).is_err());
        assert!(reports([]).concat().is_empty());
        for malformed in [&b"\0"[..], b"\0\0\0\x01", b"\0\0\0\x01\0", b"\0\0\0\x01\x02a"] {
            assert!(counts(malformed).is_err(), "{malformed:?}");
        }
    }
}
