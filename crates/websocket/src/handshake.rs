//! The opening handshake (RFC 6455, section 4.2).

use std::fmt::{self, Display};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::header::{
    CONNECTION, HeaderMap, HeaderName, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{Method, StatusCode, Version};
use sha1::{Digest, Sha1};

use crate::extension::MessageDeflate;

/// The version of the protocol.
const VERSION: &str = "13";
/// What the accepted key is hashed with (section 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// A client's valid handshake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebSocketHandshake {
    /// The compression of messages, if the client offers it.
    pub deflate: Option<MessageDeflate>,
    accept: String,
    protocols: Vec<String>,
}

/// Why a request is no valid handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandshakeError {
    /// The request is no GET of HTTP/1.1.
    Request,
    /// `Connection` or `Upgrade` is missing.
    Fields,
    /// `Sec-WebSocket-Key` is missing, repeated, or not 16 bytes in Base64.
    Key,
    /// `Sec-WebSocket-Version` is not 13.
    Version,
}

impl WebSocketHandshake {
    /// The handshake of the request with these values.
    ///
    /// # Errors
    /// For a request that is no handshake of version 13.
    pub fn check(method: &Method, version: Version, headers: &HeaderMap) -> Result<WebSocketHandshake, HandshakeError> {
        if method != Method::GET || version != Version::HTTP_11 {
            return Err(HandshakeError::Request);
        }
        if !lists(headers, &UPGRADE, "websocket") || !lists(headers, &CONNECTION, "upgrade") {
            return Err(HandshakeError::Fields);
        }
        if headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != VERSION) {
            return Err(HandshakeError::Version);
        }
        let mut keys = headers.get_all(SEC_WEBSOCKET_KEY).iter();
        let (Some(key), None) = (keys.next(), keys.next()) else { return Err(HandshakeError::Key) };
        if !BASE64_STANDARD.decode(key).is_ok_and(|key| key.len() == 16) {
            return Err(HandshakeError::Key);
        }
        Ok(WebSocketHandshake {
            deflate: MessageDeflate::negotiate(headers.get_all(SEC_WEBSOCKET_EXTENSIONS).iter()),
            accept: accept(key.as_bytes()),
            protocols: words(headers, &SEC_WEBSOCKET_PROTOCOL).map(str::to_owned).collect(),
        })
    }

    /// Whether the client speaks this subprotocol. A server names no other.
    pub fn offers(&self, protocol: &str) -> bool {
        self.protocols.iter().any(|offered| offered == protocol)
    }

    /// The fields of the response 101. An application's fields of the same names are replaced.
    pub fn answer(&self, headers: &mut HeaderMap) {
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        let mut insert = |name: HeaderName, value: &str| match HeaderValue::from_str(value) {
            Ok(value) => drop(headers.insert(name, value)),
            Err(_) => drop(headers.remove(name)),
        };
        insert(SEC_WEBSOCKET_ACCEPT, &self.accept);
        match &self.deflate {
            Some(deflate) => insert(SEC_WEBSOCKET_EXTENSIONS, &deflate.field()),
            None => drop(headers.remove(SEC_WEBSOCKET_EXTENSIONS)),
        }
    }
}

/// The value of `Sec-WebSocket-Key` with these bytes, for a handshake with a server.
pub fn key(bytes: [u8; 16]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// The value of `Sec-WebSocket-Accept` for a key.
pub fn accept(key: &[u8]) -> String {
    BASE64_STANDARD.encode(Sha1::new().chain_update(key).chain_update(GUID).finalize())
}

fn lists(headers: &HeaderMap, name: &HeaderName, wanted: &str) -> bool {
    words(headers, name).any(|word| word.eq_ignore_ascii_case(wanted))
}

/// The elements of a list in one or more fields.
fn words<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let fields = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    fields.flat_map(|field| field.split(',')).map(str::trim).filter(|word| !word.is_empty())
}

