//! HTTP/2 to backends: `h2c://` with prior knowledge, `h2://` by ALPN. As with mod_proxy_http2, a connection carries
//! one request at a time, and several one after the other.
//!
//! h2 bounds CONTINUATION frames and rejects PUSH_PROMISE. [`Allowance`] bounds all other frames between two pieces of
//! a response, or of an upload.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use h2::{Reason, RecvStream, SendStream};
use http::header::{CONTENT_LENGTH, HOST, HeaderMap};
use http::request::Parts;
use http::uri::{Authority, Scheme, Uri};
use http::{Request, Response, Version};
use http_body::Body;
use tokio::task::{AbortHandle, spawn_local};

use crate::metered::{Allowance, MeteredSocket};
use crate::upload::ProxiedBody;

/// Maximum number of bytes of a response that are in memory because its reader is slow.
const WINDOW: u32 = 256 << 10;
/// Maximum size of the header list of a response, and of its trailers.
const HEAD: u32 = 256 << 10;

/// The sending half of a connection.
pub(crate) struct Http2Sender {
    sender: SendRequest<Bytes>,
    /// The scheme of its requests.
    scheme: Scheme,
}

/// A request that has no response.
pub(crate) struct Http2Failure {
    pub error: h2::Error,
    /// The body, if none of it was read.
    pub body: Option<ProxiedBody>,
    /// Whether the backend has not processed the request (RFC 9113, section 8.7).
    pub is_unprocessed: bool,
}

impl Http2Failure {
    /// Whether the connection was lost. A backend that resets a stream, or breaks the protocol, has the request.
    pub fn is_of_connection(&self) -> bool {
        self.error.is_io() || is_graceful_end(&self.error)
    }
}

/// Whether the backend ends its connection without an error: GOAWAY with NO_ERROR.
fn is_graceful_end(error: &h2::Error) -> bool {
    error.is_go_away() && error.is_remote() && error.reason() == Some(Reason::NO_ERROR)
}

/// The body of a response, with its trailers.
pub(crate) struct Http2Body {
    stream: RecvStream,
    /// `Content-Length` minus the bytes received.
    left: Option<u64>,
    allowance: Allowance,
    _upload: Option<UploadTask>,
}

/// Sends the body of a request. Dropping it resets the stream.
struct UploadTask(AbortHandle);

impl Drop for UploadTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Begins a connection. The task reads and writes.
pub(crate) async fn handshake(socket: MeteredSocket, is_secure: bool) -> Result<(Http2Sender, AbortHandle), h2::Error> {
    let (sender, connection) = Builder::new()
        .enable_push(false)
        .initial_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_header_list_size(HEAD)
        .handshake(socket)
        .await?;
    let task = spawn_local(async move { drop(connection.await) }).abort_handle();
    let scheme = if is_secure { Scheme::HTTPS } else { Scheme::HTTP };
    Ok((Http2Sender { sender, scheme }, task))
}

impl Http2Sender {
    /// Whether the connection takes a request now; `None` if it takes none any more.
    pub fn is_ready(&mut self) -> Option<bool> {
        match self.sender.poll_ready(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(())) => Some(true),
            Poll::Ready(Err(_)) => None,
            Poll::Pending => Some(false),
        }
    }

    /// Sends a request, and waits for the head of the response.
    pub async fn send(
        &mut self,
        request: Request<ProxiedBody>,
        allowance: &Allowance,
    ) -> Result<Response<Http2Body>, Http2Failure> {
        let (mut head, body) = request.into_parts();
        adapt(&mut head, &body, self.scheme.clone());
        if let Err(error) = poll_fn(|cx| self.sender.poll_ready(cx)).await {
            return Err(Http2Failure { error, body: Some(body), is_unprocessed: true });
        }
        let is_over = body.is_end_stream();
        let (response, stream) = match self.sender.send_request(Request::from_parts(head, ()), is_over) {
            Ok(begun) => begun,
            Err(error) => return Err(Http2Failure { error, body: Some(body), is_unprocessed: true }),
        };
        let sending = (!is_over).then(|| spawn_local(upload(body, stream, allowance.clone())));
        let upload = sending.map(|task| UploadTask(task.abort_handle()));
        match response.await {
            Ok(response) => Ok(response_of(response, allowance.clone(), upload)),
            Err(error) => {
                let is_unprocessed = error.reason() == Some(Reason::REFUSED_STREAM) || is_graceful_end(&error);
                Err(Http2Failure { error, body: None, is_unprocessed })
            }
        }
    }
}

