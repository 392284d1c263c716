//! A connection in memory, for a head that only hyper can write or read in its own spelling.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// hyper needs fewer polls to write or read one head without a body.
pub const POLLS: usize = 16;

/// Gives hyper `input`, and collects the bytes that hyper writes.
pub struct MemoryIo {
    input: Vec<u8>,
    /// A server reads at once. A client would take bytes that precede its request for an error.
    is_readable: bool,
    written: Rc<RefCell<Vec<u8>>>,
}

impl MemoryIo {
    /// For hyper's server: the input is a request.
    pub fn with_request(request: &[u8]) -> MemoryIo {
        MemoryIo { input: request.to_vec(), is_readable: true, written: Rc::default() }
    }

    /// For hyper's client: the input is the response to the first request.
    pub fn with_response(response: Vec<u8>) -> MemoryIo {
        MemoryIo { input: response, is_readable: false, written: Rc::default() }
    }

    /// All bytes that hyper has written and will write.
    pub fn written(&self) -> Rc<RefCell<Vec<u8>>> {
        self.written.clone()
    }
}

impl AsyncRead for MemoryIo {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // The end of the input would be a peer that has left.
        if !self.is_readable || self.input.is_empty() {
            return Poll::Pending;
        }
        let count = self.input.len().min(into.remaining());
        let rest = self.input.split_off(count);
        into.put_slice(&std::mem::replace(&mut self.input, rest));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for MemoryIo {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.is_readable = true;
        self.written.borrow_mut().extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
