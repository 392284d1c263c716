//! A body that is compressed as it is sent, no faster than the client takes it.

use std::io::{self, Write};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::{BodySource, PIECE};

/// Compressed bytes are sent when there are so many, or when the program pauses.
const FULL: usize = 16 * 1024;

/// So many bytes are compressed before other tasks have their turn.
const TURN: usize = 256 * 1024;

/// A body on its way through gzip.
pub struct Gzip {
    inner: BodySource,
    /// The rest of the piece that is being compressed.
    rest: Bytes,
    /// `None` when everything was compressed.
    encoder: Option<GzEncoder<Vec<u8>>>,
    /// The encoder holds bytes that were not sent.
    holds: bool,
}

impl Gzip {
    /// What `inner` brings, compressed so well.
    pub fn new(inner: BodySource, level: Compression) -> Gzip {
        Gzip { inner, rest: Bytes::new(), encoder: Some(GzEncoder::new(Vec::new(), level)), holds: false }
    }

    /// The next compressed bytes. A program that pauses has what it printed so far sent.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let mut turn = 0;
        loop {
            if turn >= TURN {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let piece = self.poll_piece(cx);
            let Some(encoder) = &mut self.encoder else { return Poll::Ready(None) };
            match piece {
                Poll::Pending if self.holds => {
                    self.holds = false;
                    encoder.flush()?;
                    return Poll::Ready(Some(Ok(take(encoder))));
                }
                pending @ Poll::Pending => return pending.map(|_| None),
                Poll::Ready(Some(Ok(bytes))) => {
                    turn += bytes.len();
                    encoder.write_all(&bytes)?;
                    self.holds = true;
                    if encoder.get_ref().len() >= FULL {
                        return Poll::Ready(Some(Ok(take(encoder))));
                    }
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(None) => {
                    let rest = self.encoder.take().map(GzEncoder::finish).transpose()?;
                    return Poll::Ready(rest.map(|rest| Ok(Bytes::from(rest))));
                }
            }
        }
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.encoder.is_none() {
            return Poll::Ready(None);
        }
        if self.rest.is_empty() {
            match ready!(self.inner.poll(cx)) {
                Some(Ok(bytes)) => self.rest = bytes,
                other => return Poll::Ready(other),
            }
        }
        Poll::Ready(Some(Ok(self.rest.split_to(self.rest.len().min(PIECE)))))
    }

    /// The body that is compressed.
    pub fn inner(&self) -> &BodySource {
        &self.inner
    }

    /// Whether the last byte was handed out.
    pub fn is_over(&self) -> bool {
        self.encoder.is_none()
    }
}

fn take(encoder: &mut GzEncoder<Vec<u8>>) -> Bytes {
    std::mem::take(encoder.get_mut()).into()
}
