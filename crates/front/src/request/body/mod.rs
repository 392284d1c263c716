//! A request's body, received whole before a worker is taken, so that a slow client never occupies a worker. Each
//! stage of it has one owner, which passes it on by value:
//!
//! ```text
//!   RequestBody   of request::answer    what the client has yet to send; drained at the end if nobody received it
//!    │ receive
//!   Body          of ask_worker::request    the whole body, in memory or in a file; perhaps unpacked
//!    │ frame::job
//!   Job           of Workers::submit    memory is copied into the frame, a file is moved beside it
//!    │ submit
//!   Submitted     of the pool           until the request is over, because a worker may give the request back
//! ```

pub mod drain;
pub mod inflate;
pub mod source;

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::AsRawFd;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::StatusCode;
use http::header::CONTENT_LENGTH;
use http::request::Parts;
use http_body::{Body as _, Frame};
use http_body_util::{BodyExt, Full};
use tokio::time::timeout_at;

use super::context::RequestContext;
use super::files::LookupResult;
use super::is_about_what_is_there;
use crate::base::blocking;
use crate::base::refusal::Refusal;
use crate::failures::FailedBody;
use crate::routing::Route;
use crate::workers::spool::{self, LateClose};
use base::log;
use config::{ReceivePace, Spooling};
use files::open::is_shortage;
use source::Source;

/// Longer bodies are stored in an unnamed file. In bytes.
pub const IN_MEMORY: usize = 64 * 1024;

/// A complete request body.
#[derive(Debug)]
pub enum Body {
    /// Sent to the worker inside the request's frame.
    Memory(Bytes),
    /// Sent to the worker as a descriptor, positioned at its start; with its length in bytes.
    File(LateClose, u64),
}

impl Body {
    pub fn len(&self) -> u64 {
        match self {
            Body::Memory(bytes) => bytes.len() as u64,
            Body::File(_, length) => *length,
        }
    }

    /// The body for `RecordFailures`. Bytes in memory are shared and not copied.
    pub fn for_recording(&self) -> FailedBody {
        match self {
            Body::Memory(bytes) => FailedBody::Whole(bytes.clone()),
            Body::File(_, length) => FailedBody::TooLong(*length),
        }
    }

    /// The same body once more. A file is opened anew: descriptors that are copies of each other share their position.
    fn again(&self) -> io::Result<Body> {
        match self {
            Body::Memory(bytes) => Ok(Body::Memory(bytes.clone())),
            Body::File(file, length) => {
                let descriptor = file.get().ok_or(io::ErrorKind::NotFound)?.as_raw_fd();
                let file = File::open(format!("/proc/self/fd/{descriptor}"))?;
                Ok(Body::File(file.into(), *length))
            }
        }
    }
}

/// Timeouts for receiving a body.
pub struct Patience {
    /// `Timeout`: the maximum wait for the next piece.
    piece: Duration,
    /// `RequestReadTimeout body=`: the limit for the whole body.
    whole: ReceivePace,
}

impl Patience {
    /// The timeouts at `route`.
    pub fn of(context: &RequestContext, route: &Route) -> Patience {
        let config = &context.generation.config;
        let host = config.hosts.get(usize::from(route.host));
        let whole = host.and_then(|host| host.read_timeouts.body).unwrap_or_default();
        Patience { piece: config.timeout_of(route.host), whole }
    }

    /// Deadline of a body that began at `begun` and of which `received` bytes have arrived.
    pub fn deadline(&self, begun: Instant, received: u64) -> Instant {
        let piece = Instant::now() + self.piece;
        self.whole.deadline(begun, received).map_or(piece, |whole| whole.min(piece))
    }
}

/// The body of a request that the client may still be sending.
pub struct RequestBody {
    source: Option<Source>,
    /// The received body, if the index of a folder may answer instead of the program that has got it.
    received: Option<Body>,
}

impl RequestBody {
    /// No body: for an internal redirect or an error document, which is a request of the server's own.
    pub fn none() -> RequestBody {
        RequestBody { source: None, received: None }
    }

