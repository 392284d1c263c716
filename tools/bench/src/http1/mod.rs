//! HTTP/1.1 for a load tester: requests are encoded beforehand, and of responses only the end is searched.

mod chunks;
mod head;
mod throttle;

use std::io;
use std::pin::Pin;
use std::task::{Context, Waker};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf};

use super::EncodedRequest;
use super::connect::ClientStream;
use super::failure::{FailedRequest, FailureCause};
use super::response::{BodySearch, CompleteResponse};
use super::times::Moments;
use chunks::Chunks;
use head::{BodyEnd, ResponseHead};
use throttle::ReadThrottle;

/// Initial buffer size in bytes, enough for most responses; the buffer grows while reads fill it.
const INITIAL_BUFFER_BYTES: usize = 8 * 1024;
/// Largest buffer size in bytes, and so the longest head.
const MAX_BYTES: usize = 64 * 1024;

/// A connection that may be reused.
pub struct Http1Connection {
    stream: Box<dyn ClientStream>,
    buffer: Vec<u8>,
    /// Unread bytes are in `buffer[start..end]`.
    start: usize,
    end: usize,
    throttle: Option<ReadThrottle>,
    received: u64,
    /// When the first byte of the response arrived.
    first: Option<Instant>,
    is_over: bool,
}

impl Http1Connection {
    /// Makes an HTTP/1.1 connection of `stream` that reads at `bits` per second.
    pub fn new(stream: Box<dyn ClientStream>, bits: Option<f64>) -> Http1Connection {
        let (buffer, throttle) = (vec![0; INITIAL_BUFFER_BYTES], bits.map(ReadThrottle::new));
        Http1Connection { stream, buffer, start: 0, end: 0, throttle, received: 0, first: None, is_over: false }
    }

    /// Whether the server still accepts requests on this connection. Servers often close idle connections,
    /// which is no failure of a request that was not sent. Costs no system call while nothing has arrived.
    pub fn is_usable(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        let mut byte = [0];
        !self.is_over
            && self.start == self.end
            && Pin::new(&mut self.stream).poll_read(&mut context, &mut ReadBuf::new(&mut byte)).is_pending()
    }

    /// Sends `request` and reads its response; `body` gets each piece of the body.
    pub async fn exchange(
        &mut self,
        request: &EncodedRequest,
        body: &mut BodySearch<'_>,
    ) -> Result<CompleteResponse, FailedRequest> {
        let before = self.received;
        self.is_over = true;
        self.first = None;
        let sent = self.send(request).await;
        let at = Instant::now();
        // A server may respond and close before it has read the whole request: then the response counts.
        let head = match (self.head(request).await, sent) {
            (Ok(head), _) => head,
            (Err(_), Err(error)) => return Err(FailedRequest::broken(false, &error)),
            (Err(failure), Ok(())) => return Err(failure),
        };
        match head.framing {
            BodyEnd::Length(length) => self.body_of(length, body).await?,
            BodyEnd::Chunked => self.chunks(body).await?,
            BodyEnd::UntilClose => self.rest(body).await?,
        }
        self.is_over = !head.keeps_alive;
        let moments = Moments { sent: at, first: self.first.unwrap_or(at) };
        Ok(CompleteResponse { status: head.status, received: self.received - before, moments })
    }

    async fn send(&mut self, request: &EncodedRequest) -> io::Result<()> {
        for piece in &request.pieces {
            self.stream.write_all(piece).await?;
        }
        self.stream.flush().await
    }

    /// Reads the head of the response; skips informational ones.
    async fn head(&mut self, request: &EncodedRequest) -> Result<ResponseHead, FailedRequest> {
        loop {
            if let Some(head) = ResponseHead::parse(self.waiting(), &request.method)? {
                self.start += head.size;
                if !(100..200).contains(&head.status) {
                    return Ok(head);
                }
                continue;
            }
            if self.waiting().len() >= MAX_BYTES {
                return Err(FailedRequest::new(
                    FailureCause::Malformed,
                    format!("a head of more than {MAX_BYTES} bytes"),
                ));
            }
            let began = self.start < self.end;
            self.more(began).await?;
            self.first.get_or_insert_with(Instant::now);
        }
    }

    async fn body_of(&mut self, length: u64, body: &mut BodySearch<'_>) -> Result<(), FailedRequest> {
        let mut left = length;
        loop {
            let piece = self.waiting();
            let piece = piece.get(..usize::try_from(left).unwrap_or(usize::MAX)).unwrap_or(piece);
            let size = piece.len();
            body.see(piece);
            self.start += size;
            left -= size as u64;
            if left == 0 {
                return Ok(());
            }
            self.more(true).await?;
        }
    }

    async fn chunks(&mut self, body: &mut BodySearch<'_>) -> Result<(), FailedRequest> {
        let mut chunks = Chunks::default();
        while !chunks.is_done() {
            if self.start == self.end {
                self.more(true).await?;
            }
            let taken = chunks.take(self.waiting(), &mut |piece| body.see(piece));
            self.start +=
                taken.ok_or_else(|| FailedRequest::new(FailureCause::Malformed, "a body that is not chunked"))?;
        }
        Ok(())
    }

    async fn rest(&mut self, body: &mut BodySearch<'_>) -> Result<(), FailedRequest> {
        loop {
            body.see(self.waiting());
            self.start = self.end;
            if self.read().await.map_err(|error| FailedRequest::broken(true, &error))? == 0 {
                return Ok(());
            }
        }
    }

    fn waiting(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Reads at least one byte; `began`: a part of the response has been read.
    async fn more(&mut self, began: bool) -> Result<(), FailedRequest> {
        match self.read().await {
            Ok(0) => Err(FailedRequest::broken(began, &io::Error::other("the server closed the connection"))),
            Ok(_) => Ok(()),
            Err(error) => Err(FailedRequest::broken(began, &error)),
        }
    }

    async fn read(&mut self) -> io::Result<usize> {
        self.make_room();
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        let size = match &mut self.throttle {
            None => self.stream.read(room).await?,
            Some(throttle) => throttle.read(&mut self.stream, room).await?,
        };
        self.end += size;
        self.received += size as u64;
        Ok(size)
    }

    fn make_room(&mut self) {
        let was_filled = self.end == self.buffer.len();
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if was_filled && self.buffer.len() < MAX_BYTES {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
    }
}
