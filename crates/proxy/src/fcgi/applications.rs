//! Sends requests to FastCGI applications.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::rc::{Rc, Weak};
use std::task::{Context, Waker};
use std::time::Duration;

use config::proxy::{BackendAddress, BackendUrl, Passed};
use fastcgi::{CgiHead, request};
use http::header::CONTENT_LENGTH;
use http::{Method, StatusCode};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::task::spawn_local;
use tokio::time::{Instant, sleep};

use super::body::{FastcgiBody, StderrSink, read_head};
use super::exchange::Exchange;
use super::failure::FastcgiFailure;
use crate::connect::{Socket, connect};
use crate::failure::BackendFailure;
use crate::key::Key;
use crate::names::Names;
use crate::upload::BodyStream;
use crate::waits::Waits;

/// Maximum number of idle connections to one application.
const MAX_IDLE: usize = 64;
/// Time after which an idle connection is closed, unless `ttl` names another.
const USUAL_TTL: Duration = Duration::from_secs(60);
/// Time without requests after a connection could not be made; httpd's.
const USUAL_RETRY: Duration = Duration::from_secs(60);

/// The applications of one thread: their idle connections, and those that cannot be reached.
#[derive(Default)]
pub struct Applications {
    idle: Rc<RefCell<IdleSockets>>,
    down: RefCell<HashMap<BackendAddress, Instant>>,
    names: Names,
}

type IdleSockets = HashMap<BackendAddress, Vec<IdleSocket>>;

struct IdleSocket {
    socket: Socket,
    until: Instant,
}

/// One request in the role of a responder.
pub struct FastcgiRequest {
    /// The method, which decides whether the request may be sent twice, and whether its response has a body.
    pub method: Method,
    /// Sent as FCGI_PARAMS, in this order.
    pub variables: Vec<(Vec<u8>, Vec<u8>)>,
    /// Sent as FCGI_STDIN; `None`: the request has none.
    pub body: Option<BodyStream>,
    /// Receives lines for the error log.
    pub stderr: StderrSink,
}

impl Applications {
    /// Sends a request, and waits for the head of the response.
    ///
    /// A request that an idle connection has lost is sent again, once and on a new connection, where that is safe: the
    /// method is idempotent and there is no body (RFC 9110, section 9.2.2).
    ///
    /// # Errors
    /// If the application gives no response; [`FastcgiFailure::status`] is the client's.
    pub async fn send(
        &self,
        to: &Passed,
        waits: Waits,
        request: FastcgiRequest,
    ) -> Result<(CgiHead, FastcgiBody), FastcgiFailure> {
        let FastcgiRequest { method, variables, body, mut stderr } = request;
        let keep = to.parameters.enable_reuse;
        let pairs = variables.iter().map(|(name, value)| (&name[..], &value[..]));
        let records = [request::begin(keep), request::params(pairs)].concat();
        drop(variables);
        let may_repeat = body.is_none() && method.is_idempotent();
        let mut body = body;
        let mut idle = if keep { self.take(&to.url.address) } else { None };
        loop {
            let (socket, was_idle) = match idle.take() {
                Some(socket) => (socket, true),
                None => (self.connect(to, waits).await?, false),
            };
            let mut exchange = Exchange::begin(socket, records.clone(), body.take(), waits.piece);
            match read_head(&mut exchange, &mut stderr).await {
                Ok((head, first)) => {
                    let left = length_of(&method, &head);
                    let at_end = keep.then(|| self.keeper(to));
                    let first = if left == Some(0) { Default::default() } else { first };
                    return Ok((head, FastcgiBody::new(exchange, stderr, first, left, at_end)));
                }
                Err(FastcgiFailure::Closed { silent: true }) if was_idle && may_repeat => {}
                Err(failure) => return Err(failure),
            }
        }
    }

    /// The connection to the application that was used last and is still open.
    fn take(&self, address: &BackendAddress) -> Option<Socket> {
        let mut idle = self.idle.borrow_mut();
        let (sockets, now) = (idle.get_mut(address)?, Instant::now());
        let mut last = std::iter::from_fn(|| sockets.pop());
        last.find_map(|mut one| (one.until > now && is_open(&mut one.socket)).then_some(one.socket))
    }

    fn keeper(&self, to: &Passed) -> Box<dyn FnOnce(Socket)> {
        let (idle, address) = (self.idle.clone(), to.url.address.clone());
        let ttl = to.parameters.ttl.unwrap_or(USUAL_TTL);
        Box::new(move |socket| {
            let weak = Rc::downgrade(&idle);
            let mut idle = idle.borrow_mut();
            if idle.is_empty() {
                spawn_local(close_in_time(weak));
            }
            let sockets = idle.entry(address).or_default();
            sockets.push(IdleSocket { socket, until: Instant::now() + ttl });
            if sockets.len() > MAX_IDLE {
                sockets.remove(0);
            }
        })
    }

    async fn connect(&self, to: &Passed, waits: Waits) -> Result<Socket, FastcgiFailure> {
        let BackendUrl { address, .. } = &to.url;
        let retry = to.parameters.retry.unwrap_or(USUAL_RETRY);
        let until = self.down.borrow().get(address).copied().filter(|_| !retry.is_zero());
        if let Some(left) = until.map(|until| until - Instant::now()).filter(|left| !left.is_zero()) {
            return Err(FastcgiFailure::Down(left));
        }
        match connect(&Key::plain(address, &to.parameters), &self.names, &to.parameters, waits.connect).await {
            Ok(socket) => {
                self.down.borrow_mut().remove(address);
                Ok(socket)
            }
            Err(failure) => {
                let (mut down, now) = (self.down.borrow_mut(), Instant::now());
                down.retain(|_, until| *until > now);
                if !retry.is_zero() {
                    down.insert(address.clone(), now + retry);
                }
                Err(FastcgiFailure::Unreachable(match failure {
                    BackendFailure::Unreachable(error) => error,
                    other => io::Error::other(other.to_string()),
                }))
            }
        }
    }
}

/// Closes expired connections, and those that the application has closed.
fn clear(idle: &mut IdleSockets) {
    let now = Instant::now();
    idle.retain(|_, sockets| {
        sockets.retain_mut(|one| one.until > now && is_open(&mut one.socket));
        !sockets.is_empty()
    });
}

/// Closes idle connections in time, as long as there are some.
async fn close_in_time(idle: Weak<RefCell<IdleSockets>>) {
    loop {
        sleep(Duration::from_secs(1)).await;
        let Some(idle) = idle.upgrade() else { return };
        let mut idle = idle.borrow_mut();
        clear(&mut idle);
        if idle.is_empty() {
            return;
        }
    }
}

/// Whether the application has neither closed the socket nor sent bytes that no request asked for.
fn is_open(socket: &mut Socket) -> bool {
    let mut byte = [0; 1];
    let mut cx = Context::from_waker(Waker::noop());
    std::pin::Pin::new(socket).poll_read(&mut cx, &mut ReadBuf::new(&mut byte)).is_pending()
}

/// The length of the body: none for HEAD and for statuses without a body, else as the application has named it.
fn length_of(method: &Method, head: &CgiHead) -> Option<u64> {
    if method == Method::HEAD || matches!(head.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
        return Some(0);
    }
    head.fields.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}
