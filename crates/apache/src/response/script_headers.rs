//! The header at the beginning of a script's output.

use std::time::SystemTime;

use chrono::DateTime;

/// Result of looking for a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scan {
    /// No blank line was received yet.
    Incomplete,
    /// The output has this line, which is not a header.
    Bad(Vec<u8>),
    /// A complete header; the body begins at `length`.
    Whole { header: ScriptHeader, length: usize },
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ScriptHeader {
    /// The status of `Status:`, or of the status line of a nph script.
    pub status: Option<u16>,
    /// The status with its reason phrase: `404 Not Found`.
    pub status_line: Option<Vec<u8>>,
    pub content_type: Option<Vec<u8>>,
    pub location: Option<Vec<u8>>,
    /// All other headers, in order.
    pub others: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Searches for a complete header.
pub(crate) fn scan(output: &[u8]) -> Scan {
    match end(output) {
        Some(length) => match parse(&output[..length]) {
            Ok(header) => Scan::Whole { header, length },
            Err(line) => Scan::Bad(line),
        },
        None => Scan::Incomplete,
    }
}

/// The offset behind the blank line that ends the header. Lines may end in LF or CR LF, and scripts mix them.
fn end(output: &[u8]) -> Option<usize> {
    let mut line = 0;
    while let Some(at) = output[line..].iter().position(|byte| *byte == b'\n') {
        let text = &output[line..line + at];
        line += at + 1;
        if matches!(text, b"" | b"\r") {
            return Some(line);
        }
    }
    None
}

/// Parses the lines of a header; the error is the first invalid line.
pub(crate) fn parse(block: &[u8]) -> Result<ScriptHeader, Vec<u8>> {
    let mut header = ScriptHeader::default();
    let lines = block.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty());
    for (number, line) in lines.enumerate() {
        if number == 0 && line.starts_with(b"HTTP/") {
            header.status_text(line.splitn(2, |byte| *byte == b' ').nth(1).unwrap_or_default()).ok_or(line)?;
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':').filter(|at| is_name(&line[..*at])).ok_or(line)?;
        header.field(&line[..colon], line[colon + 1..].trim_ascii()).ok_or(line)?;
    }
    Ok(header)
}

fn is_name(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|byte| byte.is_ascii_graphic())
}

impl ScriptHeader {
    /// Stores a header. `None`: the value is invalid for that name.
    pub fn field(&mut self, name: &[u8], value: &[u8]) -> Option<()> {
        match &name.to_ascii_lowercase()[..] {
            b"status" => self.status_text(value)?,
            b"content-type" => self.content_type = Some(value.to_vec()),
            b"location" => self.location = Some(value.to_vec()),
            // Scripts give the date as mail does; HTTP requires GMT (RFC 9110, 5.6.7).
            b"last-modified" => self.others.extend(in_gmt(value).map(|date| (name.to_vec(), date))),
            _ => self.others.push((name.to_vec(), value.to_vec())),
        }
        Some(())
    }

    fn status_text(&mut self, text: &[u8]) -> Option<()> {
        self.status = Some(crate::request_rec::status_of(text)?);
        self.status_line = Some(text.to_vec());
        Some(())
    }
}

/// Length in bytes of `Sun Nov  6 08:49:37 1994`. Some scripts append a zone, which httpd ignores.
const ASCTIME: usize = 24;

/// Converts a date such as `Tue, 2 Mar 2021 12:30:00 +0100` to HTTP's form. As in httpd, an invalid date is dropped,
/// and a future date is replaced by the current time.
fn in_gmt(date: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(date).ok()?.trim();
    let mail = || DateTime::parse_from_rfc2822(text).ok().map(SystemTime::from);
    let asctime = || httpdate::parse_http_date(text.get(..ASCTIME)?).ok();
    let date = httpdate::parse_http_date(text).ok().or_else(mail).or_else(asctime)?;
    Some(httpdate::fmt_http_date(date.min(SystemTime::now())).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(output: &str) -> String {
        match scan(output.as_bytes()) {
            Scan::Incomplete => "incomplete".into(),
            Scan::Bad(line) => format!("bad: {}", String::from_utf8_lossy(&line)),
            Scan::Whole { header, length } => {
                let text = |bytes: Option<Vec<u8>>| String::from_utf8(bytes.unwrap_or_default()).expect("ASCII");
                let others: Vec<_> =
                    header.others.into_iter().map(|(n, v)| format!("{}={}", text(Some(n)), text(Some(v)))).collect();
                let status = header.status.map_or(String::new(), |status| status.to_string());
                let (kind, place) = (text(header.content_type), text(header.location));
                format!("{status}|{kind}|{place}|{}|{}", others.join(","), &output[length..])
            }
        }
    }

    #[test]
    fn script_headers_are_parsed() {
        let cases = [
            ("Content-type: text/plain\n\nhi", "|text/plain|||hi"),
            ("Content-Type: text/plain\r\n\r\nhi\n\n", "|text/plain|||hi\n\n"),
            ("Content-type: a\n\r\nhi", "|a|||hi"),
            ("Status: 404 Not Found\ncontent-type:x\n\n", "404|x|||"),
            ("Status: 204\n\n", "204||||"),
            ("Location: /there\n\n", "||/there||"),
            ("Set-Cookie: a=b\nSet-Cookie: c=d\nX: \n\nz", "|||Set-Cookie=a=b,Set-Cookie=c=d,X=|z"),
            ("HTTP/1.0 302 Moved Here\r\nLocation: http://x/\r\n\r\n", "302||http://x/||"),
            ("HTTP/1.1 200\n\nbody", "200||||body"),
            ("Last-Modified: Thu Jan  2 03:04:05 2020 GMT\n\n", "|||Last-Modified=Thu, 02 Jan 2020 03:04:05 GMT|"),
            ("Last-Modified: yesterday\n\n", "||||"),
            ("\nbody", "||||body"),
            ("", "incomplete"),
            ("Content-type: text/plain\n", "incomplete"),
            ("<html>\n\n", "bad: <html>"),
            ("no header here: x\n\n", "bad: no header here: x"),
            ("Status: banana\n\n", "bad: Status: banana"),
            ("HTTP/1.0\n\n", "bad: HTTP/1.0"),
            (": x\n\n", "bad: : x"),
        ];
        for (output, expected) in cases {
            assert_eq!(shown(output), expected, "{output:?}");
        }
    }
}
