//! The body of a request on a stream.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::RecvStream;
use http_body::{Body, Frame, SizeHint};

use super::Interim;

pub struct Upload {
    stream: RecvStream,
    /// `Content-Length` minus the bytes received.
    left: Option<u64>,
    /// Where to queue `100 Continue` before the first read (`Expect: 100-continue`).
    waits: Option<Rc<Interim>>,
}

impl Upload {
    /// Wraps `stream`; `length` is its Content-Length, if known.
    pub fn new(stream: RecvStream, length: Option<u64>, waits: Option<Rc<Interim>>) -> Upload {
        Upload { stream, left: length, waits }
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = io::Error;

    /// Releases flow-control capacity for each piece, so that the client may send as much again.
    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(client) = self.waits.take() {
            client.go_on();
        }
        match ready!(self.stream.poll_data(cx)) {
            None => Poll::Ready(None),
            Some(Err(error)) => Poll::Ready(Some(Err(io::Error::other(error)))),
            Some(Ok(bytes)) => {
                let released = self.stream.flow_control().release_capacity(bytes.len());
                self.left = self.left.map(|left| left.saturating_sub(bytes.len() as u64));
                Poll::Ready(Some(released.map(|()| Frame::data(bytes)).map_err(io::Error::other)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.stream.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
