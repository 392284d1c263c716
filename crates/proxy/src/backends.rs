//! Sends requests to backends.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use config::proxy::{BackendParameters, Passed};
use http::Request;
use http::header::{EXPECT, HeaderValue};
use http::request::Parts;
use http_body::Body as _;
use hyper::client::conn::http1::Builder;
use hyper_util::rt::TokioIo;
use tokio::task::spawn_local;
use tokio::time::{Instant, timeout};

use crate::attempt::{BackendResponse, attempt, frame, switched};
use crate::body::BackendBody;
use crate::connect::{Socket, connect, to_worker};
use crate::expectation::Expectation;
use crate::failure::BackendFailure;
use crate::http2;
use crate::idle::{Idle, Link, Sender};
use crate::key::{BackendHandshake, Key, Place};
use crate::metered::{Allowance, MeteredSocket};
use crate::names::Names;
use crate::tunnel::{self, TunnelStream};
use crate::upload::{BodyStream, ProxiedBody};
use crate::waits::{Progress, Waits};
use crate::worker::EventWorker;

/// Time without requests after a connection could not be made; httpd's.
const USUAL_RETRY: Duration = Duration::from_secs(60);
/// Maximum number of header fields of a response, and of bytes of its head.
const FIELDS: usize = 200;
const HEAD: usize = 256 << 10;

/// The backends of one thread: their idle connections, and the backends that are unreachable.
#[derive(Default)]
pub struct Backends {
    idle: Rc<Idle>,
    down: RefCell<HashMap<Key, Instant>>,
    names: Names,
}

/// Sent again only where RFC 9110, section 9.2.2, permits it.
pub struct BackendRequest {
    /// The target and fields for the backend; Content-Length and Transfer-Encoding are made from `body`.
    pub head: Parts,
    /// The body, until a connection was made: another backend may get it if there was none.
    pub body: Option<BodyStream>,
    /// TLS of the connection.
    pub tls: Option<BackendHandshake>,
    /// Whether the connection is closed after the response.
    pub once: bool,
    /// Whether the client asks for another protocol, which `head` names, and may have it.
    pub upgrades: bool,
    /// Whether the client sends the body only when it is wanted: `Expect: 100-continue`.
    pub expects: bool,
}

/// Destination of a request: a backend, or a worker of this server.
struct Target<'a> {
    key: Key,
    parameters: &'a BackendParameters,
    /// `None` for a backend.
    worker: Option<&'a dyn EventWorker>,
}

/// Time for which an idle connection to a worker is open: shorter than the worker's own limit, because a request that
/// meets the worker's end of a connection may be lost.
const WORKER_TTL: Duration = Duration::from_secs(15);

impl Backends {
    /// Sends a request, and waits for the head of the response.
    ///
    /// A request that an idle connection has lost is sent again, once and on a new connection, where that is safe: the
    /// backend has got none of it, or the method is idempotent and there is no body (RFC 9110, section 9.2.2).
    /// `outgoing` is complete after [`BackendFailure::is_before_the_request`], and may be sent to another backend.
    pub async fn send(
        &self,
        to: &Passed,
        waits: Waits,
        outgoing: &mut BackendRequest,
    ) -> Result<BackendResponse, BackendFailure> {
        let (tls, is_http2) = (outgoing.tls.clone(), to.url.scheme.is_http2());
        let key = Key { tls, is_http2, ..Key::plain(&to.url.address, &to.parameters) };
        self.send_over(&Target { key, parameters: &to.parameters, worker: None }, waits, outgoing).await
    }

    /// Sends a request to a worker of this server, as [`Backends::send`] does to a backend.
    pub async fn send_to_worker(
        &self,
        worker: &dyn EventWorker,
        waits: Waits,
        outgoing: &mut BackendRequest,
    ) -> Result<BackendResponse, BackendFailure> {
        let parameters =
            BackendParameters { retry: Some(Duration::ZERO), ttl: Some(WORKER_TTL), ..BackendParameters::default() };
        let key = Key { place: Place::Worker(worker.serial()), tls: None, is_http2: false, source: None };
        self.send_over(&Target { key, parameters: &parameters, worker: Some(worker) }, waits, outgoing).await
    }