/// Gives the head the form of HTTP/2: the host in the target, and the length that hyper adds for HTTP/1.
fn adapt(head: &mut Parts, body: &ProxiedBody, scheme: Scheme) {
    let host = head.headers.remove(HOST);
    let authority = host.and_then(|host| Authority::try_from(host.as_bytes()).ok());
    let mut uri = std::mem::take(&mut head.uri).into_parts();
    uri.scheme = Some(scheme);
    uri.authority = Some(authority.unwrap_or(Authority::from_static("localhost")));
    // The parts come from a valid URI, and a path is always there.
    head.uri = Uri::from_parts(uri).unwrap_or_default();
    head.version = Version::HTTP_2;
    if let Some(length) = body.size_hint().exact().filter(|length| *length > 0) {
        head.headers.insert(CONTENT_LENGTH, length.into());
    }
}

fn response_of(
    response: Response<RecvStream>,
    allowance: Allowance,
    upload: Option<UploadTask>,
) -> Response<Http2Body> {
    let length = response.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    response.map(|stream| Http2Body { stream, left: length, allowance, _upload: upload })
}

/// Sends the body as fast as the backend's windows allow. An upload that fails resets the stream.
async fn upload(mut body: ProxiedBody, mut stream: SendStream<Bytes>, allowance: Allowance) {
    loop {
        let frame = poll_fn(|cx| match stream.poll_reset(cx) {
            Poll::Ready(_) => Poll::Ready(None),
            Poll::Pending => Pin::new(&mut body).poll_frame(cx).map(Some),
        });
        let piece = match frame.await {
            None => return,
            Some(None) => return drop(stream.send_data(Bytes::new(), true)),
            Some(Some(Err(_))) => return stream.send_reset(Reason::CANCEL),
            Some(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
        };
        if pass(piece, &mut stream, &allowance).await.is_none() {
            return;
        }
    }
}

/// Sends a piece. `None`: the stream has ended.
async fn pass(mut piece: Bytes, stream: &mut SendStream<Bytes>, allowance: &Allowance) -> Option<()> {
    while !piece.is_empty() {
        stream.reserve_capacity(piece.len());
        let room = poll_fn(|cx| stream.poll_capacity(cx)).await?.ok()?;
        let part = piece.split_to(room.min(piece.len()));
        if !part.is_empty() {
            // Each WINDOW_UPDATE that makes room costs bytes of the allowance.
            allowance.begin();
        }
        stream.send_data(part, false).ok()?;
    }
    Some(())
}

/// A part of a response.
pub(crate) enum Received {
    Piece(Bytes),
    Trailers(HeaderMap),
}

impl Http2Body {
    /// Number of bytes that the backend has yet to send, if it sent a Content-Length.
    pub fn length(&self) -> Option<u64> {
        self.left
    }

    pub fn is_over(&self) -> bool {
        self.stream.is_end_stream()
    }

    fn take(&mut self, piece: Bytes) -> Result<Received, h2::Error> {
        self.allowance.begin();
        self.left = self.left.map(|left| left.saturating_sub(piece.len() as u64));
        self.stream.flow_control().release_capacity(piece.len())?;
        Ok(Received::Piece(piece))
    }

    /// The next part. The backend may then send as many bytes again.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Received, h2::Error>>> {
        while let Some(piece) = ready!(self.stream.poll_data(cx)) {
            // Frames without data do not count as progress.
            if !piece.as_ref().is_ok_and(Bytes::is_empty) {
                return Poll::Ready(Some(piece.and_then(|piece| self.take(piece))));
            }
        }
        match ready!(self.stream.poll_trailers(cx)) {
            Ok(trailers) => Poll::Ready(trailers.map(|trailers| Ok(Received::Trailers(trailers)))),
            Err(error) => Poll::Ready(Some(Err(error))),
        }
    }
}
