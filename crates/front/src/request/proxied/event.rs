//! Requests to workers with an event loop (`PsgiMode event`). Such a worker is an HTTP/1.1 server on the streams that
//! it gets, so the front is its client as it is a backend's. Facts about the client's connection are fields whose names
//! begin with `Cameleer-`; those of clients are removed.

use std::rc::Rc;
use std::time::{Duration, Instant};

use http::header::{CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, Response, StatusCode, Version};

use super::dialect::{self, Dialect};
use super::download::{Download, DownloadBody};
use super::running::Running;
use super::shared::clean;
use super::upload::{ProxiedUpload, UploadState};
use super::{ahead, facts, handshake, own_name, switched, value};
use crate::base::broadcast::hold;
use crate::base::field_names::WrittenNames;
use crate::base::refusal::Refusal;
use crate::client::tunnel::{Tunnel, WebSocketSession};
use crate::log::entry::since_1970;
use crate::request::access::limits::keep_pace;
use crate::request::body::RequestBody;
use crate::request::context::RequestContext;
use crate::request::frame;
use crate::request::respond::body::BodySource;
use crate::request::respond::held::is_events;
use crate::routing::Route;
use crate::workers::{RequestTimeouts, StreamKind, StreamTurn};
use proxy::{BackendFailure, BackendRequest, BackendResponse, TunnelStream, Waits, fields};
use websocket::WebSocketHandshake;
use wire::control::LongWait;

/// Beginning of the names of fields that only the front may send.
const OWN: &str = "cameleer-";
/// The value of `Connection` that ends it.
const CLOSE: &str = "close";
/// The field with the trace context of W3C.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// Number of workers that are asked in turn, if those before took no request.
const ATTEMPTS: usize = 3;
/// No limit: longer than any connection lives.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// Whether a worker with an event loop answers. Where Perl code has another part in the request, no worker of an event
/// pool does: the request goes on to `ask_worker`, which refuses it.
pub fn is_for(context: &RequestContext, route: &Route) -> bool {
    route.settings.is_psgi_alone() && is_in_event_pool(context, route)
}

/// Whether the workers for this route run an event loop.
pub fn is_in_event_pool(context: &RequestContext, route: &Route) -> bool {
    let generation = &context.generation;
    generation.pools.of(generation.config.pool_for(&route.settings)).is_event()
}

/// The response of an event worker.
pub async fn answer(
    context: &RequestContext,
    head: &Parts,
    route: &Rc<Route>,
    body: &mut RequestBody,
) -> Result<Response<BodySource>, Refusal> {
    keep_pace(context, route).await?;
    let upload = Rc::new(UploadState::default());
    let source = ProxiedUpload::of(context, route, body, upload.clone())?;
    let mut streamed = Streamed { context, head, route, upload, has_body: source.is_some(), handshake: None };
    let protocol = context.upgrade(head, streamed.has_body);
    if let Some(protocol) = protocol {
        handshake::check_origin(context, route, protocol)?;
    }
    streamed.handshake = handshake::read(context, route, protocol)?;
    let source = match source {
        Some(source) => Some(ahead::receive(source, &streamed.upload).await?),
        None => None,
    };
    let mut outgoing = BackendRequest {
        head: streamed.onward(protocol),
        body: source,
        tls: None,
        once: false,
        upgrades: protocol.is_some(),
        expects: false,
    };
    streamed.send(&mut outgoing).await
}

/// The timeouts of a request: `RequestTimeout` until the response begins, then `EventIdleTimeout`.
fn waits(route: &Route) -> Waits {
    let limited = |time: Duration| if time.is_zero() { FOREVER } else { time };
    let piece = limited(route.settings.request_timeout);
    Waits { connect: piece, piece, body: limited(route.settings.event_idle_timeout) }
}

/// A request on its way to an event worker.
struct Streamed<'a> {
    context: &'a RequestContext,
    head: &'a Parts,
    route: &'a Rc<Route>,
    /// The part of the request's body that outlives it.
    upload: Rc<UploadState>,
    has_body: bool,
    /// The client's handshake, if it asks for a WebSocket.
    handshake: Option<WebSocketHandshake>,
}

