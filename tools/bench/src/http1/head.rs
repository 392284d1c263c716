//! The head of a response, as far as it determines the response's end.

use http::Method;

use super::super::failure::{FailedRequest, FailureCause};

const MAX_HEADERS: usize = 128;

#[derive(Debug, PartialEq, Eq)]
pub struct ResponseHead {
    /// 200
    pub status: u16,
    /// Size of the head in bytes.
    pub size: usize,
    pub framing: BodyEnd,
    /// Whether the connection may be reused.
    pub keeps_alive: bool,
}

/// How a client finds the end of a body (RFC 9112, section 6.3).
#[derive(Debug, PartialEq, Eq)]
pub enum BodyEnd {
    /// The body has this length in bytes.
    Length(u64),
    /// `Transfer-Encoding: chunked`: the body ends with a chunk of length 0.
    Chunked,
    /// The body ends with the connection.
    UntilClose,
}

impl ResponseHead {
    /// Parses a head; `None` while it is incomplete.
    pub fn parse(bytes: &[u8], method: &Method) -> Result<Option<ResponseHead>, FailedRequest> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let malformed = |text: String| FailedRequest::new(FailureCause::Malformed, text);
        let parsed = response.parse(bytes).map_err(|error| malformed(format!("not HTTP: {error}")))?;
        let httparse::Status::Complete(size) = parsed else { return Ok(None) };
        let status = response.code.unwrap_or_default();
        let mut head =
            ResponseHead { status, size, framing: BodyEnd::UntilClose, keeps_alive: response.version == Some(1) };
        for header in response.headers.iter() {
            head.apply_header(header).map_err(malformed)?;
        }
        if *method == Method::HEAD || matches!(status, 100..200 | 204 | 304) {
            head.framing = BodyEnd::Length(0);
        }
        head.keeps_alive &= head.framing != BodyEnd::UntilClose;
        Ok(Some(head))
    }

    fn apply_header(&mut self, header: &httparse::Header<'_>) -> Result<(), String> {
        let value = header.value.trim_ascii();
        let has = |word: &str| value.split(|byte| *byte == b',').any(|part| is(part.trim_ascii(), word));
        if is(header.name.as_bytes(), "transfer-encoding") {
            if has("chunked") {
                self.framing = BodyEnd::Chunked;
            }
        } else if is(header.name.as_bytes(), "content-length") && self.framing != BodyEnd::Chunked {
            let length = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
            self.framing = BodyEnd::Length(length.ok_or("a Content-Length that is not a number")?);
        } else if is(header.name.as_bytes(), "connection") {
            self.keeps_alive = (self.keeps_alive || has("keep-alive")) && !has("close");
        }
        Ok(())
    }
}

fn is(text: &[u8], word: &str) -> bool {
    text.eq_ignore_ascii_case(word.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_determines_the_end_of_its_response() {
        let cases = [
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", BodyEnd::Length(5), true),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", BodyEnd::Chunked, true),
            ("HTTP/1.1 200 OK\r\n\r\n", BodyEnd::UntilClose, false),
            ("HTTP/1.1 204 No Content\r\n\r\n", BodyEnd::Length(0), true),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n", BodyEnd::Length(5), false),
            ("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", BodyEnd::Length(5), false),
            ("HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: Keep-Alive\r\n\r\n", BodyEnd::Length(5), true),
        ];
        for (text, framing, keeps_alive) in cases {
            let head = ResponseHead::parse(text.as_bytes(), &Method::GET).expect(text).expect(text);
            assert_eq!((head.framing, head.keeps_alive, head.size), (framing, keeps_alive, text.len()), "{text}");
            assert_eq!(ResponseHead::parse(&text.as_bytes()[..text.len() - 1], &Method::GET), Ok(None));
        }
        for wrong in ["SSH-2.0-OpenSSH_9\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n"] {
            assert!(ResponseHead::parse(wrong.as_bytes(), &Method::GET).is_err(), "{wrong}");
        }
    }
}
