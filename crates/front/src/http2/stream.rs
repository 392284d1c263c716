//! One stream: a request and its response.

use std::cell::RefCell;
use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use bytes::Bytes;
use h2::RecvStream;
use h2::server::SendResponse;
use http::header::{CONTENT_LENGTH, EXPECT, HOST, HeaderValue};
use http::uri::{Parts, Uri};
use http::{Request, StatusCode, Version};
use http_body_util::{BodyExt as _, Empty};
use tokio::sync::Notify;
use wire::reply::Head;

use super::meter::Traffic;
use super::{Interim, Upload, send, websocket};
use crate::client::Pending;
use crate::client::tunnel::Tunnel;
use crate::request;
use crate::request::body::source::Source;
use crate::request::repeated;
use crate::request::services::Connection;

pub struct Http2Stream {
    /// Interim responses to send before the response.
    interim: Rc<Interim>,
    /// Byte counts; logs the request at the stream's end.
    traffic: Rc<Traffic>,
    /// Set when the stream is about to switch protocols.
    tunnel: RefCell<Option<Tunnel>>,
    /// Notified when the front stops.
    stopping: Rc<Notify>,
}

impl Http2Stream {
    pub fn new(traffic: Rc<Traffic>, stopping: Rc<Notify>) -> Rc<Http2Stream> {
        Rc::new(Http2Stream { interim: Rc::default(), traffic, tunnel: RefCell::default(), stopping })
    }
}

impl request::context::Stream for Http2Stream {
    fn inform(&self, head: &Head) {
        self.interim.send(head);
    }

    fn will_tunnel(&self, tunnel: Tunnel) {
        *self.tunnel.borrow_mut() = Some(tunnel);
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
    let (request, opening) = as_request(request, &interim);
    let response = {
        let mut answering = pin!(request::answer(&connection, request, Some(stream.clone())));
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
    let Some(response) = response else { return };
    let tunnel = stream.tunnel.take().filter(|_| response.status() == StatusCode::SWITCHING_PROTOCOLS);
    if let Some((tunnel, receive)) = tunnel.zip(opening) {
        // The request ends with the tunnel.
        let (head, _request) = response.into_parts();
        if let Some(send) = send::open(head, &mut respond) {
            let carried = websocket::carry(&connection.client, &stream.traffic, (receive, send), tunnel);
            Box::pin(woken(&stream.stopping, carried)).await;
        }
    } else {
        let config = &connection.client.config;
        let patience = config.http2.stream_timeout.unwrap_or_else(|| connection.client.timeout.get());
        send::send(response, respond, patience).await;
    }
}

/// Polls `carried` also when the front stops, because the stop itself wakes only the connection's task.
async fn woken(stopping: &Notify, carried: impl Future<Output = ()>) {
    let mut carried = pin!(carried);
    tokio::select! {
        () = &mut carried => return,
        () = stopping.notified() => {}
    }
    carried.await;
}

/// Converts the request to HTTP/1.1 form: authority in `Host`, target in origin form, one `Cookie`. The handshake of a
/// WebSocket has no body; the client's side of the WebSocket is returned beside it.
fn as_request(request: Request<RecvStream>, interim: &Rc<Interim>) -> (Request<Source>, Option<RecvStream>) {
    let (mut head, body) = request.into_parts();
    if let Some(authority) = head.uri.authority().map(|authority| HeaderValue::from_str(authority.as_str())) {
        // Different `:authority` and `Host` are not merged; such requests are refused.
        let host = authority.ok().filter(|authority| head.headers.get_all(HOST).iter().all(|host| host != authority));
        host.map(|host| head.headers.append(HOST, host));
    }
    head.uri = origin_form(head.uri);
    head.version = Version::HTTP_2;
    repeated::join_cookies(&mut head.headers);
    if websocket::translate(&mut head) {
        let none = Empty::<Bytes>::new().map_err(|never: Infallible| -> io::Error { match never {} });
        return (Request::from_parts(head, Source::Stream(Box::new(none))), Some(body));
    }
    let length = head.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let length = if body.is_end_stream() { Some(0) } else { length };
    let waits =
        head.headers.get(EXPECT).is_some_and(|expected| expected.as_bytes().eq_ignore_ascii_case(b"100-continue"));
    let upload = Upload::new(body, length, waits.then(|| interim.clone()));
    (Request::from_parts(head, Source::Stream(Box::new(upload))), None)
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