    /// A body that was received already.
    pub fn of(bytes: Bytes) -> RequestBody {
        let source = Source::Stream(Box::new(Full::new(bytes).map_err(|never| -> io::Error { match never {} })));
        RequestBody { source: Some(source), received: None }
    }

    /// Whether there is nothing to receive.
    pub fn is_empty(&self) -> bool {
        let has_received = self.received.as_ref().is_some_and(|body| body.len() > 0);
        !has_received && self.source.as_ref().is_none_or(Source::is_end_stream)
    }

    /// The length in bytes, if it is known before the body is received.
    pub fn exact_length(&self) -> Option<u64> {
        match &self.source {
            Some(source) => source.size_hint().exact(),
            None => Some(0),
        }
    }

    /// Whether a program has seen the body, and an index may get it, too.
    pub fn was_received(&self) -> bool {
        self.received.is_some()
    }

    /// Forgets a received body: the request becomes a GET of another path.
    pub fn forget_received(&mut self) {
        self.received = None;
    }

    /// The body that was not received yet, if there is one. Afterwards there is nothing more to receive.
    pub fn take(&mut self) -> Option<Source> {
        self.source.take().filter(|source| !source.is_end_stream())
    }

    /// Receives the whole body, by the limits of `route`. Afterwards there is nothing more to receive, unless the path
    /// is that of a folder: its index may answer in place of a program that has seen the body.
    pub async fn receive(&mut self, context: &RequestContext, route: &Route) -> Result<Body, Refusal> {
        let (limit, rules) = (limit(route), &context.generation.config.spooling);
        let body = match (self.received.take(), self.take()) {
            (Some(body), _) if body.len() > limit => return Err(Refusal::closing(StatusCode::PAYLOAD_TOO_LARGE)),
            (Some(body), _) => body,
            (None, Some(source)) => Box::pin(receive(source, limit, Patience::of(context, route), rules)).await?,
            (None, None) => return Ok(Body::Memory(Bytes::new())),
        };
        if route.path.ends_with(b"/") {
            self.received = Some(body.again().map_err(|error| full(error, rules))?);
        }
        Ok(body)
    }
}

/// Applies `LimitRequestBody` also to bodies that no handler reads. A 401 or 403 takes precedence over the 413.
pub fn measure(head: &Parts, route: &Route, found: &Result<LookupResult, Refusal>) -> Result<(), Refusal> {
    let route = match found {
        Ok(found) => found.file().map_or(route, |file| file),
        Err(refusal) if is_about_what_is_there(refusal.status) => route,
        Err(_) => return Ok(()),
    };
    let limit = route.settings.limit_request_body;
    let announced = head.headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    match announced.is_some_and(|length| limit != 0 && length > limit) {
        true => Err(Refusal::closing(StatusCode::PAYLOAD_TOO_LARGE)),
        false => Ok(()),
    }
}

/// `LimitRequestBody` at `route`, in bytes.
pub fn limit(route: &Route) -> u64 {
    match route.settings.limit_request_body {
        0 => u64::MAX,
        limit => limit,
    }
}

impl From<Source> for RequestBody {
    fn from(source: Source) -> RequestBody {
        RequestBody { source: Some(source), received: None }
    }
}

