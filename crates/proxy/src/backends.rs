//! Sends requests to backends.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use config::proxy::{BackendParameters, BackendUrl, Passed};
use http::request::Parts;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::task::spawn_local;
use tokio::time::Instant;

use crate::body::{BackendBody, ProxiedBody};
use crate::connect::connect;
use crate::failure::BackendFailure;
use crate::idle::{Idle, Key};
use crate::waits::{Progress, Waits};

/// Time without requests after a connection could not be made; httpd's.
const USUAL_RETRY: Duration = Duration::from_secs(60);
/// Most header fields of a response, and most bytes of its head.
const FIELDS: usize = 200;
const HEAD: usize = 256 << 10;

/// The backends of one thread: their idle connections, and those that cannot be reached.
#[derive(Default)]
pub struct Backends {
    idle: Rc<Idle>,
    down: RefCell<HashMap<Key, Instant>>,
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
        head: Parts,
        body: Option<Pin<Box<dyn Body<Data = Bytes, Error = io::Error>>>>,
    ) -> Result<Response<BackendBody>, BackendFailure> {
        let progress = Progress::begin();
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
        let mut sender = match idle {
            Some(sender) => sender,
            None => self.connect(&to.url, &to.parameters, &key, waits).await.map_err(|failure| lost(failure, None))?,
        };
        progress.note();
        match progress.wait(waits.piece, sender.try_send_request(request)).await {
            None => Err(Unsent { failure: BackendFailure::Slow(waits.piece), body: None, was_idle: false }),
            Some(Err(mut error)) => {
                let body = error.take_message().map(Request::into_body);
                Err(lost(BackendFailure::Broken(error.into_error()), body))
            }
            Some(Ok(response)) => Ok(self.wrap(response, sender, key, to, waits.piece)),
        }
    }

    async fn connect(
        &self,
        url: &BackendUrl,
        parameters: &BackendParameters,
        key: &Key,
        waits: Waits,
    ) -> Result<SendRequest<ProxiedBody>, BackendFailure> {
        let until = self.down.borrow().get(key).copied();
        if let Some(left) = until.map(|until| until - Instant::now()).filter(|left| !left.is_zero()) {
            return Err(BackendFailure::Down(left));
        }
        let link = match connect(url, waits.connect).await {
            Ok(link) => link,
            Err(error) => {
                let until = Instant::now() + parameters.retry.unwrap_or(USUAL_RETRY);
                self.down.borrow_mut().insert(key.clone(), until);
                return Err(BackendFailure::Unreachable(error));
            }
        };
        self.down.borrow_mut().remove(key);

        let (sender, connection) = Builder::new()
            .max_headers(FIELDS)
            .max_buf_size(HEAD)
            .handshake(TokioIo::new(link))
            .await
            .map_err(BackendFailure::Broken)?;
        // The result is that of the request.
        spawn_local(async move { drop(connection.await) });
        Ok(sender)
    }

    fn wrap(
        &self,
        response: Response<Incoming>,
        sender: SendRequest<ProxiedBody>,
        key: Key,
        to: &Passed,
        piece: Duration,
    ) -> Response<BackendBody> {
        let idle = self.idle.clone();
        let ttl = to.parameters.ttl;
        let reuse = !to.parameters.disable_reuse;
        let at_end = move || {
            if reuse {
                spawn_local(keep(idle, key, sender, ttl));
            }
        };
        response.map(|incoming| BackendBody::new(incoming, piece, Box::new(at_end)))
    }
}

/// Keeps a connection as soon as it can take another request.
async fn keep(idle: Rc<Idle>, key: Key, mut sender: SendRequest<ProxiedBody>, ttl: Option<Duration>) {
    if sender.ready().await.is_ok() {
        idle.put(key, sender, ttl);
    }
}
