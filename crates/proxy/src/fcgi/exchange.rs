//! One request on a connection to a FastCGI application: writes and reads as fast as the application and the reader of
//! the response allow.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use fastcgi::{FastcgiEvent, ResponseReader, request};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::failure::FastcgiFailure;
use crate::connect::Socket;
use crate::upload::BodyStream;

/// Maximum number of bytes that are read at once.
const PIECE: usize = 32 << 10;

/// A connection with a request on its way.
pub(crate) struct Exchange {
    socket: Socket,
    /// Records that the application has not taken yet.
    out: Bytes,
    upload: Option<BodyStream>,
    /// Whether the application takes no more of the request; its response may still come.
    is_deaf: bool,
    reader: ResponseReader,
    input: BytesMut,
    received: bool,
    is_over: bool,
    /// Longest time without a byte in either direction.
    piece: Duration,
    silence: Pin<Box<Sleep>>,
    is_timed: bool,
}

impl Exchange {
    /// Begins a request. `records` are those before the body.
    pub fn begin(socket: Socket, records: Vec<u8>, upload: Option<BodyStream>, piece: Duration) -> Exchange {
        let mut records = records;
        if upload.is_none() {
            records.extend_from_slice(&request::end_of_stdin());
        }
        Exchange {
            socket,
            out: records.into(),
            upload,
            is_deaf: false,
            reader: ResponseReader::default(),
            input: BytesMut::new(),
            received: false,
            is_over: false,
            piece,
            silence: Box::pin(sleep(piece)),
            is_timed: false,
        }
    }

    /// The connection, if the application and this server agree that it can take another request.
    pub fn into_idle(self) -> Option<Socket> {
        let is_sent = self.upload.is_none() && self.out.is_empty() && !self.is_deaf;
        (self.is_over && is_sent && self.input.is_empty()).then_some(self.socket)
    }

    /// The next event of the response.
    pub fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Result<FastcgiEvent, FastcgiFailure>> {
        loop {
            if let Some(event) = self.reader.next(&mut self.input).map_err(FastcgiFailure::Protocol)? {
                self.is_over |= matches!(event, FastcgiEvent::End(_));
                return Poll::Ready(Ok(event));
            }
            let awaits_client = self.write(cx)?;
            match self.read(cx) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(FastcgiFailure::Closed { silent: !self.received })),
                Poll::Ready(Ok(_)) => self.is_timed = false,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(self.lost(error))),
                Poll::Pending if awaits_client => {
                    self.is_timed = false;
                    return Poll::Pending;
                }
                Poll::Pending => {
                    ready!(self.wait(cx));
                    return Poll::Ready(Err(FastcgiFailure::Slow(self.piece)));
                }
            }
        }
    }

    fn lost(&self, error: io::Error) -> FastcgiFailure {
        match error.kind() {
            io::ErrorKind::ConnectionReset => FastcgiFailure::Closed { silent: !self.received },
            _ => FastcgiFailure::Lost(error),
        }
    }

    /// Ready when the application has been silent for `piece`.
    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !std::mem::replace(&mut self.is_timed, true) {
            self.silence.as_mut().reset(Instant::now() + self.piece);
        }
        self.silence.as_mut().poll(cx)
    }

    /// Writes what the application takes. True if the client's next piece is awaited.
    fn write(&mut self, cx: &mut Context<'_>) -> Result<bool, FastcgiFailure> {
        loop {
            while !self.out.is_empty() && !self.is_deaf {
                match Pin::new(&mut self.socket).poll_write(cx, &self.out) {
                    Poll::Ready(Ok(0)) | Poll::Ready(Err(_)) => self.is_deaf = true,
                    Poll::Ready(Ok(taken)) => {
                        self.out.advance(taken);
                        self.is_timed = false;
                    }
                    Poll::Pending => return Ok(false),
                }
            }
            // An application that has closed its end may have answered before: what it sent is read.
            let Some(upload) = self.upload.as_mut().filter(|_| !self.is_deaf) else { return Ok(false) };
            match upload.as_mut().poll_frame(cx) {
                Poll::Pending => return Ok(true),
                Poll::Ready(Some(Err(error))) => return Err(FastcgiFailure::Lost(error)),
                Poll::Ready(Some(Ok(frame))) => {
                    self.out = request::stdin(&frame.into_data().unwrap_or_default()).into();
                }
                Poll::Ready(None) => {
                    self.upload = None;
                    self.out = Bytes::copy_from_slice(&request::end_of_stdin());
                }
            }
        }
    }

    fn read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut piece = [0; PIECE];
        let mut buffer = ReadBuf::new(&mut piece);
        ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer))?;
        self.input.extend_from_slice(buffer.filled());
        self.received |= !buffer.filled().is_empty();
        Poll::Ready(Ok(buffer.filled().len()))
    }
}
