//! The terms of an event worker that leaves the WebSocket protocol to the front, in its response to a handshake.

use http::header::{HeaderName, HeaderValue};

use websocket::WebSocketLimits;

/// The field of a 101 after which a worker sends and receives messages.
pub const FIELD: HeaderName = HeaderName::from_static("cameleer-websocket");
/// The first word of its value.
const FRAMES: &str = "frames";
/// Largest limit of messages that has an effect, in bytes: the worker gets lengths of 32 bits.
const MAX_MESSAGE_BYTES: u64 = 1 << 30;

/// What a worker wants that leaves the protocol to the front: `frames`, or
/// `frames; control; max=BYTES; deflate` for a program that has its own limit and asks for compression.
pub struct Dialect {
    pub limits: WebSocketLimits,
    /// The worker gets pings and pongs, and may end without a close frame.
    pub passes_control: bool,
    pub deflates: bool,
}

impl Dialect {
    /// The dialect of this field; nothing for another protocol. `most` is the limit of a program that has none.
    pub fn of(value: &HeaderValue, most: u64) -> Option<Dialect> {
        let mut words = value.to_str().ok()?.split(';').map(str::trim);
        words.next().filter(|word| *word == FRAMES)?;
        let (mut most, mut passes_control, mut deflates) = (most, false, false);
        for word in words {
            match word.split_once('=') {
                Some(("max", number)) => most = number.parse().ok()?,
                None if word == "control" => passes_control = true,
                None if word == "deflate" => deflates = true,
                _ => return None,
            }
        }
        let message = usize::try_from(most.min(MAX_MESSAGE_BYTES)).unwrap_or(usize::MAX);
        let limits = WebSocketLimits { message, frame: message };
        // A program that takes no part in the protocol does not choose the compression either.
        Some(Dialect { limits, passes_control, deflates: deflates || !passes_control })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_may_have_its_own_limit_and_choose_compression() {
        let dialect = |value| Dialect::of(&HeaderValue::from_static(value), 1000);
        let shown = |value| dialect(value).map(|known| (known.limits.message, known.passes_control, known.deflates));
        assert_eq!(shown("frames"), Some((1000, false, true)));
        assert_eq!(shown("frames; control; max=5"), Some((5, true, false)));
        assert_eq!(shown("frames; control; max=5; deflate"), Some((5, true, true)));
        assert_eq!(shown("frames; control; max=9999999999"), Some((1 << 30, true, false)));
        for unknown in ["", "bytes", "frames; max=x", "frames; more"] {
            assert_eq!(shown(unknown), None, "{unknown}");
        }
    }
}
