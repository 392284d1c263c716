//! Sends requests to backends.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use config::proxy::{BackendParameters, BackendUrl, Passed};
use http::header::{CONTENT_LENGTH, HeaderValue, TRANSFER_ENCODING};
use http::request::Parts;
use http::{Method, Request, Response};
use http_body::{Body as _, SizeHint};
use hyper::client::conn::http1::Builder;
use hyper_util::rt::TokioIo;
use tokio::task::spawn_local;
use tokio::time::{Instant, timeout};

use crate::body::{BackendBody, BodyStream, ProxiedBody};
use crate::connect::connect;
use crate::failure::BackendFailure;
use crate::idle::{Idle, Key, Link};
use crate::names::Names;
use crate::waits::{Progress, Waits};

/// Time without requests after a connection could not be made; httpd's.
const USUAL_RETRY: Duration = Duration::from_secs(60);
/// Most header fields of a response, and most bytes of its head.
const FIELDS: usize = 200;
const HEAD: usize = 256 << 10;

/// The backends of one thread: their idle connections, and the backends that are unreachable.
#[derive(Default)]
pub struct Backends {
    idle: Rc<Idle>,
    down: RefCell<HashMap<Key, Instant>>,
    names: Names,
}

/// A request that could not be sent.
struct Unsent {
    failure: BackendFailure,
    /// The body, if none of it was read.
    body: Option<ProxiedBody>,
    /// The connection had been idle: the backend may have closed it before it saw the request.
    was_idle: bool,
}

impl Backends {
    /// Sends a request, and waits for the head of the response. `head` has the target and fields for the backend;
    /// Content-Length and Transfer-Encoding are made from `body`.
    ///
    /// A request that an idle connection has lost is sent again where that is safe: the backend has got none of it, or
    /// the method is idempotent and there is no body (RFC 9110, section 9.2.2).
    pub async fn send(
        &self,
        to: &Passed,
        waits: Waits,
        mut head: Parts,
        body: Option<BodyStream>,
    ) -> Result<Response<BackendBody>, BackendFailure> {
        let progress = Progress::begin();
        frame(&mut head, body.as_ref().map(|body| body.size_hint()));
        let may_repeat = body.is_none() && head.method.is_idempotent();
        let mut body = ProxiedBody::new(body, progress.clone());
        loop {
            let request = Request::from_parts(head.clone(), body);
            let unsent = match self.attempt(to, waits, &progress, request).await {
                Ok(response) => return Ok(response),
                Err(unsent) => unsent,
            };
            body = match unsent.body {
                Some(body) if unsent.was_idle => body,
                None if unsent.was_idle && may_repeat => ProxiedBody::new(None, progress.clone()),
                _ => return Err(unsent.failure),
            };
        }
    }

    async fn attempt(
        &self,
        to: &Passed,
        waits: Waits,
        progress: &Progress,
        request: Request<ProxiedBody>,
    ) -> Result<Response<BackendBody>, Unsent> {
        let key = (to.url.scheme, to.url.address.clone());
        let idle = self.idle.take(&key);
        let was_idle = idle.is_some();
        let lost = |failure, body| Unsent { failure, body, was_idle };
        let mut link = match idle {
            Some(link) => link,
            None => self.connect(&to.url, &to.parameters, &key, waits).await.map_err(|failure| lost(failure, None))?,
        };
        progress.note();
        match progress.wait(waits.piece, link.sender.try_send_request(request)).await {
            None => Err(Unsent { failure: BackendFailure::Slow(waits.piece), body: None, was_idle: false }),
            Some(Err(mut error)) => {
                let body = error.take_message().map(Request::into_body);
                Err(lost(BackendFailure::Broken(error.into_error()), body))
            }
            Some(Ok(response)) => {
                let at_end = Box::new(self.give_back(link, key, to, waits.piece));
                Ok(response.map(|incoming| BackendBody::new(incoming, waits.piece, at_end)))
            }
        }
    }

    async fn connect(
        &self,
        url: &BackendUrl,
        parameters: &BackendParameters,
        key: &Key,
        waits: Waits,
    ) -> Result<Link, BackendFailure> {
        let until = self.down.borrow().get(key).copied();
        if let Some(left) = until.map(|until| until - Instant::now()).filter(|left| !left.is_zero()) {
            return Err(BackendFailure::Down(left));
        }
        let socket = match connect(url, &self.names, waits.connect).await {
            Ok(socket) => socket,
            Err(error) => {
                if is_of_the_backend(&error) {
                    self.note_down(key, parameters.retry.unwrap_or(USUAL_RETRY));
                }
                return Err(BackendFailure::Unreachable(error));
            }
        };
        self.down.borrow_mut().remove(key);

        let (sender, connection) = Builder::new()
            .max_headers(FIELDS)
            .max_buf_size(HEAD)
            // Old backends expect field names in the spelling of httpd.
            .title_case_headers(true)
            .handshake(TokioIo::new(socket))
            .await
            .map_err(BackendFailure::Broken)?;
        // The response reports a failure of the connection.
        let task = spawn_local(async move { drop(connection.await) }).abort_handle();
        Ok(Link { sender, task })
    }

    /// Marks a backend as unreachable. Expired marks are removed: rules may make names of backends from client input.
    fn note_down(&self, key: &Key, retry: Duration) {
        let (mut down, now) = (self.down.borrow_mut(), Instant::now());
        down.retain(|_, until| *until > now);
        if !retry.is_zero() {
            down.insert(key.clone(), now + retry);
        }
    }

    /// Stores the connection for a further request, when the response has ended.
    fn give_back(&self, link: Link, key: Key, to: &Passed, piece: Duration) -> impl FnOnce() + 'static {
        let idle = self.idle.clone();
        let ttl = to.parameters.ttl;
        let reuse = !to.parameters.disable_reuse;
        move || {
            if reuse {
                spawn_local(keep(idle, key, link, ttl, piece));
            }
        }
    }
}

/// Adds the framing fields that hyper leaves out: a Content-Length of 0, which some servers require, and chunks for the
/// body of a method that rarely has one.
fn frame(head: &mut Parts, body: Option<SizeHint>) {
    match body {
        None if matches!(head.method, Method::POST | Method::PUT | Method::PATCH) => {
            head.headers.insert(CONTENT_LENGTH, 0.into());
        }
        Some(length) if length.exact().is_none() => {
            head.headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
        _ => {}
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
    if let Ok(Ok(())) = timeout(piece, link.sender.ready()).await {
        idle.put(key, link, ttl);
    }
}