impl HandshakeError {
    /// The status of the response.
    pub fn status(self) -> StatusCode {
        match self {
            HandshakeError::Version => StatusCode::UPGRADE_REQUIRED,
            HandshakeError::Request | HandshakeError::Fields | HandshakeError::Key => StatusCode::BAD_REQUEST,
        }
    }

    /// The field that the response has, for a client of another version (section 4.4).
    pub fn field(self) -> Option<(HeaderName, HeaderValue)> {
        let version = || (SEC_WEBSOCKET_VERSION, HeaderValue::from_static(VERSION));
        (self == HandshakeError::Version).then(version)
    }
}

impl Display for HandshakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HandshakeError::Request => "the WebSocket handshake is no GET of HTTP/1.1",
            HandshakeError::Fields => "the WebSocket handshake lacks \"Connection: Upgrade\" or \"Upgrade: websocket\"",
            HandshakeError::Key => "the Sec-WebSocket-Key is not 16 bytes in Base64",
            HandshakeError::Version => "the Sec-WebSocket-Version is not 13",
        })
    }
}

impl std::error::Error for HandshakeError {}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [(&str, &str); 4] = [
        ("connection", "keep-alive, Upgrade"),
        ("upgrade", "WebSocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];

    /// The handshake with these fields in place of, or beside, the usual ones.
    fn check(changed: &[(&'static str, &'static str)]) -> Result<WebSocketHandshake, HandshakeError> {
        let mut headers = HeaderMap::new();
        let usual = FIELDS.iter().filter(|(name, _)| !changed.iter().any(|(other, _)| other == name));
        for (name, value) in usual.chain(changed).filter(|(_, value)| !value.is_empty()) {
            headers.append(*name, HeaderValue::from_static(value));
        }
        WebSocketHandshake::check(&Method::GET, Version::HTTP_11, &headers)
    }

    #[test]
    fn the_response_proves_that_the_key_was_read() {
        let mut answer = HeaderMap::new();
        check(&[]).expect("valid").answer(&mut answer);
        assert_eq!(answer["sec-websocket-accept"], "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
        assert_eq!(
            (&answer["upgrade"], &answer["connection"]),
            (&"websocket".parse().unwrap(), &"Upgrade".parse().unwrap())
        );
        assert!(!answer.contains_key("sec-websocket-extensions"));
    }

    #[test]
    fn extensions_and_subprotocols_are_those_that_the_client_offers() {
        let found = check(&[
            ("sec-websocket-protocol", "chat, "),
            ("sec-websocket-protocol", "superchat"),
            ("sec-websocket-extensions", "permessage-deflate"),
        ]);
        let found = found.expect("valid");
        assert!(found.offers("chat") && found.offers("superchat") && !found.offers("Chat") && !found.offers(""));
        let mut answer = HeaderMap::new();
        found.answer(&mut answer);
        assert!(answer["sec-websocket-extensions"].to_str().expect("text").starts_with("permessage-deflate"));
    }

    #[test]
    fn other_requests_are_no_handshake() {
        for (changed, error, status) in [
            (("connection", "close"), HandshakeError::Fields, 400),
            (("upgrade", "h2c"), HandshakeError::Fields, 400),
            (("sec-websocket-version", "8"), HandshakeError::Version, 426),
            (("sec-websocket-version", ""), HandshakeError::Version, 426),
            (("sec-websocket-key", ""), HandshakeError::Key, 400),
            (("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ"), HandshakeError::Key, 400),
            (("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQAA"), HandshakeError::Key, 400),
        ] {
            assert_eq!(check(&[changed]), Err(error), "{changed:?}");
            assert_eq!((error.status().as_u16(), error.field().is_some()), (status, status == 426));
        }
        let key = ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
        assert_eq!(check(&[key, key]), Err(HandshakeError::Key));
        for (method, version) in [(Method::POST, Version::HTTP_11), (Method::GET, Version::HTTP_10)] {
            let headers =
                FIELDS.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
            assert_eq!(WebSocketHandshake::check(&method, version, &headers.collect()), Err(HandshakeError::Request));
        }
    }
}
