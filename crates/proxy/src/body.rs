//! Bodies on their way from a backend.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body::Body;
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep};

use crate::http2::{Http2Body, Received};
use crate::metered::Allowance;

/// The body of a backend's response. At its end the connection becomes idle; if the body is dropped before, the
/// connection is closed.
pub struct BackendBody {
    incoming: IncomingBody,
    /// Trailers, which only HTTP/2 passes on.
    trailers: Option<HeaderMap>,
    piece: Duration,
    /// When the backend has been silent for `piece`; the time counts only while a piece is awaited.
    silence: Pin<Box<Sleep>>,
    is_awaited: bool,
    /// Returns the connection to the idle ones.
    at_end: Option<Box<dyn FnOnce()>>,
}

/// The body of a response as its protocol delivers it.
#[allow(clippy::large_enum_variant, reason = "a body is a part of a boxed response")]
pub(crate) enum IncomingBody {
    /// With the bytes that the backend may send before the next piece.
    Http1(Incoming, Allowance),
    Http2(Http2Body),
}

impl IncomingBody {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Received>>> {
        let (body, allowance) = match self {
            IncomingBody::Http2(body) => {
                return body.poll(cx).map(|part| part.map(|part| part.map_err(io::Error::other)));
            }
            IncomingBody::Http1(body, allowance) => (body, allowance),
        };
        loop {
            match ready!(Pin::new(&mut *body).poll_frame(cx)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(io::Error::other(error)))),
                // Trailers of a backend of HTTP/1 are not passed on.
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(piece) => {
                        allowance.begin();
                        return Poll::Ready(Some(Ok(Received::Piece(piece))));
                    }
                    Err(_) => continue,
                },
            }
        }
    }
}

impl BackendBody {
    pub(crate) fn new(incoming: IncomingBody, piece: Duration, at_end: Box<dyn FnOnce()>) -> BackendBody {
        let mut body = BackendBody {
            incoming,
            trailers: None,
            piece,
            silence: Box::pin(sleep(piece)),
            is_awaited: false,
            at_end: Some(at_end),
        };
        if body.is_over() {
            body.end();
        }
        body
    }

    /// Number of bytes that the backend has yet to send, if it sent a Content-Length.
    pub fn length(&self) -> Option<u64> {
        match &self.incoming {
            IncomingBody::Http1(body, _) => body.size_hint().exact(),
            IncomingBody::Http2(body) => body.length(),
        }
    }

    /// Whether the body has ended.
    pub fn is_over(&self) -> bool {
        match &self.incoming {
            IncomingBody::Http1(body, _) => body.is_end_stream(),
            IncomingBody::Http2(body) => body.is_over(),
        }
    }

    /// The trailers of a body of HTTP/2 that has ended.
    pub fn take_trailers(&mut self) -> Option<HeaderMap> {
        self.trailers.take()
    }

    fn end(&mut self) {
        if let Some(at_end) = self.at_end.take() {
            at_end();
        }
    }

    /// The next bytes. An error if the backend breaks off, or is silent for too long.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        loop {
            let received = match self.incoming.poll(cx) {
                Poll::Ready(received) => received,
                Poll::Pending => {
                    if !std::mem::replace(&mut self.is_awaited, true) {
                        self.silence.as_mut().reset(Instant::now() + self.piece);
                    }
                    ready!(self.silence.as_mut().poll(cx));
                    return Poll::Ready(Some(Err(io::ErrorKind::TimedOut.into())));
                }
            };
            self.is_awaited = false;
            match received {
                None => {
                    self.end();
                    return Poll::Ready(None);
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(Received::Trailers(trailers))) => self.trailers = Some(trailers),
                Some(Ok(Received::Piece(piece))) => {
                    if self.is_over() {
                        self.end();
                    }
                    return Poll::Ready(Some(Ok(piece)));
                }
            }
        }
    }
}
