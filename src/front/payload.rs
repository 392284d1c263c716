//! The body of a response on its way to hyper.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::compress::Gzip;
use super::exchange::Shared;
use super::failure::Truncated;
use super::record::Visit;
use super::site::Site;

/// A file is read in pieces of this size.
pub const PIECE: usize = 64 * 1024;

/// Where the bytes come from.
pub enum Kind {
    /// There are none.
    Empty,
    /// All at once.
    Whole(Bytes),
    /// From a worker, as it makes them; with the length when it is known.
    Stream(Ticket, Option<u64>),
    /// From a file.
    File(FileBody),
    /// Compressed on the way.
    Gzip(Box<Gzip>),
}

/// A claim on an exchange; giving it up lets the worker finish for nobody.
pub struct Ticket {
    site: Rc<Site>,
    exchange: Shared,
}

/// Parts of a file with text between them (multipart ranges), or one part without.
pub struct FileBody {
    file: File,
    segments: VecDeque<Segment>,
    left: u64,
}

/// A stretch of a file's body.
#[derive(Debug, PartialEq, Eq)]
pub enum Segment {
    /// Of our own making.
    Text(Bytes),
    /// From the file.
    Range {
        /// First byte.
        from: u64,
        /// One after the last.
        to: u64,
    },
}

/// A response's body; what the client gets is counted for its log record.
pub struct Payload {
    kind: Kind,
    visit: Visit,
    kept: bool,
    /// The next poll ends the connection.
    broken: bool,
}

impl Ticket {
    /// A claim on `exchange` of `site`'s pool.
    pub fn new(site: Rc<Site>, exchange: Shared) -> Ticket {
        Ticket { site, exchange }
    }

    /// The exchange.
    pub fn exchange(&self) -> &Shared {
        &self.exchange
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.site.pool.abandon(&self.exchange);
    }
}

impl Kind {
    /// Of bytes that are there.
    pub fn whole(bytes: Bytes) -> Kind {
        if bytes.is_empty() { Kind::Empty } else { Kind::Whole(bytes) }
    }

    /// The length when it is known; an empty body may be one that was not made (HEAD).
    pub fn length(&self) -> Option<u64> {
        match self {
            Kind::Empty => None,
            Kind::Whole(bytes) => Some(bytes.len() as u64),
            Kind::Stream(_, length) => *length,
            Kind::File(file) => Some(file.left),
            Kind::Gzip(_) => None,
        }
    }

    /// Whether there is more of it already than its head says.
    pub fn exceeds_its_promise(&self) -> bool {
        self.promised().is_some_and(|promised| self.waiting() > promised)
    }

    /// How much is still to come of what a worker has promised.
    fn promised(&self) -> Option<u64> {
        if let Kind::Stream(_, promised) = self { *promised } else { None }
    }

    /// How much of a worker's body is there already.
    fn waiting(&self) -> u64 {
        if let Kind::Stream(ticket, _) = self { ticket.exchange.borrow().spool.len() } else { 0 }
    }

    /// The next bytes.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        match self {
            Kind::Empty => Poll::Ready(None),
            Kind::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                *self = Kind::Empty;
                Poll::Ready(Some(Ok(bytes)))
            }
            Kind::Stream(ticket, left) => {
                let chunk = ready!(ticket.exchange.borrow_mut().poll_chunk(cx));
                match (chunk, left) {
                    (Some(Ok(chunk)), left) => {
                        *left = left.map(|left| left.saturating_sub(chunk.len() as u64));
                        Poll::Ready(Some(Ok(chunk)))
                    }
                    (None, None | Some(0)) => Poll::Ready(None),
                    _ => Poll::Ready(Some(Err(io::Error::other(Truncated)))),
                }
            }
            Kind::File(file) => Poll::Ready(file.next().transpose()),
            Kind::Gzip(gzip) => gzip.poll(cx),
        }
    }
}

impl Payload {
    /// The body of `visit`'s answer; `kept` says whether the connection goes on afterwards.
    pub fn new(kind: Kind, visit: Visit, kept: bool) -> Payload {
        if matches!(kind, Kind::Empty) {
            visit.complete(kept);
        }
        Payload { kind, visit, kept, broken: false }
    }

    /// Of a body that is longer than was promised, the client gets what it was promised, and then the end of the
    /// connection: nobody can know which of the two numbers is wrong.
    fn within(&self, promised: Option<u64>, mut bytes: Bytes) -> Bytes {
        let Some(promised) = promised else { return bytes };
        if bytes.len() as u64 + self.kind.waiting() > promised {
            self.visit.client.close();
            if let Some(route) = &*self.visit.route.borrow() {
                self.visit.complain(route, &"the body is longer than its Content-Length");
            }
        }
        bytes.truncate(usize::try_from(promised).unwrap_or(usize::MAX));
        bytes
    }

    /// hyper gives a connection up at an error without sending what it has: let it flush once before.
    fn break_off(&mut self, cx: &mut Context<'_>, error: io::Error) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if std::mem::replace(&mut self.broken, true) {
            return Poll::Ready(Some(Err(error)));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Body for Payload {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let promised = self.kind.promised();
        match ready!(self.kind.poll(cx)) {
            Some(Ok(bytes)) => {
                let bytes = self.within(promised, bytes);
                self.visit.body_bytes.update(|sent| sent + bytes.len() as u64);
                if self.is_end_stream() || self.kind.length() == Some(0) {
                    self.visit.complete(self.kept);
                }
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Some(Err(error)) => self.break_off(cx, error),
            None => {
                self.visit.complete(self.kept);
                Poll::Ready(None)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Empty => true,
            Kind::Whole(_) => false,
            Kind::Stream(ticket, left) => left.unwrap_or(0) == 0 && ticket.exchange.borrow().is_exhausted(),
            Kind::File(file) => file.left == 0,
            Kind::Gzip(gzip) => gzip.is_over(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Empty => SizeHint::with_exact(0),
            kind => kind.length().map_or_else(SizeHint::default, SizeHint::with_exact),
        }
    }
}

impl FileBody {
    /// These parts of `file`.
    pub fn new(file: File, segments: impl Into<VecDeque<Segment>>) -> FileBody {
        let segments = segments.into();
        let left = segments.iter().map(Segment::len).sum();
        FileBody { file, segments, left }
    }

    /// The next piece; a file that has become shorter is an error, so that the client can see it.
    pub fn next(&mut self) -> io::Result<Option<Bytes>> {
        let Some(segment) = self.segments.pop_front() else { return Ok(None) };
        let bytes = match segment {
            Segment::Text(bytes) => bytes,
            Segment::Range { from, to } => {
                let mut piece = vec![0; (to - from).min(PIECE as u64) as usize];
                self.file.read_exact_at(&mut piece, from)?;
                let next = from + piece.len() as u64;
                if next < to {
                    self.segments.push_front(Segment::Range { from: next, to });
                }
                Bytes::from(piece)
            }
        };
        self.left -= bytes.len() as u64;
        Ok(Some(bytes))
    }
}

impl Segment {
    fn len(&self) -> u64 {
        match self {
            Segment::Text(bytes) => bytes.len() as u64,
            Segment::Range { from, to } => to - from,
        }
    }
}
