//! Close frames (RFC 6455, sections 5.5.1 and 7.4).

use crate::codes::may_be_sent;
use crate::failure::WebSocketError;
use crate::frame::MAX_CONTROL_BYTES;

/// The content of a close frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloseReason {
    /// A code that may stand in a frame: see [`super::codes::may_be_sent`].
    pub code: u16,
    /// Text for a person, which may be empty.
    pub reason: String,
}

impl CloseReason {
    /// The content of a close frame with this payload; none if the payload is empty.
    ///
    /// # Errors
    /// If the payload is a single byte, its code is none that may be sent, or its reason is no UTF-8.
    pub fn decode(payload: &[u8]) -> Result<Option<CloseReason>, WebSocketError> {
        let (code, reason) = match payload {
            [] => return Ok(None),
            [_] => return Err(WebSocketError::CloseLength),
            [high, low, reason @ ..] => (u16::from_be_bytes([*high, *low]), reason),
        };
        if !may_be_sent(code) {
            return Err(WebSocketError::CloseCode(code));
        }
        let reason = std::str::from_utf8(reason).map_err(|_| WebSocketError::Utf8)?;
        Ok(Some(CloseReason { code, reason: reason.to_owned() }))
    }

    /// The payload of the close frame. A longer reason is cut at the end of a character.
    pub fn encode(&self) -> Vec<u8> {
        let mut payload = self.code.to_be_bytes().to_vec();
        for character in self.reason.chars().scan(payload.len(), |length, character| {
            *length += character.len_utf8();
            (*length <= MAX_CONTROL_BYTES).then_some(character)
        }) {
            payload.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        payload
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::NORMAL;

    #[test]
    fn only_codes_of_frames_are_valid() {
        for (code, valid) in [
            (0, false),
            (999, false),
            (1000, true),
            (1004, false),
            (1005, false),
            (1006, false),
            (1012, true),
            (1015, false),
            (2999, false),
            (3000, true),
            (4999, true),
            (5000, false),
        ] {
            let expected = if valid {
                Ok(Some(CloseReason { code, reason: "bye".to_owned() }))
            } else {
                Err(WebSocketError::CloseCode(code))
            };
            assert_eq!(CloseReason::decode(&[&code.to_be_bytes()[..], b"bye"].concat()), expected, "{code}");
        }
        assert_eq!(CloseReason::decode(b""), Ok(None));
        assert_eq!(CloseReason::decode(b"\x03"), Err(WebSocketError::CloseLength));
        assert_eq!(CloseReason::decode(b"\x03\xe8\xff"), Err(WebSocketError::Utf8));
    }

    #[test]
    fn a_long_reason_is_cut_at_a_character() {
        let close = CloseReason { code: NORMAL, reason: "ä".repeat(100) };
        let payload = close.encode();
        assert_eq!(payload.len(), 124);
        assert_eq!(CloseReason::decode(&payload), Ok(Some(CloseReason { code: NORMAL, reason: "ä".repeat(61) })));
    }
}