/// Receives `incoming` whole, at most `limit` bytes, within the limits of `patience`; stores it by `rules`.
async fn receive(mut incoming: Source, limit: u64, patience: Patience, rules: &Spooling) -> Result<Body, Refusal> {
    // Refuse before the first read, so that a client that sent `Expect: 100-continue` does not send the body.
    if incoming.size_hint().lower() > limit {
        return Err(Refusal::closing(StatusCode::PAYLOAD_TOO_LARGE));
    }
    let (mut store, begun) = (Store::default(), Instant::now());
    loop {
        let mut frame = at_once(&mut incoming).await;
        // When the client pauses, move a body on disk out of memory completely.
        if store.is_heavy() || (frame.is_pending() && store.is_for_the_disk()) {
            store = aside(store, rules, Store::write).await?;
        }
        if frame.is_pending() {
            let by = patience.deadline(begun, store.length()).into();
            frame = Poll::Ready(timeout_at(by, incoming.frame()).await.map_err(|_| late())?);
        }
        let Poll::Ready(Some(frame)) = frame else { break };
        let Ok(piece) = frame.map_err(|_| broken())?.into_data() else { continue };
        if store.length() + piece.len() as u64 > limit {
            return Err(Refusal::closing(StatusCode::PAYLOAD_TOO_LARGE));
        }
        store.add(&piece);
    }
    match store.file {
        None if !store.is_heavy() => Ok(Body::Memory(store.memory.into())),
        _ => aside(store, rules, Store::close).await,
    }
}

/// Polls once for the next frame.
async fn at_once(incoming: &mut Source) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
    let mut frame = pin!(incoming.frame());
    std::future::poll_fn(|cx| Poll::Ready(frame.as_mut().poll(cx))).await
}

/// Runs `work` on a thread that may block on the disk.
async fn aside<T: Send + 'static>(
    store: Store,
    rules: &Spooling,
    work: fn(Store, &Spooling) -> io::Result<T>,
) -> Result<T, Refusal> {
    let ours = rules.clone();
    let done = blocking::store("store a request's body", move || work(store, &ours)).await?;
    done.map_err(|error| full(error, rules))
}

fn late() -> Refusal {
    Refusal::closing(StatusCode::REQUEST_TIMEOUT)
}

fn broken() -> Refusal {
    Refusal::closing(StatusCode::BAD_REQUEST)
}

/// The refusal for a body that cannot be stored; logs the error.
pub fn full(error: std::io::Error, rules: &Spooling) -> Refusal {
    let folder = spool::folder(rules);
    log::error("front", format_args!("cannot store a request's body in {}: {error}", folder.display()));
    match is_shortage(&error) {
        true => Refusal { close: true, ..Refusal::busy() },
        false => Refusal::closing(StatusCode::INSUFFICIENT_STORAGE),
    }
}

/// The received part of a body.
#[derive(Default)]
pub struct Store {
    /// The bytes that are not yet written to the file.
    memory: Vec<u8>,
    file: Option<(LateClose, u64)>,
}

impl Store {
    /// The length of the received part in bytes.
    pub fn length(&self) -> u64 {
        self.memory.len() as u64 + self.file.as_ref().map_or(0, |(_, length)| *length)
    }

    pub fn add(&mut self, piece: &[u8]) {
        self.memory.extend_from_slice(piece);
    }

    /// Whether the memory part exceeds its limit and must be written before more is received.
    pub fn is_heavy(&self) -> bool {
        self.memory.len() > IN_MEMORY
    }

    /// Whether the memory part must be written if nothing more arrives.
    fn is_for_the_disk(&self) -> bool {
        self.is_heavy() || (self.file.is_some() && !self.memory.is_empty())
    }

    /// Writes the memory part to the file. Blocks on the disk.
    pub fn write(mut self, rules: &Spooling) -> io::Result<Store> {
        let (mut file, length) = match self.file.take() {
            Some(known) => known,
            None => (spool::file(rules)?.into(), 0),
        };
        file.get_mut()?.write_all(&self.memory)?;
        let length = length + self.memory.len() as u64;
        self.memory.clear();
        Ok(Store { memory: self.memory, file: Some((file, length)) })
    }

    /// Completes the body. Blocks on the disk when the body does not fit into memory.
    pub fn close(self, rules: &Spooling) -> io::Result<Body> {
        let store = if self.is_for_the_disk() { self.write(rules)? } else { self };
        match store.file {
            None => Ok(Body::Memory(store.memory.into())),
            Some((mut file, length)) => {
                file.get_mut()?.rewind()?;
                Ok(Body::File(file, length))
            }
        }
    }
}
