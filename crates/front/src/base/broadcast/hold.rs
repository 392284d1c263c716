//! The fields with which a program leaves its response with the front: `Cameleer-Hold` and `Cameleer-Channel`.

use std::sync::Arc;

use http::header::{HeaderMap, HeaderName};
use percent_encoding::percent_decode;
use wire::broadcast::MAX_CHANNEL;
use wire::control::GenerationNumber;

/// Kind of the hold: `stream`, `raw` or `response`.
const HOLD: HeaderName = HeaderName::from_static("cameleer-hold");
/// Names of channels, percent-encoded, between commas.
const CHANNEL: HeaderName = HeaderName::from_static("cameleer-channel");
/// Maximum number of channels of one response.
const MAX_CHANNELS: usize = 16;

/// What follows the program's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldKind {
    /// Messages: as server-sent events in a response of `text/event-stream`, as they are in others.
    Stream,
    /// Messages as they are.
    Raw,
    /// The first message is the response, and the program's output is sent if none comes.
    Response,
}

/// A program's request to hold its response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoldRequest {
    pub kind: HoldKind,
    /// 1 to [`MAX_CHANNELS`] different names.
    pub channels: Arc<[Box<[u8]>]>,
}

/// What the front's configuration adds to a [`HoldRequest`].
#[derive(Debug, Clone, Copy)]
pub struct HoldTerms {
    /// Messages are sent as server-sent events.
    pub as_events: bool,
    /// Maximum number of held responses.
    pub most: usize,
    /// The generation whose settings the response uses, and that therefore stays in memory.
    pub generation: GenerationNumber,
}

/// Whether this is the name of a field for the front.
pub fn is_for_front(name: &HeaderName) -> bool {
    *name == HOLD || *name == CHANNEL
}

/// Takes the fields out of a program's response. Fails with the reason for invalid ones.
pub fn take(headers: &mut HeaderMap) -> Result<Option<HoldRequest>, String> {
    // Nearly no response has them, and a comparison of names costs less than the hash of one.
    if !headers.keys().any(is_for_front) {
        return Ok(None);
    }
    let mut channels: Vec<Box<[u8]>> = Vec::new();
    for value in headers.get_all(CHANNEL) {
        for name in value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            let name: Box<[u8]> = percent_decode(name).collect();
            if !(1..=MAX_CHANNEL).contains(&name.len()) {
                let length = name.len();
                return Err(format!("Cameleer-Channel: a name has 1 to {MAX_CHANNEL} bytes, not {length}"));
            }
            if !channels.contains(&name) {
                channels.push(name);
            }
            if channels.len() > MAX_CHANNELS {
                return Err(format!("Cameleer-Channel: a response has at most {MAX_CHANNELS} channels"));
            }
        }
    }
    headers.remove(CHANNEL);
    let Some(kind) = headers.remove(HOLD) else {
        return if channels.is_empty() { Ok(None) } else { Err("Cameleer-Channel without Cameleer-Hold".to_owned()) };
    };
    let kind = match kind.as_bytes() {
        b"stream" => HoldKind::Stream,
        b"raw" => HoldKind::Raw,
        b"response" => HoldKind::Response,
        other => {
            return Err(format!("Cameleer-Hold: expected stream, raw or response, got \"{}\"", other.escape_ascii()));
        }
    };
    match channels.len() {
        0 => Err("Cameleer-Hold without Cameleer-Channel".to_owned()),
        _ => Ok(Some(HoldRequest { kind, channels: channels.into() })),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn taken(fields: &[(&'static str, &str)]) -> Result<Option<(HoldKind, Vec<String>)>, String> {
        let fields = fields
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).expect("a value")));
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(name, value);
        }
        let taken = take(&mut headers);
        assert!(taken.is_err() || headers.is_empty());
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        taken.map(|taken| taken.map(|hold| (hold.kind, hold.channels.iter().map(|name| text(name)).collect())))
    }

    #[test]
    fn names_are_decoded_and_each_counts_once() {
        let fields = [("cameleer-hold", "stream"), ("cameleer-channel", "a, b%2cc,a"), ("cameleer-channel", "d")];
        let names = ["a", "b,c", "d"].map(str::to_owned).to_vec();
        assert_eq!(taken(&fields), Ok(Some((HoldKind::Stream, names))));
        assert_eq!(taken(&[]), Ok(None));
    }

    #[test]
    fn invalid_fields_are_an_error_with_a_reason() {
        let many = (0..=MAX_CHANNELS).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
        for (hold, channel, reason) in [
            ("Stream", "a", "expected stream, raw or response, got \"Stream\""),
            ("stream", "", "1 to 255 bytes, not 0"),
            ("stream", "a,,b", "1 to 255 bytes, not 0"),
            ("stream", &"n".repeat(256), "1 to 255 bytes, not 256"),
            ("stream", &many, "a response has at most 16 channels"),
        ] {
            let error = taken(&[("cameleer-hold", hold), ("cameleer-channel", channel)]).expect_err(channel);
            assert!(error.contains(reason), "{error}");
        }
        assert!(taken(&[("cameleer-hold", "raw")]).is_err());
        assert!(taken(&[("cameleer-channel", "a")]).is_err());
    }
}
