//! Spelling of field names in responses over HTTP/1. Names are equal whatever their capitals (RFC 9110 5.1), but
//! scripts and old clients search for the usual ones.

use http::{Response, Version};

/// Names whose usual spelling is not one capital after each hyphen, by their lower case.
const SPECIAL: [(&str, &str); 12] = [
    ("content-md5", "Content-MD5"),
    ("dnt", "DNT"),
    ("etag", "ETag"),
    ("nel", "NEL"),
    ("p3p", "P3P"),
    ("sec-websocket-accept", "Sec-WebSocket-Accept"),
    ("sec-websocket-extensions", "Sec-WebSocket-Extensions"),
    ("sec-websocket-protocol", "Sec-WebSocket-Protocol"),
    ("te", "TE"),
    ("www-authenticate", "WWW-Authenticate"),
    ("x-ua-compatible", "X-UA-Compatible"),
    ("x-xss-protection", "X-XSS-Protection"),
];

/// Maximum number of names of one response that have a spelling of their own.
pub const MAX_NAMES: usize = 64;

/// Names of a response's fields as its program wrote them, where they differ from the usual spelling. An extension of
/// the response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrittenNames {
    /// Each name, and a line feed after each.
    Lines(Vec<u8>),
    /// Fields of the backend's response, in lower case, and a line feed after each. hyper has their spelling.
    OfBackend(Vec<u8>),
}

impl WrittenNames {
    /// The names of a backend's response, which has all its fields still.
    pub fn of_backend<B>(response: &Response<B>) -> WrittenNames {
        // Names of HTTP/2 have no capitals.
        let headers = Some(response.headers()).filter(|_| response.version() < Version::HTTP_2);
        let names = headers.into_iter().flatten().flat_map(|(name, _)| [name.as_str().as_bytes(), b"\n"]);
        WrittenNames::OfBackend(names.flatten().copied().collect())
    }
}

/// Names that rules of `Header` have given to a response, where hyper would write them otherwise: each with a line feed
/// after it. An extension of the response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredNames(pub Vec<u8>);

/// Whether hyper writes a name as it is written here: one capital after each hyphen.
pub fn is_title_case(written: &[u8]) -> bool {
    let mut before = b'-';
    written.iter().all(|byte| {
        let is_first = std::mem::replace(&mut before, *byte) == b'-';
        if is_first { !byte.is_ascii_lowercase() } else { !byte.is_ascii_uppercase() }
    })
}

/// The usual spelling of a name, if it differs from one capital after each hyphen.
pub fn special(name: &[u8]) -> Option<&'static str> {
    // Most names of responses have other lengths, and need no search.
    if !matches!(name.len(), 2..=4 | 11 | 15 | 16 | 20 | 22 | 24) {
        return None;
    }
    SPECIAL.iter().find(|(lower, _)| lower.as_bytes().eq_ignore_ascii_case(name)).map(|(_, usual)| *usual)
}

/// Whether a program's spelling is the usual one.
pub fn is_usual(written: &[u8]) -> bool {
    // Most responses have no other names, and a comparison takes a tenth of the instructions.
    matches!(written, b"Content-Type" | b"Content-Length" | b"Set-Cookie" | b"Location" | b"Cache-Control" | b"Vary")
        || is_title_case(written)
        || SPECIAL.iter().any(|(_, usual)| usual.as_bytes() == written)
}

/// The usual spelling of a name in lower case.
pub fn usual(name: &str) -> String {
    if let Some(special) = special(name.as_bytes()) {
        return special.to_owned();
    }
    let mut before = '-';
    let capital = |letter: char| {
        let written = if before == '-' { letter.to_ascii_uppercase() } else { letter };
        before = letter;
        written
    };
    name.chars().map(capital).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_special_name_is_found() {
        for (lower, usual) in SPECIAL {
            assert_eq!(usual.to_ascii_lowercase(), lower);
            assert_eq!(special(lower.as_bytes()), Some(usual));
        }
    }

    #[test]
    fn a_usual_spelling_has_capitals_after_hyphens_or_is_special() {
        for (lower, spelling) in
            [("content-type", "Content-Type"), ("etag", "ETag"), ("x-1a--b", "X-1a--B"), ("te", "TE")]
        {
            assert_eq!(usual(lower), spelling);
            assert!(is_usual(spelling.as_bytes()), "{spelling}");
        }
        for unusual in ["content-type", "CONTENT-TYPE", "X-fOO", "eTag"] {
            assert!(!is_usual(unusual.as_bytes()), "{unusual}");
        }
    }
}
