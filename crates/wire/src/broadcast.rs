//! A message of one worker to the subscribers of a channel in any worker. The front passes its bytes on as they are.
//!
//! ```text
//!   length of the channel's name u8 · channel · message
//! ```

use crate::{Cursor, Malformed};

/// Longest name of a channel, in bytes.
pub const MAX_CHANNEL: usize = 255;
/// Longest message, in bytes; `BroadcastMaxMessage` can only lower it.
pub const MAX_MESSAGE: usize = 64 * 1024;
/// Longest encoded [`BroadcastMessage`], in bytes.
pub const MAX_ENCODED: usize = 1 + MAX_CHANNEL + MAX_MESSAGE;
/// Maximum number of channels that a worker subscribes to.
pub const MAX_CHANNELS: usize = 10_000;
/// Maximum number of subscriptions of a worker to one channel.
pub const MAX_SUBSCRIPTIONS: u32 = 1_000_000;
/// Bytes that the kernel needs for a packet beside its content, at most.
const AROUND_PACKET: usize = 1024;

/// A message and the name of its channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BroadcastMessage<'a> {
    /// 1 to [`MAX_CHANNEL`] bytes.
    pub channel: &'a [u8],
    /// Up to [`MAX_MESSAGE`] bytes.
    pub message: &'a [u8],
}

impl<'a> BroadcastMessage<'a> {
    /// The encoded message. Fails outside of the limits.
    pub fn encode(&self) -> Result<Vec<u8>, Malformed> {
        check_channel(self.channel)?;
        if self.message.len() > MAX_MESSAGE {
            return Err(Malformed("a broadcast message longer than allowed"));
        }
        let length = [self.channel.len() as u8];
        Ok([&length, self.channel, self.message].concat())
    }

    /// Reads what [`BroadcastMessage::encode`] has written.
    pub fn read(encoded: &'a [u8]) -> Result<BroadcastMessage<'a>, Malformed> {
        let mut from = Cursor(encoded);
        let length = from.u8()?;
        let channel = from.bytes(length.into())?;
        check_channel(channel)?;
        if from.0.len() > MAX_MESSAGE {
            return Err(Malformed("a broadcast message longer than allowed"));
        }
        Ok(BroadcastMessage { channel, message: from.0 })
    }
}

/// Whether `name` may name a channel.
pub fn check_channel(name: &[u8]) -> Result<(), Malformed> {
    match name.len() {
        1..=MAX_CHANNEL => Ok(()),
        _ => Err(Malformed("the name of a channel without bytes, or longer than allowed")),
    }
}

/// Bytes of a socket's buffer that an encoded message of this length occupies, at most.
pub fn cost(encoded: usize) -> usize {
    encoded + AROUND_PACKET
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written_within_the_limits() {
        let (name, text) = (vec![b'n'; MAX_CHANNEL], vec![0; MAX_MESSAGE]);
        for (channel, message) in [(&b"a"[..], &b""[..]), (&name, &text)] {
            let whole = BroadcastMessage { channel, message };
            let encoded = whole.encode().expect("within the limits");
            assert_eq!(BroadcastMessage::read(&encoded), Ok(whole));
        }
        for (channel, message) in [(&b""[..], &b"x"[..]), (&[b'n'; 256], b"x"), (b"a", &[0; MAX_MESSAGE + 1])] {
            assert!(BroadcastMessage { channel, message }.encode().is_err());
        }
    }

    #[test]
    fn malformed_messages_are_errors() {
        for encoded in [&b""[..], b"\0", b"\0x", b"\x02a"] {
            assert!(BroadcastMessage::read(encoded).is_err(), "{encoded:?}");
        }
        let long = [&b"\x01a"[..], &[0; MAX_MESSAGE + 1]].concat();
        assert!(BroadcastMessage::read(&long).is_err());
    }
}
