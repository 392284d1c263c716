//! Sends the rest of a response that has left hyper, in chunks.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use http_body::Body;
use tokio::io::{AsyncWrite, ReadBuf};
use tokio::time::sleep_until;

use super::parking::MayWait;
use super::strict_io::StrictIo;
use crate::client::Client;
use crate::request::respond::body::ResponseBody;

/// Bytes of a client that are discarded in one read.
const DISCARDED: usize = 4096;
/// Maximum number of bytes of a client that are discarded. No honest client sends more before it has the response.
const MAX_DISCARDED: usize = 64 * 1024;
/// The chunk at the end of a body (RFC 9112, section 7.1).
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

impl MayWait for ResponseBody {
    fn waits(&self) -> bool {
        ResponseBody::waits(self)
    }
}

/// How much of a body the client has got.
pub enum Sent {
    /// All of it, and the connection is at the begin of the next request.
    AndKept,
    /// All of it, and the connection ends.
    Whole,
    /// A part of it: the client has left, or the sender has broken off.
    Not,
}

/// Sends the rest of a body in chunks.
pub async fn carry(client: &Client, io: &StrictIo, body: Box<ResponseBody>) -> Sent {
    let keeps_connection = body.keeps_connection();
    let mut chunks = Chunks { body, output: Vec::new(), written: 0, is_whole: false };
    let mut io = io.clone();
    io.probe_when_quiet();
    let mut timer = pin!(sleep_until(client.look_again(Instant::now()).into()));
    let mut discarded = 0;
    let is_sent = poll_fn(|cx| {
        client.remember(cx);
        loop {
            if chunks.body.is_slow(cx) || is_left(&io, cx, &mut discarded) {
                return Poll::Ready(false);
            }
            if let Poll::Ready(sent) = chunks.poll_send(cx, &mut io) {
                return Poll::Ready(sent.is_ok());
            }
            if timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            match client.timed_out(Instant::now()) {
                Ok(later) => timer.as_mut().reset(later.into()),
                Err(_) => return Poll::Ready(false),
            }
        }
    })
    .await;
    drop(chunks);
    if !is_sent {
        return Sent::Not;
    }
    client.flushed();
    // A request that was discarded cannot be answered.
    if keeps_connection && discarded == 0 && !client.must_close() { Sent::AndKept } else { Sent::Whole }
}

/// Whether the client has sent its end, or too much. A request before that is discarded: the connection is closed.
fn is_left(io: &StrictIo, cx: &mut Context<'_>, discarded: &mut usize) -> bool {
    loop {
        let mut room = [0; DISCARDED];
        let mut buffer = ReadBuf::new(&mut room);
        match io.poll_discard(cx, &mut buffer) {
            Poll::Pending => return false,
            Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                *discarded += buffer.filled().len();
                if *discarded > MAX_DISCARDED {
                    return true;
                }
            }
            Poll::Ready(_) => return true,
        }
    }
}

/// A body and the chunk of it that is being written.
struct Chunks {
    body: Box<ResponseBody>,
    output: Vec<u8>,
    /// Bytes of `output` that are written.
    written: usize,
    /// The last chunk is in `output`, or written.
    is_whole: bool,
}

impl Chunks {
    /// Writes until the body waits. Ready at its end.
    fn poll_send(&mut self, cx: &mut Context<'_>, io: &mut StrictIo) -> Poll<io::Result<()>> {
        loop {
            while let Some(rest) = self.output.get(self.written..).filter(|rest| !rest.is_empty()) {
                match ready!(Pin::new(&mut *io).poll_write(cx, rest))? {
                    0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    count => self.written += count,
                }
            }
            (self.output, self.written) = (Vec::new(), 0);
            ready!(Pin::new(&mut *io).poll_flush(cx))?;
            if self.is_whole {
                return Poll::Ready(Ok(()));
            }
            match ready!(Pin::new(&mut *self.body).poll_frame(cx)).transpose()? {
                None => {
                    self.is_whole = true;
                    self.output.extend_from_slice(LAST_CHUNK);
                }
                Some(frame) => match frame.into_data() {
                    Ok(piece) if !piece.is_empty() => {
                        self.output.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
                        self.output.extend_from_slice(&piece);
                        self.output.extend_from_slice(b"\r\n");
                    }
                    _ => {}
                },
            }
        }
    }
}
