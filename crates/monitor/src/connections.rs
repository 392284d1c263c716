//! Connections: limited in number, and closed when idle.

use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::Semaphore;
use tokio::task::spawn_local;
use tokio::time::{Instant, Sleep, sleep};

use super::access::Access;
use super::hub::Hub;
use super::pages;
use status::monitor::{AddressKind, MonitorAddress};

/// Maximum number of connections. Further ones wait in the kernel's queue.
const MAX_CONNECTIONS: usize = 200;
/// Idle time after which a connection is closed.
const PATIENCE: Duration = Duration::from_secs(20);
/// Maximum length of a request head, in bytes.
const MAX_HEAD_BYTES: usize = 16 * 1024;
/// Pause after accept failed for lack of descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves the connections of the listening socket `fd`.
pub fn listen(fd: OwnedFd, address: &MonitorAddress, access: Access, hub: Rc<Hub>) -> io::Result<()> {
    let service = Rc::new(Service { access, hub, permits: Semaphore::new(MAX_CONNECTIONS) });
    match address.kind {
        AddressKind::Unix => {
            let listener = UnixListener::from_std(fd.into())?;
            spawn_local(accept(service, async move || Ok(listener.accept().await?.0)));
        }
        AddressKind::Loopback | AddressKind::Open | AddressKind::Agent => {
            let listener = TcpListener::from_std(fd.into())?;
            spawn_local(accept(service, async move || Ok(listener.accept().await?.0)));
        }
    }
    Ok(())
}

/// State shared by the connections of one address.
struct Service {
    access: Access,
    hub: Rc<Hub>,
    permits: Semaphore,
}

async fn accept<S>(service: Rc<Service>, next: impl AsyncFn() -> io::Result<S>)
where
    S: AsyncRead + AsyncWrite + Unpin + 'static,
{
    loop {
        let Ok(permit) = service.permits.acquire().await else { return };
        permit.forget();
        match next().await {
            Ok(stream) => drop(spawn_local(serve(service.clone(), stream))),
            Err(_) => {
                service.permits.add_permits(1);
                sleep(PAUSE).await;
            }
        }
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin + 'static>(service: Rc<Service>, stream: S) {
    let answer = service_fn(|request| {
        let service = service.clone();
        async move { Ok::<_, std::convert::Infallible>(pages::answer(&service.access, &service.hub, request).await) }
    });
    let stream = TokioIo::new(Impatient::new(stream));
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(MAX_HEAD_BYTES);
    // An error means that the client has disconnected.
    let _ = protocol.serve_connection(stream, answer).await;
    service.permits.add_permits(1);
}

/// A stream that fails after [`PATIENCE`] without traffic.
struct Impatient<S> {
    stream: S,
    until: Pin<Box<Sleep>>,
}

impl<S> Impatient<S> {
    fn new(stream: S) -> Impatient<S> {
        Impatient { stream, until: Box::pin(sleep(PATIENCE)) }
    }

    fn watch<T>(&mut self, moved: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if moved.is_ready() {
            self.until.as_mut().reset(Instant::now() + PATIENCE);
            return moved;
        }
        match self.until.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Impatient<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let moved = Pin::new(&mut self.stream).poll_read(cx, into);
        self.watch(moved, cx)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Impatient<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let moved = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watch(moved, cx)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let moved = Pin::new(&mut self.stream).poll_flush(cx);
        match moved {
            Poll::Ready(done) => Poll::Ready(done),
            waiting => self.watch(waiting, cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
