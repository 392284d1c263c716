//! One side of a relay: its stream, and what waits to be read and to be written.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Size of one read, in bytes.
const READ_BYTES: usize = 16 << 10;
/// Nothing is read that could add to an output of more bytes.
pub const MAX_WAITING_BYTES: usize = 64 << 10;

/// One side of the connection.
pub struct Side<S> {
    stream: S,
    /// Bytes that are received, but not read as frames.
    pub input: BytesMut,
    pub output: Vec<u8>,
    /// Bytes of `output` that are written.
    written: usize,
    /// The side has sent its last byte.
    pub has_ended: bool,
    /// The side takes nothing any more: output is dropped.
    pub is_deaf: bool,
    /// The stream may still hold bytes that were written.
    is_unflushed: bool,
    /// When bytes began to wait for the stream, or some of `output` was written last.
    pub waits_since: Option<Instant>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Side<S> {
    pub fn new(stream: S) -> Side<S> {
        Side {
            stream,
            input: BytesMut::new(),
            output: Vec::new(),
            written: 0,
            is_unflushed: false,
            has_ended: false,
            is_deaf: false,
            waits_since: None,
        }
    }

    /// Written bytes count until all are written, because only then their memory is freed.
    pub fn has_room(&self) -> bool {
        self.output.len() <= MAX_WAITING_BYTES
    }

    pub fn is_written(&self) -> bool {
        self.output.is_empty() && !self.is_unflushed
    }

    /// Reads through a buffer of the stack, so that an idle connection has none.
    pub fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut room = [0; READ_BYTES];
        let mut buffer = ReadBuf::new(&mut room);
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer))?;
        self.has_ended = buffer.filled().is_empty();
        self.input.extend_from_slice(buffer.filled());
        Poll::Ready(Ok(()))
    }

    /// Writes what the stream takes. Returns whether that was something.
    pub fn poll_write(&mut self, cx: &mut Context<'_>, now: Instant) -> io::Result<bool> {
        if self.is_deaf {
            self.output = Vec::new();
        }
        if self.is_written() {
            return Ok(false);
        }
        let mut moved = false;
        while self.written < self.output.len() {
            let left = self.output.get(self.written..).unwrap_or_default();
            match Pin::new(&mut self.stream).poll_write(cx, left) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(written) => self.written += written?,
                Poll::Pending => {
                    if moved || self.waits_since.is_none() {
                        self.waits_since = Some(now);
                    }
                    return Ok(moved);
                }
            }
            (moved, self.is_unflushed) = (true, true);
        }
        (self.output, self.written) = (Vec::new(), 0);
        match Pin::new(&mut self.stream).poll_flush(cx) {
            Poll::Ready(flushed) => {
                (self.is_unflushed, self.waits_since) = (false, None);
                flushed?;
            }
            Poll::Pending if moved => self.waits_since = Some(now),
            Poll::Pending => self.waits_since = self.waits_since.or(Some(now)),
        }
        Ok(moved)
    }

    /// Frees the input's memory once all of it is read.
    pub fn release(&mut self) {
        if self.input.is_empty() {
            self.input = BytesMut::new();
        }
    }

    /// Drops what is to be written, now and later.
    pub fn deafen(&mut self) -> bool {
        (self.output, self.written, self.waits_since) = (Vec::new(), 0, None);
        (self.is_unflushed, self.is_deaf) = (false, true);
        false
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;
    use std::time::Duration;

    use super::*;

    /// As TLS does, takes all bytes at once; flushes only once that is set.
    #[derive(Default)]
    struct Collecting {
        flushes: bool,
    }

    impl AsyncRead for Collecting {
        fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    impl AsyncWrite for Collecting {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Ready(Ok(bytes.len()))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            if self.flushes { Poll::Ready(Ok(())) } else { Poll::Pending }
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    #[test]
    fn bytes_that_the_stream_has_not_flushed_wait() {
        let (mut side, now) = (Side::new(Collecting::default()), Instant::now());
        let mut cx = Context::from_waker(Waker::noop());
        side.output = b"a frame".to_vec();
        assert!(side.poll_write(&mut cx, now).expect("written"));
        assert_eq!((side.waits_since, side.is_written()), (Some(now), false));
        assert!(!side.poll_write(&mut cx, now + Duration::from_secs(1)).expect("nothing to write"));
        assert_eq!(side.waits_since, Some(now));
        side.stream.flushes = true;
        assert!(!side.poll_write(&mut cx, now + Duration::from_secs(2)).expect("nothing to write"));
        assert_eq!((side.waits_since, side.is_written()), (None, true));
    }
}
