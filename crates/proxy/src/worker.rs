//! Workers of this server that speak HTTP/1.1 as a backend does.

use std::io;
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

/// Resolves when the worker's process has ended.
pub type WorkerEnd = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A worker with an event loop.
pub trait EventWorker {
    /// A number that no other worker has: its idle connections are reused.
    fn serial(&self) -> u64;
    /// A new connection: a non-blocking socket whose other end the worker has got.
    fn connect(&self) -> io::Result<(UnixStream, WorkerEnd)>;
}

/// A connection to a worker. Processes that the worker has forked may hold copies of the other end, so the connection
/// does not end by itself when the worker dies.
pub(crate) struct WorkerSocket {
    pub stream: tokio::net::UnixStream,
    /// `None`: the connection was shut down.
    end: Option<WorkerEnd>,
}

impl WorkerSocket {
    /// A new connection to `worker`.
    pub fn connect(worker: &dyn EventWorker) -> io::Result<WorkerSocket> {
        let (stream, end) = worker.connect()?;
        Ok(WorkerSocket { stream: tokio::net::UnixStream::from_std(stream)?, end: Some(end) })
    }

    /// Reads what the worker has sent. The end of its process follows as the end of the connection.
    pub fn poll_read(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let has_ended = |end: &mut WorkerEnd| end.as_mut().poll(cx).is_ready();
        if read.is_pending() && self.end.as_mut().is_some_and(has_ended) {
            self.end = None;
            // It wakes the reader and the writer. Bytes that came in the meantime are read before the end.
            if let Err(error) = self.shut_down() {
                return Poll::Ready(Err(error));
            }
        }
        read
    }

    fn shut_down(&self) -> io::Result<()> {
        UnixStream::from(self.stream.as_fd().try_clone_to_owned()?).shutdown(Shutdown::Both)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use tokio::io::AsyncReadExt;
    use tokio::sync::oneshot;

    use super::*;
    use crate::connect::Socket;

    #[test]
    fn a_connection_ends_with_the_process_although_the_other_end_is_open() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let (ours, mut theirs) = UnixStream::pair().expect("two sockets");
            ours.set_nonblocking(true).expect("our own socket");
            let (dies, dead) = oneshot::channel::<()>();
            let stream = tokio::net::UnixStream::from_std(ours).expect("a stream");
            let end: WorkerEnd = Box::pin(async move { drop(dead.await) });
            let mut socket = Socket::Worker(WorkerSocket { stream, end: Some(end) });
            let task = tokio::spawn(async move {
                let mut text = String::new();
                socket.read_to_string(&mut text).await.map(|_| text)
            });
            tokio::task::yield_now().await;
            theirs.write_all(b"last words").expect("an open socket");
            dies.send(()).expect("a receiver");
            assert_eq!(task.await.expect("no panic").expect("an end"), "last words");
            assert!(theirs.write_all(b"more").is_err(), "both directions have ended");
        });
    }
}
