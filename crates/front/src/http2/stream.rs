//! One stream: a request and its response.

use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use bytes::Bytes;
use h2::RecvStream;
use h2::server::SendResponse;
use http::header::{CONTENT_LENGTH, EXPECT, HOST, HeaderValue};
use http::uri::{Parts, Uri};
use http::{Request, Version};
use wire::reply::Head;

use super::meter::Traffic;
use super::{Interim, Upload, send};
use crate::client::Pending;
use crate::request;
use crate::request::body::source::Source;
use crate::request::repeated;
use crate::request::services::Connection;

pub struct Http2Stream {
    /// Interim responses to send before the response.
    interim: Rc<Interim>,
    /// Byte counts; logs the request at the stream's end.
    traffic: Rc<Traffic>,
}

impl Http2Stream {
    pub fn new(traffic: Rc<Traffic>) -> Rc<Http2Stream> {
        Rc::new(Http2Stream { interim: Rc::default(), traffic })
    }
}

impl request::context::Stream for Http2Stream {
    fn inform(&self, head: &Head) {
        self.interim.send(head);
    }

    fn answered(&self, request: Rc<dyn Pending>) {
        self.traffic.answered(request);
    }
}

/// Answers a request. If the client resets the stream, the future is dropped, so a queued request never reaches a
/// worker.
pub async fn serve(
    connection: Rc<Connection>,
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    stream: Rc<Http2Stream>,
) {
    let interim = stream.interim.clone();
    let request = as_request(request, &interim);
    let response = {
        let mut answering = pin!(request::answer(&connection, request, Some(stream)));
        std::future::poll_fn(|cx| {
            if respond.poll_reset(cx).is_ready() {
                return Poll::Ready(None);
            }
            let answered = answering.as_mut().poll(cx);
            interim.flush(&mut respond);
            answered.map(Some)
        })
        .await
    };
    if let Some(response) = response {
        let config = &connection.client.config;
        let patience = config.http2.stream_timeout.unwrap_or_else(|| connection.client.timeout.get());
        send::send(response, respond, patience).await;
    }
}

/// Converts the request to HTTP/1.1 form: authority in `Host`, target in origin form, one `Cookie`.
fn as_request(request: Request<RecvStream>, interim: &Rc<Interim>) -> Request<Source> {
    let (mut head, body) = request.into_parts();
    if let Some(authority) = head.uri.authority().map(|authority| HeaderValue::from_str(authority.as_str())) {
        // Different `:authority` and `Host` are not merged; such requests are refused.
        let host = authority.ok().filter(|authority| head.headers.get_all(HOST).iter().all(|host| host != authority));
        host.map(|host| head.headers.append(HOST, host));
    }
    head.uri = origin_form(head.uri);
    head.version = Version::HTTP_2;
    repeated::join_cookies(&mut head.headers);
    let length = head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let length = if body.is_end_stream() { Some(0) } else { length };
    let waits =
        head.headers.get(EXPECT).is_some_and(|expected| expected.as_bytes().eq_ignore_ascii_case(b"100-continue"));
    let upload = Upload::new(body, length, waits.then(|| interim.clone()));
    Request::from_parts(head, Source::Stream(Box::new(upload)))
}

/// The target in origin form; a CONNECT target, which is refused, is unchanged.
fn origin_form(uri: Uri) -> Uri {
    let mut parts = Parts::default();
    parts.path_and_query = uri.path_and_query().cloned();
    if parts.path_and_query.is_none() { uri } else { Uri::from_parts(parts).unwrap_or(uri) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_loses_its_host() {
        let of = |uri: &'static str| origin_form(Uri::from_static(uri)).to_string();
        assert_eq!(of("https://example.org/a?b=c"), "/a?b=c");
        assert_eq!(of("*"), "*");
        assert_eq!(of("example.org:443"), "example.org:443");
    }
}
