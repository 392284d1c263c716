//! The body of an application's response.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use fastcgi::{CgiHead, FastcgiEvent, HeadError, HeadReader};

use super::exchange::Exchange;
use super::failure::FastcgiFailure;
use crate::connect::Socket;

/// Receives an application's lines for the error log.
pub type StderrSink = Box<dyn FnMut(&[u8])>;

/// The body of an application's response. At its end it gives the connection back; dropped before, it closes it.
pub struct FastcgiBody {
    exchange: Option<Exchange>,
    stderr: StderrSink,
    /// Body that came with the head.
    first: Bytes,
    /// The remaining length, if the application has named one.
    left: Option<u64>,
    at_end: Option<Box<dyn FnOnce(Socket)>>,
    /// Why the response is incomplete; each further poll fails.
    failed: Option<String>,
}

/// Reads output until the head is complete. The length of the body is not known yet.
pub(crate) async fn read_head(
    exchange: &mut Exchange,
    stderr: &mut StderrSink,
) -> Result<(CgiHead, Bytes), FastcgiFailure> {
    let mut reader = HeadReader::default();
    loop {
        match poll_fn(|cx| exchange.poll_event(cx)).await? {
            FastcgiEvent::Stderr(text) => stderr(&text),
            FastcgiEvent::End(_) => return Err(FastcgiFailure::Head(HeadError::Incomplete)),
            FastcgiEvent::Stdout(piece) => {
                if let Some(found) = reader.push(&piece).map_err(FastcgiFailure::Head)? {
                    return Ok(found);
                }
            }
        }
    }
}

impl FastcgiBody {
    pub(crate) fn new(
        exchange: Exchange,
        stderr: StderrSink,
        first: Bytes,
        left: Option<u64>,
        at_end: Option<Box<dyn FnOnce(Socket)>>,
    ) -> FastcgiBody {
        FastcgiBody { exchange: Some(exchange), stderr, first, left, at_end, failed: None }
    }

    /// The number of bytes that are still to come, if the application has named it.
    pub fn length(&self) -> Option<u64> {
        self.left
    }

    /// Whether nothing more comes.
    pub fn is_over(&self) -> bool {
        self.failed.is_none() && self.first.is_empty() && (self.exchange.is_none() || self.left == Some(0))
    }

    /// The next bytes.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if !self.first.is_empty() {
            let first = std::mem::take(&mut self.first);
            return Poll::Ready(self.counted(first));
        }
        loop {
            let Some(exchange) = &mut self.exchange else {
                return Poll::Ready(self.failed.clone().map(|why| Err(io::Error::other(why))));
            };
            match ready!(exchange.poll_event(cx)) {
                Ok(FastcgiEvent::Stderr(text)) => (self.stderr)(&text),
                Ok(FastcgiEvent::Stdout(piece)) => {
                    if let Some(piece) = self.counted(piece) {
                        return Poll::Ready(Some(piece));
                    }
                }
                Ok(FastcgiEvent::End(_)) => {
                    self.end();
                    self.failed = self.missing().map(|failure| failure.to_string());
                }
                Err(failure) => {
                    self.exchange = None;
                    self.failed = Some(failure.to_string());
                }
            }
        }
    }

    /// Reads the rest of a response whose body no client wants, so that its lines for the log arrive and the connection
    /// can be used again. At most `most` bytes are read.
    pub async fn discard(mut self, most: usize) {
        (self.left, self.first) = (None, Bytes::new());
        let mut read = 0;
        while read <= most {
            match poll_fn(|cx| self.poll(cx)).await {
                Some(Ok(piece)) => read += piece.len(),
                Some(Err(_)) | None => return,
            }
        }
    }

    /// The part of `piece` that belongs to the named length.
    fn counted(&mut self, mut piece: Bytes) -> Option<io::Result<Bytes>> {
        if let Some(left) = &mut self.left {
            piece.truncate(usize::try_from(*left).unwrap_or(usize::MAX));
            *left -= piece.len() as u64;
        }
        (!piece.is_empty()).then_some(Ok(piece))
    }

    fn missing(&self) -> Option<FastcgiFailure> {
        self.left.filter(|left| *left > 0).map(FastcgiFailure::Short)
    }

    fn end(&mut self) {
        let idle = self.exchange.take().and_then(Exchange::into_idle);
        if let (Some(socket), Some(at_end)) = (idle, self.at_end.take()) {
            at_end(socket);
        }
    }
}

impl Drop for FastcgiBody {
    /// The last bytes of a body of known length may be read before the record that ends the request.
    fn drop(&mut self) {
        if self.left != Some(0) || !self.first.is_empty() {
            return;
        }
        let mut cx = Context::from_waker(std::task::Waker::noop());
        while let Some(exchange) = &mut self.exchange {
            match exchange.poll_event(&mut cx) {
                Poll::Ready(Ok(FastcgiEvent::Stderr(text))) => (self.stderr)(&text),
                Poll::Ready(Ok(FastcgiEvent::End(_))) => self.end(),
                Poll::Ready(Ok(FastcgiEvent::Stdout(_)) | Err(_)) | Poll::Pending => return,
            }
        }
    }
}
