//! The text of a recording: a JSON object, described in docs/operating/replay.md.

use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST};
use serde::Serialize;

use super::masked;
use super::{FailedBody, RecordedRequest};

/// Longest text of a recording, in bytes. A longer one is written without its body, then without headers.
const MAX_BYTES: usize = 256 * 1024;

#[derive(Serialize)]
struct Recording<'a> {
    /// Version of this format.
    failure: u32,
    time: String,
    request_id: &'a str,
    status: u16,
    method: &'a str,
    target: String,
    protocol: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    headers: Vec<(String, String)>,
    /// Length of the body that the client sent, in bytes.
    body_length: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// Why the body is not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    body_omitted: Option<&'a str>,
}

/// The text of a recording.
pub fn of(request: &RecordedRequest) -> String {
    let mut recording = recording(request);
    let mut text = text(&recording);
    if text.len() > MAX_BYTES {
        recording.body = None;
        recording.body_omitted = Some("the recording would be too long");
        text = self::text(&recording);
    }
    if text.len() > MAX_BYTES {
        recording.headers.clear();
        text = self::text(&recording);
    }
    text
}

fn text(recording: &Recording<'_>) -> String {
    serde_json::to_string_pretty(recording).unwrap_or_default() + "\n"
}

fn recording(request: &RecordedRequest) -> Recording<'_> {
    let time = chrono::DateTime::<chrono::Utc>::from(request.received);
    let mut recording = Recording {
        failure: 1,
        time: time.to_rfc3339_opts(chrono::SecondsFormat::Millis, true),
        request_id: &request.id,
        status: request.status,
        method: request.method.as_str(),
        target: masked::url(&String::from_utf8_lossy(&request.target)),
        protocol: request.protocol,
        server: request.server.as_deref(),
        headers: headers(request),
        body_length: 0,
        body: None,
        body_omitted: None,
    };
    match &request.body {
        FailedBody::TooLong(length) => {
            recording.body_length = *length;
            recording.body_omitted = Some("it is longer than 64 kB");
        }
        FailedBody::Whole(bytes) if bytes.is_empty() => {}
        FailedBody::Whole(bytes) => {
            recording.body_length = bytes.len() as u64;
            match body(bytes, &request.headers) {
                Ok(text) => recording.body = Some(text),
                Err(why) => recording.body_omitted = Some(why),
            }
        }
    }
    recording
}

fn headers(request: &RecordedRequest) -> Vec<(String, String)> {
    let masked = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), masked::header(name.as_str(), &value).into_owned())
    };
    let own = request.host.iter().filter(|_| !request.headers.contains_key(HOST));
    own.map(|host| ("host".to_owned(), masked::header("host", host).into_owned()))
        .chain(request.headers.iter().map(masked))
        .collect()
}

/// The body without its secrets, or why it is not recorded. Only in forms and JSON can secrets be told from the rest.
fn body(bytes: &[u8], headers: &HeaderMap) -> Result<String, &'static str> {
    if headers.contains_key(CONTENT_ENCODING) {
        return Err("the request has a Content-Encoding");
    }
    let masked = match kind(headers).as_deref() {
        Some("application/x-www-form-urlencoded") => std::str::from_utf8(bytes).ok().and_then(masked::form),
        Some("application/json") => std::str::from_utf8(bytes).ok().and_then(masked::json),
        _ => return Err("only forms and JSON in UTF-8 are recorded"),
    };
    masked.ok_or("the body does not parse as its Content-Type, and may contain a secret")
}

/// The media type in lower case, if there is one Content-Type, without parameters or of UTF-8.
fn kind(headers: &HeaderMap) -> Option<String> {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let value = values.next()?.to_str().ok()?.to_ascii_lowercase();
    let mut parts = value.split(';').map(str::trim);
    let kind = parts.next()?.to_owned();
    let is_utf8 = parts.all(|part| part.is_empty() || part.replace('"', "") == "charset=utf-8");
    (is_utf8 && values.next().is_none()).then_some(kind)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use http::{HeaderValue, Method};

    use super::*;

    fn request(content_type: &'static str, body: impl Into<bytes::Bytes>) -> RecordedRequest {
        RecordedRequest {
            received: SystemTime::UNIX_EPOCH,
            id: "0-1".to_owned(),
            status: 500,
            method: Method::POST,
            target: b"/a?key=1".to_vec(),
            protocol: "HTTP/1.1",
            host: None,
            headers: HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(content_type))]),
            body: FailedBody::Whole(body.into()),
            server: None,
        }
    }

    fn check(content_type: &'static str, body: &'static [u8], expected: &str) {
        let text = of(&request(content_type, body));
        assert!(text.contains(expected), "{content_type}: {text}");
    }

    #[test]
    fn forms_and_json_are_recorded_without_secrets() {
        check("application/x-www-form-urlencoded", b"a=b&password=x", r#""body": "a=b&password=masked""#);
        check("application/json; charset=utf-8", br#"{"token":"x"}"#, r#""body": "{\"token\":\"masked\"}""#);
        check("application/json", b"{\"token\":", r#""body_omitted": "the body does not parse as its Content-Type"#);
        check("application/json", b"\xff", r#""body_omitted": "the body does not parse as its Content-Type"#);
        check("text/plain", b"abc", r#""target": "/a?key=masked""#);
    }

    #[test]
    fn bodies_of_other_types_are_not_recorded() {
        let types = [
            "multipart/form-data; boundary=x",
            "text/plain",
            "application/x-ndjson",
            "application/json; charset=utf-16",
            "application/graphql",
            "image/png",
            "",
        ];
        for content_type in types {
            let text = of(&request(content_type, &b"LEAK"[..]));
            assert!(text.contains(r#""body_omitted": "only forms and JSON"#) && !text.contains("LEAK"), "{text}");
            assert!(text.contains(r#""body_length": 4"#), "{text}");
        }
        let mut encoded = request("application/json", &b"{\"a\":\"LEAK\"}"[..]);
        encoded.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        let text = of(&encoded);
        assert!(text.contains("the request has a Content-Encoding") && !text.contains("LEAK"), "{text}");
    }

    #[test]
    fn a_recording_has_a_longest_length() {
        let mut long = request("application/x-www-form-urlencoded", vec![1; 64 * 1024]);
        assert!(of(&long).len() < MAX_BYTES && of(&long).contains("too long"));
        long.headers.insert("x-a", HeaderValue::from_bytes(&vec![b'a'; 300 * 1024]).expect("a value"));
        assert!(of(&long).len() < MAX_BYTES);
    }
}
