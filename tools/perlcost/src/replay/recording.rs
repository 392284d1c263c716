//! A file of `RecordFailures`, and the bytes of its request.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{bail, ensure};
use nix::libc::{O_NOCTTY, O_NONBLOCK};
use serde::Deserialize;

use toolkit::Misuse;

/// Longest file, in bytes. The server writes at most 256 kB.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// The version of the format.
const VERSION: u32 = 1;
/// The text that the server writes in place of secrets.
const MASK: &str = "masked";
/// Headers of the connection, or that follow from the body.
const OWN: &[&str] = &[
    "connection",
    "content-length",
    "transfer-encoding",
    "expect",
    "keep-alive",
    "upgrade",
    "te",
    "trailer",
    "proxy-connection",
];

/// A recorded request.
#[derive(Debug, Deserialize)]
pub struct FailureFile {
    failure: u32,
    method: String,
    target: String,
    server: Option<String>,
    headers: Vec<(String, String)>,
    body: Option<String>,
    body_omitted: Option<String>,
}

impl FailureFile {
    /// Reads a file. Devices and FIFOs are refused, because they may never end.
    pub fn read(path: &Path) -> anyhow::Result<FailureFile> {
        let file = File::options().read(true).custom_flags(O_NONBLOCK | O_NOCTTY).open(path);
        let file = file.map_err(|error| {
            anyhow::anyhow!("cannot open the recording: {error}; name a file of RecordFailuresDirectory")
        })?;
        ensure!(file.metadata()?.is_file(), "is not a regular file");
        let mut text = Vec::new();
        file.take(MAX_BYTES).read_to_end(&mut text)?;
        let recording: FailureFile = serde_json::from_slice(&text)
            .map_err(|error| anyhow::anyhow!("is not a file of RecordFailures: {error}"))?;
        ensure!(
            recording.failure == VERSION,
            "has version {}, and this program reads version {VERSION}",
            recording.failure
        );
        Ok(recording)
    }

    /// The target, which begins with the path.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// URL of the address at which the request arrived.
    pub fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// The recorded body.
    pub fn body(&self) -> anyhow::Result<Vec<u8>> {
        match (&self.body, &self.body_omitted) {
            (Some(text), _) => Ok(text.clone().into_bytes()),
            (None, Some(why)) => bail!("the recording has no body, because {why}; give one with --body FILE"),
            (None, None) => Ok(Vec::new()),
        }
    }

    /// Names of headers whose values were masked and are not among `given`.
    pub fn masked(&self, given: &[String]) -> Vec<&str> {
        let is_given = |name: &str| given.iter().any(|header| name_of(header).eq_ignore_ascii_case(name));
        let masked = self.headers.iter().filter(|(name, value)| value.contains(MASK) && !is_given(name));
        masked.map(|(name, _)| name.as_str()).collect()
    }

    /// The request with these headers instead of its own, and this body.
    pub fn request(&self, given: &[String], body: &[u8]) -> anyhow::Result<Vec<u8>> {
        let is_word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        ensure!(is_word(&self.method), "the recorded method is not one word");
        ensure!(is_word(&encoded(&self.target)), "the recorded target is empty");
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, encoded(&self.target));
        let is_given = |name: &str| given.iter().any(|header| name_of(header).eq_ignore_ascii_case(name));
        let is_own = |name: &str| OWN.iter().any(|own| own.eq_ignore_ascii_case(name));
        for (name, value) in self.headers.iter().filter(|(name, _)| !is_own(name) && !is_given(name)) {
            ensure!(
                is_word(name) && !name.contains(':') && is_line(value),
                "the recorded header {name:?} has a line end"
            );
            text += &format!("{name}: {value}\r\n");
        }
        for header in given {
            let (name, value) = header.split_once(':').unwrap_or_default();
            if !is_word(name) || !is_line(value) {
                return Err(Misuse(format!("-H {header}: expected \"NAME: VALUE\"")).into());
            }
            text += &format!("{name}: {}\r\n", value.trim());
        }
        if !body.is_empty() || self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-length")) {
            text += &format!("Content-Length: {}\r\n", body.len());
        }
        text += "Connection: close\r\n\r\n";
        Ok([text.as_bytes(), body].concat())
    }
}

fn name_of(header: &str) -> &str {
    header.split(':').next().unwrap_or_default()
}

fn is_line(text: &str) -> bool {
    !text.contains(['\r', '\n', '\0'])
}

/// The target, in which bytes that end a request line are percent-encoded.
fn encoded(target: &str) -> String {
    let byte = |byte: u8| match byte {
        b'!'..=b'~' | 0x80.. => vec![byte],
        other => format!("%{other:02X}").into_bytes(),
    };
    String::from_utf8_lossy(&target.bytes().flat_map(byte).collect::<Vec<u8>>()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording() -> FailureFile {
        let json = r#"{"failure":1,"method":"POST","target":"/a b","headers":[["host","x"],["cookie","a=masked"],
            ["content-length","9"]],"body":"\u00e9"}"#;
        serde_json::from_str(json).expect("valid")
    }

    #[test]
    fn a_request_is_rebuilt_with_other_headers() {
        let recording = recording();
        let body = recording.body().expect("recorded");
        assert_eq!(body, b"\xc3\xa9");
        let request = recording.request(&["Cookie: a=1".to_owned()], &body).expect("valid");
        assert_eq!(
            request,
            b"POST /a%20b HTTP/1.1\r\nhost: x\r\nCookie: a=1\r\nContent-Length: 2\r\nConnection: close\r\n\r\n\xc3\xa9"
        );
        assert_eq!(recording.masked(&[]), ["cookie"]);
        assert!(recording.masked(&["cookie: a=1".to_owned()]).is_empty());
    }

    #[test]
    fn a_header_cannot_smuggle_another_one() {
        let recording = FailureFile { headers: vec![("a".to_owned(), "b\r\nc: d".to_owned())], ..recording() };
        assert!(recording.request(&[], b"").is_err());
        assert!(recording.request(&["x\r\ny: z".to_owned()], b"").is_err());
    }
}
