//! The text of a recording: a JSON object, described in docs/operating/replay.md.

use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use serde::Serialize;

use super::masked;
use super::{FailedBody, RecordedRequest};

/// Longest text of a recording, in bytes. A longer one is written without its body, then without headers.
const LONGEST: usize = 256 * 1024;

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
    /// The body in percent-encoding, if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    body_encoded: Option<String>,
    /// Why the body is not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    body_omitted: Option<&'a str>,
}

/// The text of a recording.
pub fn of(request: &RecordedRequest) -> String {
    let mut recording = recording(request);
    let mut text = text(&recording);
    if text.len() > LONGEST {
        (recording.body, recording.body_encoded) = (None, None);
        recording.body_omitted = Some("the recording would be too long");
        text = self::text(&recording);
    }
    if text.len() > LONGEST {
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
        target: masked::target(&String::from_utf8_lossy(&request.target)),
        protocol: request.protocol,
        server: request.server.as_deref(),
        headers: headers(request),
        body_length: 0,
        body: None,
        body_encoded: None,
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
            record_body(bytes, content_type(request), &mut recording);
        }
    }
    recording
}

fn headers(request: &RecordedRequest) -> Vec<(String, String)> {
    let masked = |(name, value): (&http::HeaderName, &http::HeaderValue)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), masked::header(name.as_str(), &value).into_owned())
    };
    let own = request.host.iter().filter(|_| !request.headers.contains_key(http::header::HOST));
    own.map(|host| ("host".to_owned(), host.clone())).chain(request.headers.iter().map(masked)).collect()
}

fn content_type(request: &RecordedRequest) -> &str {
    let value = request.headers.get(http::header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.unwrap_or_default()
}

fn record_body(bytes: &[u8], content_type: &str, recording: &mut Recording<'_>) {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let Ok(text) = std::str::from_utf8(bytes) else {
        match masked::mentions_secret(&String::from_utf8_lossy(bytes)) {
            true => recording.body_omitted = Some("it may contain a secret"),
            false => recording.body_encoded = Some(percent_encode(bytes, NON_ALPHANUMERIC).to_string()),
        }
        return;
    };
    let masked = match kind.as_str() {
        "application/x-www-form-urlencoded" => Some(masked::form(text)),
        json if json.ends_with("json") => masked::json(text),
        _ => None,
    };
    match masked {
        Some(text) => recording.body = Some(text),
        None if masked::mentions_secret(text) => recording.body_omitted = Some("it may contain a secret"),
        None => recording.body = Some(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use http::header::CONTENT_TYPE;
    use http::{HeaderMap, HeaderValue, Method};

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
    fn bodies_are_recorded_without_secrets() {
        check("application/x-www-form-urlencoded", b"a=b&password=x", r#""body": "a=b&password=masked""#);
        check("application/json; charset=utf-8", br#"{"token":"x"}"#, r#""body": "{\"token\":\"masked\"}""#);
        check("application/json", b"{\"token\":", r#""body_omitted": "it may contain a secret""#);
        check(
            "multipart/form-data; boundary=x",
            b"--x\r\nname=\"password\"",
            r#""body_omitted": "it may contain a secret""#,
        );
        check("text/plain", b"abc", r#""body": "abc""#);
        check("image/png", b"\xff\x00a", r#""body_encoded": "%FF%00a""#);
        check("text/plain", b"abc", r#""target": "/a?key=masked""#);
    }

    #[test]
    fn a_recording_has_a_longest_length() {
        let mut long = request("image/png", vec![0xff; 200 * 1024]);
        assert!(of(&long).len() < LONGEST && of(&long).contains("too long"));
        long.headers.insert("x-a", HeaderValue::from_bytes(&vec![b'a'; 300 * 1024]).expect("a value"));
        assert!(of(&long).len() < LONGEST);
    }
}
