//! The body of a response on its way to hyper or h2.

mod compressed;
mod encoder;
mod file;
mod filtered;
mod held;
mod in_turn;
mod teed;

pub use crate::base::pieces::PIECE;
pub use compressed::{AT_ONCE, Compressed, STEP};
pub use encoder::{Encoder, EncoderAction, EncoderStep};
pub use file::{FileBody, Segment};
pub use filtered::{FilteredBody, TextTransform, TransformNeed};
pub use held::HeldBody;
pub use in_turn::in_turn;
pub use teed::{Teed, tee};

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{HeaderMap, Method};
use http_body::{Body, Frame, SizeHint};

use crate::base::failure::Truncated;
use crate::request::context::{RequestContext, RequestGuard};
use crate::request::includes::body::ParsedBody;
use crate::request::proxied::download::Download;
use crate::workers::{Promised, Ticket};

/// The source of a response's bytes.
pub enum BodySource {
    Empty,
    Whole(Bytes),
    /// A worker's output, sent as it arrives, and its length if known.
    Stream(Ticket, Option<u64>),
    /// A file or some of its ranges.
    File(FileBody),
    /// The response of a backend or of a FastCGI application as it arrives.
    Backend(Box<Download>),
    /// A worker's output, which is also collected for the cache.
    Teed(Teed),
    /// A program's output, then published messages.
    Held(Box<HeldBody>),
    /// Another body, compressed while it is sent.
    Compressed(Box<Compressed>),
    /// Another body behind a filter.
    Filtered(Box<FilteredBody>),
    /// A page with server-side includes, executed while it is sent.
    Parsed(Box<ParsedBody>),
}

/// A response's body, which counts the bytes sent for the access log.
pub struct ResponseBody {
    kind: BodySource,
    context: RequestGuard,
    kept: bool,
    /// The next poll returns the error and so ends the connection.
    broken: bool,
    /// See [`ResponseBody::waits`].
    may_leave: bool,
}

impl BodySource {
    pub fn whole(bytes: Bytes) -> BodySource {
        if bytes.is_empty() { BodySource::Empty } else { BodySource::Whole(bytes) }
    }

    /// The length, if known. `None` for an empty body, which may be the omitted body of a HEAD.
    pub fn length(&self) -> Option<u64> {
        match self {
            BodySource::Empty => None,
            BodySource::Whole(bytes) => Some(bytes.len() as u64),
            BodySource::Stream(_, length) => *length,
            BodySource::File(file) => Some(file.left),
            BodySource::Backend(body) => body.length(),
            BodySource::Teed(teed) => teed.length(),
            BodySource::Held(_) | BodySource::Compressed(_) | BodySource::Filtered(_) | BodySource::Parsed(_) => None,
        }
    }

    /// The body without the length that its program has announced, for a filter that parses it: as in httpd, a program
    /// may announce any length there.
    pub fn of_any_length(self) -> BodySource {
        match self {
            BodySource::Stream(ticket, _) => BodySource::Stream(ticket, None),
            other => other,
        }
    }

    /// Whether the body's length shows only at its end.
    pub fn is_of_unknown_length(&self) -> bool {
        !matches!(self, BodySource::Empty) && self.length().is_none()
    }

    /// Compares the worker's actual output with the promised length.
    pub fn measure(&self, record: &Rc<RequestContext>) {
        match self {
            BodySource::Stream(ticket, Some(promised)) => {
                let answer: Rc<dyn Promised> = record.clone();
                ticket.exchange().borrow_mut().length.promise(*promised, Rc::downgrade(&answer));
            }
            BodySource::Held(body) => body.inner().measure(record),
            BodySource::Compressed(body) => body.inner().measure(record),
            BodySource::Filtered(body) => body.inner().measure(record),
            _ => {}
        }
    }

    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        match self {
            BodySource::Empty => Poll::Ready(None),
            BodySource::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                *self = BodySource::Empty;
                Poll::Ready(Some(Ok(bytes)))
            }
            BodySource::Stream(ticket, left) => {
                let piece = ready!(ticket.poll(left, cx));
                Poll::Ready(piece.map(|piece| piece.map_err(io::Error::other)))
            }
            BodySource::File(file) => file.poll(cx),
            BodySource::Backend(body) => body.poll(cx),
            BodySource::Teed(teed) => teed.poll(cx),
            BodySource::Held(body) => body.poll(cx),
            BodySource::Compressed(body) => body.poll(cx),
            BodySource::Filtered(body) => body.poll(cx),
            BodySource::Parsed(body) => body.poll(cx),
        }
    }
}

