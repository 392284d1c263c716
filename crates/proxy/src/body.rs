//! Bodies on their way to a backend and back.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep, sleep};

use crate::expectation::Expectation;
use crate::http2::{Http2Body, Received};
use crate::waits::Progress;

/// The source of a request's body.
pub type BodyStream = Pin<Box<dyn Body<Data = Bytes, Error = io::Error>>>;

/// The body of a request to a backend.
pub struct ProxiedBody {
    source: Option<BodyStream>,
    progress: Progress,
    /// Delays the body until the backend wants it.
    expectation: Option<Expectation>,
}

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
    Http1(Incoming),
    Http2(Http2Body),
}

impl IncomingBody {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Received>>> {
        let body = match self {
            IncomingBody::Http2(body) => {
                return body.poll(cx).map(|part| part.map(|part| part.map_err(io::Error::other)));
            }
            IncomingBody::Http1(body) => body,
        };
        loop {
            match ready!(Pin::new(&mut *body).poll_frame(cx)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(io::Error::other(error)))),
                // Trailers of a backend of HTTP/1 are not passed on.
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(piece) => return Poll::Ready(Some(Ok(Received::Piece(piece)))),
                    Err(_) => continue,
                },
            }
        }
    }
}

impl ProxiedBody {
    pub(crate) fn new(source: Option<BodyStream>, progress: Progress) -> ProxiedBody {
        ProxiedBody { source, progress, expectation: None }
    }

    /// Delays the body.
    pub(crate) fn wait_for(&mut self, expectation: Expectation) {
        self.expectation = Some(expectation);
    }

    /// The source, for another backend.
    pub(crate) fn into_source(self) -> Option<BodyStream> {
        self.source
    }
}

impl Body for ProxiedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        // hyper polls for a piece when the backend has taken the last one.
        self.progress.note();
        if let Some(expectation) = &mut self.expectation {
            ready!(expectation.poll(cx));
            self.expectation = None;
        }
        let frame = match &mut self.source {
            Some(source) => source.as_mut().poll_frame(cx),
            None => Poll::Ready(None),
        };
        if frame.is_pending() {
            self.progress.awaits_client();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.source.as_ref().is_none_or(|source| source.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.source.as_ref().map_or_else(|| SizeHint::with_exact(0), |source| source.size_hint())
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
            IncomingBody::Http1(body) => body.size_hint().exact(),
            IncomingBody::Http2(body) => body.length(),
        }
    }

    /// Whether the body has ended.
    pub fn is_over(&self) -> bool {
        match &self.incoming {
            IncomingBody::Http1(body) => body.is_end_stream(),
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