impl Streamed<'_> {
    /// Sends the request to the worker with the fewest streams. A worker that takes none has just left.
    async fn send(&self, outgoing: &mut BackendRequest) -> Result<Response<BodySource>, Refusal> {
        let Streamed { context, route, .. } = self;
        let config = &context.generation.config;
        let pool = context.generation.pools.of(config.pool_for(&route.settings)).clone();
        let mut left = ATTEMPTS;
        loop {
            let mut turn = pool.stream_turn(route.settings.queue_timeout).await?;
            left -= 1;
            turn.wait_for_response(frame::label(context, self.head, route), RequestTimeouts::of(&route.settings));
            context.begin_at_backend(self.has_body);
            let sent = Instant::now();
            let answered = context.services.backends.send_to_worker(&turn, waits(route), outgoing).await;
            self.report_wait(&turn, sent);
            match answered {
                Ok(response) => {
                    turn.is_answered();
                    return self.deliver(response, turn);
                }
                Err(failure) => {
                    context.end_at_backend();
                    let is_final = left == 0 || self.upload.refused.get().is_some();
                    if is_final || !failure.is_before_the_request() {
                        return Err(self.refuse(&failure, &turn));
                    }
                }
            }
        }
    }

    /// Reports a request that waited longer than `SlowLog` for its response.
    fn report_wait(&self, turn: &StreamTurn, sent: Instant) {
        let Streamed { context, route, .. } = self;
        let took = sent.elapsed();
        if context.generation.config.timeouts.slow_log.is_none_or(|slow| took < slow) {
            return;
        }
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let target = context.head.uri.path_and_query().map_or("/", |target| target.as_str());
        turn.report_wait(LongWait {
            worker: turn.worker(),
            received_us: since_1970(context.received),
            method: self.head.method.to_string(),
            host: route.server_name.to_string(),
            client: context.remote().ip_addr().to_string(),
            target: target.to_owned(),
            queued_ms: millis(context.received.elapsed().unwrap_or_default().saturating_sub(took)),
            took_ms: millis(took),
        });
    }

    /// The request's head for the worker.
    fn onward(&self, protocol: Option<&HeaderValue>) -> Parts {
        let mut onward = self.head.clone();
        onward.version = Version::HTTP_11;
        let target = self.head.uri.path_and_query().map_or("/", |target| target.as_str());
        onward.uri = target.parse().unwrap_or_default();
        let headers = &mut onward.headers;
        let foreign: Vec<HeaderName> = headers.keys().filter(|name| name.as_str().starts_with(OWN)).cloned().collect();
        for name in foreign {
            headers.remove(name);
        }
        fields::of_request(headers);
        if !headers.contains_key(HOST) {
            headers.insert(HOST, value(own_name(self.context, self.route)));
        }
        if let Some(protocol) = protocol {
            switched::ask(headers, protocol.clone());
        }
        self.add_facts(headers);
        facts::add(self.context, self.head, self.route, headers);
        onward
    }

    /// Adds facts about the client's connection, which the worker cannot see.
    fn add_facts(&self, headers: &mut HeaderMap) {
        let context = self.context;
        let (client, server) = (context.remote(), &context.client.local);
        if let Some(span) = context.trace.as_ref().and_then(|trace| trace.header().parse().ok()) {
            // The client's span is the parent of the server's, and not of the worker's.
            headers.insert(TRACEPARENT, span);
        }
        let mut add = |name: &'static str, text: &str| {
            if let Ok(value) = HeaderValue::from_bytes(text.as_bytes()) {
                headers.append(HeaderName::from_static(name), value);
            }
        };
        add("cameleer-client", &format!("{} {}", client.ip, client.port));
        add("cameleer-server", &format!("{} {}", server.ip, server.port));
        add("cameleer-scheme", if context.is_secure() { "https" } else { "http" });
        let protocol = match self.head.version {
            Version::HTTP_2 => "2",
            Version::HTTP_10 => "1.0",
            _ => "1.1",
        };
        add("cameleer-protocol", protocol);
        add("cameleer-request-id", &context.unique_id());
        if let Some(user) = context.visitor().user() {
            add("cameleer-user", &user.name);
        }
        add_tls(context, self.route, &mut add);
        let mount = self.route.settings.mount.trim_end_matches('/');
        if !mount.is_empty() {
            add("cameleer-script-name", mount);
        }
    }

    /// The worker's response, for the client.
    fn deliver(&self, response: BackendResponse, turn: StreamTurn) -> Result<Response<BodySource>, Refusal> {
        let Streamed { context, route, .. } = self;
        match response {
            BackendResponse::Switched(response, stream) => self.switch(response, stream, turn),
            BackendResponse::Response(response) if response.status().is_informational() => {
                context.end_at_backend();
                context.log_error(route, &format_args!("an event worker answers with status {}", response.status()));
                Err(Refusal::new(StatusCode::BAD_GATEWAY))
            }
            BackendResponse::Response(response) => self.pass_on(response, turn),
        }
    }

    /// The response after which the client's bytes go to the worker, and its bytes to the client; or after which both
    /// exchange messages through this server.
    fn switch(
        &self,
        mut response: Response<()>,
        stream: TunnelStream,
        mut turn: StreamTurn,
    ) -> Result<Response<BodySource>, Refusal> {
        turn.be(StreamKind::WebSocket);
        let Streamed { context, route, .. } = self;
        let websocket = self.session(response.headers_mut(), &turn)?;
        let generation = context.generation.clone();
        let graceful = match generation.config.timeouts.graceful {
            // The front closes the WebSocket itself, before it has to exit in a stop.
            graceful if websocket.is_some() => graceful - (graceful / 4).min(Duration::from_secs(1)),
            // Before that time is over, the worker closes its WebSockets with a status.
            graceful => graceful,
        };
        let is_over = Box::new(move || generation.is_superseded());
        let idle = waits(route).body;
        let tunnel = Tunnel { backend: stream, idle, graceful, is_over, guard: Box::new(turn), websocket };
        switched::deliver(context, route, response, tunnel)
    }

    /// The session of a worker that leaves the protocol to the front. Completes its response to the handshake.
    fn session(&self, headers: &mut HeaderMap, turn: &StreamTurn) -> Result<Option<WebSocketSession>, Refusal> {
        let Streamed { context, route, .. } = self;
        let most = route.settings.websocket_max_message;
        let Some(dialect) = headers.remove(dialect::FIELD).and_then(|value| Dialect::of(&value, most)) else {
            handshake::check_proof(context, route, headers)?;
            return Ok(None);
        };
        let Some(handshake) = &self.handshake else {
            context.end_at_backend();
            context.log_error(route, &"an event worker accepts a WebSocket that the client has not asked for");
            return Err(Refusal::new(StatusCode::BAD_GATEWAY));
        };
        let mut handshake = handshake.clone();
        handshake.deflate = handshake.deflate.filter(|_| dialect.deflates);
        handshake::complete(context, route, &handshake, headers);
        let Dialect { limits, passes_control, .. } = dialect;
        let worker = turn.worker().slot;
        let most_frames = route.settings.websocket_max_rate;
        Ok(Some(WebSocketSession { deflate: handshake.deflate, limits, most_frames, passes_control, worker }))
    }

    fn pass_on(
        &self,
        mut response: Response<proxy::BackendBody>,
        mut turn: StreamTurn,
    ) -> Result<Response<BodySource>, Refusal> {
        let Streamed { context, head, route, .. } = self;
        let hold = hold::take(response.headers_mut()).map_err(|why| {
            context.end_at_backend();
            context.log_error(route, &why);
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR)
        })?;
        let mut ends = false;
        if hold.is_none() && is_events(response.headers()) {
            turn.be(StreamKind::Events);
            // A client of PAGI's scope sse sees the end of the events by that of its connection (PAGI::Spec::Www).
            ends = head.version != Version::HTTP_2
                && response.headers().get(CONNECTION).is_some_and(|value| value == CLOSE);
        }
        let names = WrittenNames::of_backend(&response);
        let mut response = response.map(|body| match head.method == Method::HEAD || body.is_over() {
            true => {
                context.end_at_backend();
                BodySource::Empty
            }
            false => {
                let running = Some(Running::Stream(turn));
                BodySource::Backend(Box::new(Download::new(context, route, DownloadBody::Http(body), running)))
            }
        });
        *response.version_mut() = Version::HTTP_11;
        response.extensions_mut().insert(names);
        clean(response.headers_mut(), head);
        if ends {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static(CLOSE));
        }
        hold.map(|hold| response.extensions_mut().insert(hold));
        Ok(response)
    }

    /// Logs why a worker gave no response, and makes the refusal of it.
    fn refuse(&self, failure: &BackendFailure, turn: &StreamTurn) -> Refusal {
        if let Some(status) = self.upload.refused.get() {
            return Refusal::closing(status);
        }
        let worker = turn.worker().slot;
        let why = match failure {
            BackendFailure::Slow(time) => {
                format!("has not begun its response after {} s (RequestTimeout)", time.as_secs_f32())
            }
            _ => format!("lost the request: {failure}"),
        };
        self.context.log_error(self.route, &format_args!("worker={worker} {why}"));
        Refusal::closing(failure.status())
    }
}

/// Adds what the worker cannot see of TLS. Lines of certificates end with commas, and the client's are those that the
/// place accepts.
fn add_tls(context: &RequestContext, route: &Route, add: &mut impl FnMut(&'static str, &str)) {
    let Some(session) = context.client.session() else { return };
    let place = &route.settings.response.ssl;
    add("cameleer-tls-version", &session.variable("SSL_PROTOCOL", place).unwrap_or_default());
    add("cameleer-tls-cipher", &format!("{:#06x}", session.suite));
    if let Some(name) = session.variable("SSL_CLIENT_S_DN", place) {
        add("cameleer-tls-client-name", &name);
    }
    for (_, pem) in session.exported(place).filter(|(name, pem)| name.starts_with("SSL_CLIENT_CERT") && !pem.is_empty())
    {
        add("cameleer-tls-client-cert", &pem.replace('\n', ","));
    }
}
