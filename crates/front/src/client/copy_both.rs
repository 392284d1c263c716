//! Copies bytes between two streams in both directions. A direction without bytes on the way has no buffer: most
//! WebSockets are quiet most of the time.

use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Size of one read, in bytes.
const READ_BYTES: usize = 16 * 1024;
/// Number of reads of one direction before other tasks run.
const TURN: usize = 8;

/// One direction.
#[derive(Default)]
struct Way {
    /// Bytes that the receiver has not taken.
    waiting: Vec<u8>,
    /// Bytes of `waiting` that are written.
    written: usize,
    is_unflushed: bool,
    /// The sender has sent its last byte.
    has_ended: bool,
    is_shut: bool,
}

/// Copies until both directions have ended. The end of one is passed on, and the other goes on.
pub async fn copy_both<A, B>(one: &mut A, other: &mut B) -> io::Result<()>
where
    A: AsyncRead + AsyncWrite + Unpin,
    B: AsyncRead + AsyncWrite + Unpin,
{
    let (mut there, mut back) = (Way::default(), Way::default());
    poll_fn(|cx| {
        let there = there.poll_copy(cx, one, other)?;
        let back = back.poll_copy(cx, other, one)?;
        if there.is_ready() && back.is_ready() { Poll::Ready(Ok(())) } else { Poll::Pending }
    })
    .await
}

impl Way {
    fn poll_copy(
        &mut self,
        cx: &mut Context<'_>,
        from: &mut (impl AsyncRead + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
    ) -> Poll<io::Result<()>> {
        for _ in 0..TURN {
            ready!(self.poll_write(cx, to))?;
            if self.has_ended {
                if !self.is_shut {
                    ready!(Pin::new(&mut *to).poll_shutdown(cx))?;
                    self.is_shut = true;
                }
                return Poll::Ready(Ok(()));
            }
            let mut room = [const { MaybeUninit::uninit() }; READ_BYTES];
            let mut read = ReadBuf::uninit(&mut room);
            if Pin::new(&mut *from).poll_read(cx, &mut read)?.is_pending() {
                return self.poll_flush(cx, to);
            }
            self.has_ended = read.filled().is_empty();
            self.begin(cx, read.filled(), to)?;
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Writes what was read. What the receiver does not take at once waits.
    fn begin(&mut self, cx: &mut Context<'_>, bytes: &[u8], to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let Poll::Ready(count) = Pin::new(&mut *to).poll_write(cx, rest)? else { break };
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            self.is_unflushed = true;
            rest = rest.get(count..).unwrap_or_default();
        }
        self.waiting = rest.to_vec();
        Ok(())
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, to: &mut (impl AsyncWrite + Unpin)) -> Poll<io::Result<()>> {
        while let Some(rest) = self.waiting.get(self.written..).filter(|rest| !rest.is_empty()) {
            let count = ready!(Pin::new(&mut *to).poll_write(cx, rest))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.is_unflushed = true;
            self.written += count;
        }
        (self.waiting, self.written) = (Vec::new(), 0);
        Poll::Ready(Ok(()))
    }

    /// Flushes before a wait. Never ready but for errors.
    fn poll_flush(&mut self, cx: &mut Context<'_>, to: &mut (impl AsyncWrite + Unpin)) -> Poll<io::Result<()>> {
        if self.is_unflushed {
            ready!(Pin::new(&mut *to).poll_flush(cx))?;
            self.is_unflushed = false;
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex, split};

    use super::*;

    #[test]
    fn both_directions_arrive_whole_through_small_buffers_and_end_on_their_own() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let all: Vec<u8> = (0..1_000_000_u32).map(|number| (number % 251) as u8).collect();
        let (first, mut one) = duplex(1000);
        let (second, mut other) = duplex(77);
        let received = runtime.block_on(async {
            let talk = async |stream, bytes: &[u8]| {
                let (mut reader, mut writer) = split(stream);
                let mut came = Vec::new();
                let send = async {
                    writer.write_all(bytes).await.expect("an open stream");
                    writer.shutdown().await.expect("an open stream");
                };
                let (read, ()) = tokio::join!(reader.read_to_end(&mut came), send);
                read.expect("an open stream");
                came
            };
            let (copied, there, back) =
                tokio::join!(copy_both(&mut one, &mut other), talk(first, &all), talk(second, &all[..100_000]));
            copied.expect("no error");
            (there, back)
        });
        assert!(received == (all[..100_000].to_vec(), all));
    }
}
