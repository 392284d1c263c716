//! A request's body as it arrives, independent of the protocol.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

/// The source of the body's bytes.
pub enum Source {
    /// A body from hyper's HTTP/1.
    Http1(Incoming),
    /// A body from a stream of a multiplexed connection.
    Stream(Box<dyn Body<Data = Bytes, Error = io::Error> + Unpin>),
}

impl Body for Source {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match &mut *self {
            Source::Http1(body) => Pin::new(body).poll_frame(cx).map_err(io::Error::other),
            Source::Stream(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Source::Http1(body) => body.is_end_stream(),
            Source::Stream(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Source::Http1(body) => body.size_hint(),
            Source::Stream(body) => body.size_hint(),
        }
    }
}
