//! The transport of an HTTP/2 connection. It counts frames: the client's before h2 reads them, the server's when they
//! are sent.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};

use super::floods::Floods;
use super::frames::Frames;
use super::meter::{StreamMeter, Traffic};
use crate::client::transport::Transport;
use config::protocols::Http2;

/// A transport, shared by its clones.
#[derive(Clone)]
pub struct FrameIo(Rc<RefCell<Inner>>);

struct Inner {
    line: Transport,
    incoming: Frames,
    outgoing: Frames,
    floods: Floods,
    meter: StreamMeter,
    /// Whether the connection is over, so that frames are not counted any more.
    blind: bool,
}

impl FrameIo {
    /// Wraps `line`, before its first byte.
    pub fn new(line: Transport, limits: &Http2) -> FrameIo {
        FrameIo(Rc::new(RefCell::new(Inner {
            line,
            incoming: Frames::of_client(),
            outgoing: Frames::of_server(),
            floods: Floods::new(limits),
            // Maximum number of streams that h2 holds before they are accepted: open and reset ones.
            meter: StreamMeter::new(limits.streams.saturating_add(limits.resets) as usize),
            blind: false,
        })))
    }

    /// Whether the client has exceeded a limit on useless frames. Then nothing more is read.
    pub fn is_flooded(&self) -> bool {
        self.0.borrow().floods.is_over()
    }

    /// The limit that the client has exceeded.
    pub fn flooded_with(&self) -> Option<&'static str> {
        self.0.borrow().floods.what()
    }

    /// Byte counts of a request's stream.
    pub fn traffic(&self, stream: u32) -> Rc<Traffic> {
        self.0.borrow_mut().meter.traffic(stream)
    }

    /// Ends all byte counts when the connection is over.
    pub fn close(&self) {
        self.0.borrow_mut().meter.close();
    }

    /// Closes the sending side, then reads and discards.
    pub async fn discard(&self) {
        let mut this = self.clone();
        this.0.borrow_mut().blind = true;
        let _ = this.shutdown().await;
        let mut space = [0; 4096];
        while this.read(&mut space).await.is_ok_and(|n| n > 0) {}
    }
}

impl Inner {
    fn received(&mut self, bytes: &[u8]) {
        let (floods, meter, now) = (&mut self.floods, &mut self.meter, Instant::now());
        self.incoming.pass(bytes, |piece| {
            meter.received(&piece);
            if piece.begins {
                floods.received(&piece.frame, now);
            }
        });
    }

    /// Counts the first `n` bytes of `parts` as sent.
    fn sent(&mut self, parts: &[io::IoSlice<'_>], mut n: usize) {
        let (floods, meter, now) = (&mut self.floods, &mut self.meter, Instant::now());
        for part in parts {
            let gone = part.get(..n.min(part.len())).unwrap_or_default();
            n -= gone.len();
            self.outgoing.pass(gone, |piece| {
                meter.sent(&piece);
                if piece.begins {
                    floods.sent(&piece.frame, now);
                }
            });
        }
    }
}

impl AsyncRead for FrameIo {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut inner = self.0.borrow_mut();
        if inner.blind {
            return Pin::new(&mut inner.line).poll_read(cx, into);
        }
        if inner.floods.is_over() {
            return Poll::Pending;
        }
        let before = into.filled().len();
        ready!(Pin::new(&mut inner.line).poll_read(cx, into))?;
        inner.received(into.filled().get(before..).unwrap_or_default());
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for FrameIo {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[io::IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut inner = self.0.borrow_mut();
        let n = ready!(Pin::new(&mut inner.line).poll_write_vectored(cx, parts))?;
        inner.sent(parts, n);
        Poll::Ready(Ok(n))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.borrow_mut().line).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0.borrow_mut().line).poll_shutdown(cx)
    }
}