impl ResponseBody {
    /// The body of the response to `context`; `kept`: the connection stays open afterwards.
    pub fn new(kind: BodySource, context: RequestGuard, kept: bool) -> ResponseBody {
        let body = ResponseBody { kind, context, kept, broken: false, may_leave: false };
        if matches!(body.kind, BodySource::Empty) || body.kind.length() == Some(0) {
            body.complete();
        }
        body
    }

    /// Whether the request is a HEAD, whose response has no body.
    pub fn answers_head(&self) -> bool {
        self.context.head.method == Method::HEAD
    }

    /// Marks the response as aborted: the client does not get the rest.
    pub fn cut(&self) {
        self.context.abort();
    }

    /// Whether the client of a held response is too slow.
    pub fn is_slow(&self, cx: &Context<'_>) -> bool {
        matches!(&self.kind, BodySource::Held(body) if body.is_slow(cx))
    }

    /// Whether the connection stays open after the response.
    pub fn keeps_connection(&self) -> bool {
        self.kept
    }

    /// Lets the body leave hyper while it waits.
    pub fn leaving(mut self) -> ResponseBody {
        self.may_leave = true;
        self
    }

    /// Whether the body may leave hyper now, because it waits for an event that may never come. Its end must show in
    /// HTTP/1.1.
    pub fn waits(&self) -> bool {
        let waits = match &self.kind {
            BodySource::Held(body) => body.waits(),
            BodySource::Backend(body) => !body.is_over(),
            _ => false,
        };
        self.may_leave && waits && !self.context.client.is_open_ended()
    }

    fn complete(&self) {
        self.context.complete(self.kept && !self.context.client.must_close());
    }

    /// The trailers of a backend of HTTP/2, for a client of HTTP/2.
    fn trailers(&mut self) -> Option<HeaderMap> {
        self.context.stream.as_ref()?;
        let BodySource::Backend(body) = &mut self.kind else { return None };
        body.take_trailers()
    }

    /// Delays the error by one poll: hyper then first flushes its buffer, which it discards at an error. The source is
    /// not polled again: after an error it may look complete.
    fn break_off(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.broken = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if self.broken {
            return Poll::Ready(Some(Err(io::Error::other(Truncated))));
        }
        match ready!(self.kind.poll(cx)) {
            Some(Ok(bytes)) => {
                self.context.count_sent(bytes.len());
                if self.is_end_stream() || self.kind.length() == Some(0) {
                    self.complete();
                }
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Some(Err(_)) => self.break_off(cx),
            None => {
                self.complete();
                Poll::Ready(self.trailers().map(|trailers| Ok(Frame::trailers(trailers))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            BodySource::Empty => true,
            BodySource::Whole(_) => false,
            BodySource::Stream(ticket, left) => left.unwrap_or(0) == 0 && ticket.exchange().borrow().is_exhausted(),
            BodySource::File(file) => file.left == 0,
            BodySource::Backend(body) => body.is_over(),
            BodySource::Teed(teed) => teed.is_over(),
            BodySource::Held(body) => body.is_over(),
            BodySource::Compressed(body) => body.is_over(),
            BodySource::Filtered(body) => body.is_over(),
            BodySource::Parsed(body) => body.is_over(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            BodySource::Empty => SizeHint::with_exact(0),
            kind => kind.length().map_or_else(SizeHint::default, SizeHint::with_exact),
        }
    }
}
