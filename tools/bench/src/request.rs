//! A request, encoded once and sent any number of times.

use bytes::Bytes;
use http::header::{HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use http::{Method, Version};

use super::RequestTarget;

/// Largest body, in bytes, that is sent in one piece with the head.
const JOINED: usize = 16 * 1024;

/// The common parts of a run's requests.
#[derive(Debug, Clone, Default)]
pub struct RequestTemplate {
    /// The method; by default GET without a body, POST with one.
    pub method: Option<Method>,
    /// Additional headers.
    pub headers: HeaderMap,
    /// Empty for a request without a body.
    pub body: Bytes,
    /// Whether the request asks the server to close the connection.
    pub close: bool,
}

/// A request as it is sent, encoded once for all its repetitions.
#[derive(Debug, Clone)]
pub struct EncodedRequest {
    /// Where the request is sent.
    pub target: RequestTarget,
    /// `HEAD` has a response without a body.
    pub method: Method,
    /// HTTP/1: the head and the body.
    pub pieces: Vec<Bytes>,
    headers: HeaderMap,
    body: Bytes,
}

impl EncodedRequest {
    /// Encodes `template` for `target`.
    pub fn new(template: &RequestTemplate, target: RequestTarget) -> EncodedRequest {
        let method = template.method.clone().unwrap_or(match template.body.is_empty() {
            true => Method::GET,
            false => Method::POST,
        });
        let mut request = EncodedRequest {
            target,
            method,
            pieces: Vec::new(),
            headers: template.headers.clone(),
            body: template.body.clone(),
        };
        request
            .headers
            .entry(USER_AGENT)
            .or_insert(HeaderValue::from_static(concat!("cameleer-bench/", env!("CARGO_PKG_VERSION"))));
        request.pieces = request.in_http1(template.close);
        request
    }

    fn in_http1(&self, close: bool) -> Vec<Bytes> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.target.path).into_bytes();
        let mut line = |name: &HeaderName, value: &[u8]| {
            head.extend_from_slice(name.as_str().as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        };
        if !self.headers.contains_key(HOST) {
            line(&HOST, self.target.authority.as_bytes());
        }
        for (name, value) in &self.headers {
            line(name, value.as_bytes());
        }
        if close {
            line(&http::header::CONNECTION, b"close");
        }
        let has_length = !self.body.is_empty() || matches!(self.method, Method::POST | Method::PUT | Method::PATCH);
        if has_length && !self.headers.contains_key(http::header::CONTENT_LENGTH) {
            line(&http::header::CONTENT_LENGTH, self.body.len().to_string().as_bytes());
        }
        head.extend_from_slice(b"\r\n");
        if self.body.len() > JOINED {
            return vec![head.into(), self.body.clone()];
        }
        head.extend_from_slice(&self.body);
        vec![head.into()]
    }

    /// HTTP/2: the head and the body.
    pub fn in_http2(&self) -> Result<(http::Request<()>, Bytes), http::Error> {
        let mut own = self.headers.clone();
        // In HTTP/2 the host is part of the URL.
        let host = own.remove(HOST).and_then(|host| host.to_str().map(str::to_owned).ok());
        let url =
            RequestTarget { authority: host.unwrap_or_else(|| self.target.authority.clone()), ..self.target.clone() }
                .uri();
        let mut request = http::Request::builder().method(self.method.clone()).uri(url).version(Version::HTTP_2);
        if let Some(headers) = request.headers_mut() {
            *headers = own;
        }
        Ok((request.body(())?, self.body.clone()))
    }

    /// Number of bytes that HTTP/1 sends.
    pub fn size(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.len() as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(template: &RequestTemplate) -> String {
        let target = RequestTarget::parse("http://localhost:81/a?b").expect("a URL");
        let pieces = EncodedRequest::new(template, target).pieces.concat();
        String::from_utf8(pieces).expect("text").replace(env!("CARGO_PKG_VERSION"), "V")
    }

    #[test]
    fn a_request_has_the_given_headers_and_those_of_http() {
        let plain = "GET /a?b HTTP/1.1\r\nhost: localhost:81\r\nuser-agent: cameleer-bench/V\r\n\r\n";
        assert_eq!(sent(&RequestTemplate::default()), plain);
        let own = HeaderMap::from_iter([(HOST, HeaderValue::from_static("other"))]);
        let template = RequestTemplate { headers: own, body: "a=b".into(), close: true, ..RequestTemplate::default() };
        let request = sent(&template);
        assert!(request.starts_with("POST /a?b HTTP/1.1\r\nhost: other\r\n"), "{request}");
        assert!(request.ends_with("connection: close\r\ncontent-length: 3\r\n\r\na=b"), "{request}");
    }
}