    async fn send_over(
        &self,
        to: &Target<'_>,
        waits: Waits,
        outgoing: &mut BackendRequest,
    ) -> Result<BackendResponse, BackendFailure> {
        let progress = Progress::begin();
        let is_http2 = to.key.is_http2;
        let (mut link, mut was_idle) = self.link(to, waits).await?;
        let mut head = outgoing.head.clone();
        let has_body = outgoing.body.is_some();
        if !is_http2 {
            frame(&mut head, outgoing.body.as_ref().map(|body| body.size_hint()));
        }
        let expects = outgoing.expects && has_body && !is_http2;
        if expects {
            head.headers.insert(EXPECT, HeaderValue::from_static("100-continue"));
        }
        // A worker ends no idle connection before the front does: one that is lost has died, perhaps of this request.
        let may_repeat = to.worker.is_none() && !has_body && head.method.is_idempotent();
        let mut is_repeated = false;
        let mut body = ProxiedBody::new(outgoing.body.take(), progress.clone());
        loop {
            let mut request = Request::from_parts(head.clone(), body);
            let expected = expects.then(|| {
                let (expectation, expected) = Expectation::of(&mut request, waits.piece);
                request.body_mut().wait_for(expectation);
                expected
            });
            let unsent = match attempt(&mut link, was_idle, waits, &progress, request).await {
                Ok(response) if outgoing.upgrades && tunnel::begins(&head.method, response.status()) => {
                    return switched(response, link, waits.piece).await;
                }
                Ok(response) => {
                    let is_unsent = expected.is_some_and(|expected| expected.is_answered());
                    let reuse = !outgoing.once && !to.parameters.disable_reuse && !is_unsent;
                    let (idle, key, ttl) = (self.idle.clone(), to.key.clone(), to.parameters.ttl);
                    let at_end = Box::new(move || {
                        if reuse {
                            spawn_local(keep(idle, key, link, ttl, waits.piece));
                        }
                    });
                    let response = response.map(|incoming| BackendBody::new(incoming, waits.body, at_end));
                    return Ok(BackendResponse::Response(response));
                }
                Err(unsent) => unsent,
            };
            if std::mem::replace(&mut is_repeated, true) {
                return Err(unsent.failure);
            }
            body = match unsent.body {
                Some(body) if unsent.is_lost => body,
                None if unsent.is_lost && may_repeat || unsent.is_unprocessed && !has_body => {
                    ProxiedBody::new(None, progress.clone())
                }
                _ => return Err(unsent.failure),
            };
            // The second attempt uses a new connection.
            (link, was_idle) = match self.connect(to, waits).await {
                Ok(link) => (link, false),
                Err(failure) => {
                    outgoing.body = body.into_source();
                    return Err(failure);
                }
            };
        }
    }

    /// A connection to the backend, and whether it had been idle.
    async fn link(&self, to: &Target<'_>, waits: Waits) -> Result<(Link, bool), BackendFailure> {
        match self.idle.take(&to.key) {
            Some(link) => Ok((link, true)),
            None => Ok((self.connect(to, waits).await?, false)),
        }
    }

    /// Looks up a host within `wait`, or returns what was found less than 5 s ago. Such lookups do not delay those of
    /// connections.
    pub async fn look_up_apart(&self, host: &str, port: u16, wait: Duration) -> io::Result<Vec<SocketAddr>> {
        timeout(wait, self.names.addresses_apart(host, port)).await?
    }

    /// Makes a connection and closes it.
    pub async fn try_connection(&self, to: &Passed, waits: Waits) -> Result<(), BackendFailure> {
        let key = Key::plain(&to.url.address, &to.parameters);
        connect(&key, &self.names, &to.parameters, waits.connect).await.map(drop)
    }

    /// Makes a connection for bytes of any protocol.
    pub async fn open(&self, to: &Passed, waits: Waits) -> Result<TunnelStream, BackendFailure> {
        let key = Key::plain(&to.url.address, &to.parameters);
        let socket = connect(&key, &self.names, &to.parameters, waits.connect).await?;
        Ok(Box::pin(socket))
    }

    async fn connect(&self, to: &Target<'_>, waits: Waits) -> Result<Link, BackendFailure> {
        let Target { key, parameters, worker } = to;
        if let Some(worker) = worker {
            return self.begin(to_worker(*worker)?, key).await;
        }
        let retry = parameters.retry.unwrap_or(USUAL_RETRY);
        let until = self.down.borrow().get(key).copied().filter(|_| !retry.is_zero());
        if let Some(left) = until.map(|until| until - Instant::now()).filter(|left| !left.is_zero()) {
            return Err(BackendFailure::Down(left));
        }
        let socket = match connect(key, &self.names, parameters, waits.connect).await {
            Ok(socket) => socket,
            Err(failure) => {
                if matches!(&failure, BackendFailure::Unreachable(error) if is_of_the_backend(error)) {
                    self.note_down(key, retry);
                }
                return Err(failure);
            }
        };
        self.down.borrow_mut().remove(key);
        self.begin(socket, key).await
    }

