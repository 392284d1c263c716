//! One GET on a connection of its own.

use std::time::Duration;

use http::header::{CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use bench::{Connector, RequestTarget};

/// Maximum size of a body in bytes; the rest of a longer one is not compared.
const MAX_BODY_BYTES: usize = 16 << 20;

/// A server's response.
#[derive(Debug, Clone)]
pub struct ServerResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// A server, and the headers that each request to it has.
pub struct SiteServer {
    pub target: RequestTarget,
    pub connector: Connector,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub timeout: Duration,
}

impl SiteServer {
    /// Sends a GET. The error says why there is no response.
    pub async fn get(&self, path: &str) -> Result<ServerResponse, String> {
        let limit = self.timeout.as_secs();
        match tokio::time::timeout(self.timeout, self.answer(path)).await {
            Ok(answer) => answer,
            Err(_) => Err(format!("no whole response within {limit} s")),
        }
    }

    async fn answer(&self, path: &str) -> Result<ServerResponse, String> {
        let stream = self.connector.connect().await.map_err(|failed| failed.text)?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
        let exchange = async {
            let response = sender.send_request(self.request(path)?).await.map_err(|error| cause(&error))?;
            let (head, mut body) = response.into_parts();
            let mut bytes = Vec::new();
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|error| cause(&error))?;
                bytes.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
                if bytes.len() > MAX_BODY_BYTES {
                    bytes.truncate(MAX_BODY_BYTES);
                    break;
                }
            }
            Ok(ServerResponse { status: head.status.as_u16(), headers: head.headers, body: bytes })
        };
        // The connection carries the request's bytes, and ends with an error when the response is dropped early.
        tokio::pin!(exchange, connection);
        let mut is_open = true;
        loop {
            tokio::select! {
                answer = &mut exchange => return answer,
                _ = &mut connection, if is_open => is_open = false,
            }
        }
    }

    fn request(&self, path: &str) -> Result<http::Request<Empty<Bytes>>, String> {
        let mut request = http::Request::get(path).body(Empty::new()).map_err(|error| error.to_string())?;
        let headers = request.headers_mut();
        headers.insert(USER_AGENT, HeaderValue::from_static("cameleer-diff-sites"));
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        headers.insert(HOST, HeaderValue::from_str(&self.target.authority).map_err(|error| error.to_string())?);
        for (name, value) in &self.headers {
            headers.insert(name, value.clone());
        }
        Ok(request)
    }
}

/// The error and its source: hyper's own text is `error reading a body from connection`.
fn cause(error: &hyper::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