    /// Begins HTTP on a connection.
    async fn begin(&self, socket: Socket, key: &Key) -> Result<Link, BackendFailure> {
        let allowance = Allowance::default();
        let metered = MeteredSocket { socket, allowance: allowance.clone() };
        allowance.begin();
        if key.is_http2 {
            let begun = http2::handshake(metered, key.tls.is_some()).await.map_err(BackendFailure::BrokenHttp2);
            return begun.map(|(sender, task)| Link { sender: Sender::Http2(sender), allowance, task });
        }
        let (sender, connection) = Builder::new()
            .max_headers(FIELDS)
            .max_buf_size(HEAD)
            // Old backends expect field names in the spelling of httpd.
            .title_case_headers(true)
            // A response over HTTP/1 has the backend's spelling of the names.
            .preserve_header_case(true)
            .handshake::<_, ProxiedBody>(TokioIo::new(metered))
            .await
            .map_err(BackendFailure::Broken)?;
        allowance.end();
        // The result is that of the request.
        let task = spawn_local(async move { drop(connection.with_upgrades().await) }).abort_handle();
        Ok(Link { sender: Sender::Http1(sender), allowance, task })
    }

    /// Marks a backend as unreachable. Expired marks are removed: rules may make names of backends from client input.
    fn note_down(&self, key: &Key, retry: Duration) {
        let (mut down, now) = (self.down.borrow_mut(), Instant::now());
        down.retain(|_, until| *until > now);
        if !retry.is_zero() {
            down.insert(key.clone(), now + retry);
        }
    }
}

/// Whether a connection error is caused by the backend, and not by this server or a resolver.
fn is_of_the_backend(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, ConnectionReset, HostUnreachable, NetworkUnreachable, NotFound, TimedOut};
    let kinds = [ConnectionRefused, ConnectionReset, HostUnreachable, NetworkUnreachable, NotFound, TimedOut];
    kinds.contains(&error.kind())
}

/// Returns a connection to the idle ones once it can carry another request. A connection whose backend reads nothing of
/// an upload for `piece` is closed.
async fn keep(idle: Rc<Idle>, key: Key, mut link: Link, ttl: Option<Duration>, piece: Duration) {
    if let Ok(true) = timeout(piece, link.sender.ready()).await {
        idle.put(key, link, ttl);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::{Context, Poll};

    use bytes::Bytes;
    use config::At;
    use config::proxy::BackendUrl;
    use http_body::Frame;
    use tokio::net::TcpListener;
    use tokio::task::LocalSet;

    use super::*;

    /// A body whose client sends nothing.
    struct Upload;

    impl http_body::Body for Upload {
        type Data = Bytes;
        type Error = io::Error;

        fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
            Poll::Pending
        }
    }

    #[test]
    fn a_request_that_an_idle_connection_gives_back_retains_its_body() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        LocalSet::new().block_on(&runtime, async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let port = listener.local_addr().expect("our own socket").port();
            let url = BackendUrl::parse(&format!("http://127.0.0.1:{port}")).expect("a URL");
            let to = Passed { url, parameters: Arc::default(), at: At::default() };
            let ten = Duration::from_secs(10);
            let waits = Waits { connect: ten, piece: ten, body: ten };
            let backends = Backends::default();
            let key = Key::plain(&to.url.address, &to.parameters);
            let target = Target { key: key.clone(), parameters: &to.parameters, worker: None };
            let mut link = backends.connect(&target, waits).await.expect("a connection");
            assert!(link.sender.ready().await, "an open connection");
            // The connection ends after it was chosen, and before it has sent a byte.
            link.task.abort();
            backends.idle.put(key, link, None);
            drop(listener);
            let (head, ()) = Request::post("/").body(()).expect("a request").into_parts();
            let body: BodyStream = Box::pin(Upload);
            let mut outgoing =
                BackendRequest { head, body: Some(body), tls: None, once: false, upgrades: false, expects: false };
            let failure = backends.send(&to, waits, &mut outgoing).await.err().expect("no connection");
            assert!(failure.is_before_the_request() && outgoing.body.is_some(), "{failure}");
        });
    }
}
