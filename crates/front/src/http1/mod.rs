//! An HTTP/1 connection: hyper's state machine, and one timer that enforces the client's timeouts.

mod heads;
mod held;
mod io;
pub mod lingering_close;
mod own_memory;
mod paced;
mod parking;
mod spelling;
pub mod strict;
pub mod strict_io;
mod switched;

use std::cell::Cell;
use std::convert::Infallible;
use std::ops::ControlFlow::{self, Break, Continue};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::time::sleep_until;

use super::base::protocol::buffer_size;
use super::base::target;
use super::client::Client;
use super::client::timeouts::Timeout;
use super::client::transport::Transport;
use super::client::tunnel::Tunnel;
use super::request;
use super::request::body::source::Source;
use super::request::respond::body::ResponseBody;
use super::request::services::Connection;
use config::{Config, RequestLimits};
use held::Sent;
use io::Http1Stream;
use own_memory::own_if_it_lasts;
use paced::Paced;
use parking::Parking;
use spelling::HeadNames;
use strict::Violation;
use strict_io::StrictIo;

/// hyper's default limit on fields, used without `max_headers`, which would move hyper's table to the heap.
const HYPER_MAX_HEADERS: usize = 100;

/// Length and number of the delays before an idle connection is closed although an unread request lies in its socket.
const LOOK: Duration = Duration::from_millis(5);
const LOOKS: u32 = 10;

/// Time for a response before the front begins to watch whether its client leaves.
const SOON: Duration = Duration::from_millis(20);

/// Serves the connection until it is closed.
pub async fn drive(connection: &Rc<Connection>, line: Transport) {
    let client = &connection.client;
    let stream = Http1Stream::new(line, client.clone());
    let mut io = StrictIo::new(stream, client.clone(), head_limits(&client.config.limits));
    let end = serve(connection, &io).await;
    match end {
        ConnectionEnd::InOrder => lingering_close::part(client, &io).await,
        ConnectionEnd::Refused(violation) => Box::pin(lingering_close::refuse(connection, &mut io, violation)).await,
        ConnectionEnd::Late => Box::pin(lingering_close::dismiss(connection, &mut io)).await,
        ConnectionEnd::Switched(tunnel) => {
            Box::pin(switched::carry(client, &io, *tunnel)).await;
            client.tunnel_ended();
        }
        ConnectionEnd::GivenUp => io.end_with_reset(client.is_open_ended()),
    }
}

/// How the last exchange on a connection ended.
enum ConnectionEnd {
    /// All requests were answered.
    InOrder,
    /// The last request violates the protocol; all others were answered.
    Refused(Violation),
    /// The head of a request took too long.
    Late,
    /// The client was too slow, or has gone.
    GivenUp,
    /// The connection has switched protocols.
    Switched(Box<Tunnel>),
}

/// Serves requests until the connection must end.
async fn serve(connection: &Rc<Connection>, io: &StrictIo) -> ConnectionEnd {
    let requests = Cell::new(0);
    loop {
        // The box is freed before a tunnel or a response without hyper begins.
        let body = match Box::pin(exchange(connection, io, &requests)).await {
            Break(end) => return end,
            Continue(body) => body,
        };
        match held::carry(&connection.client, io, body).await {
            Sent::AndKept => {}
            Sent::Whole => return ConnectionEnd::InOrder,
            Sent::Not => return ConnectionEnd::GivenUp,
        }
    }
}

/// Serves requests until the connection must end, or until a response goes on without hyper. Counts `requests`.
async fn exchange(
    connection: &Rc<Connection>,
    io: &StrictIo,
    requests: &Cell<u32>,
) -> ControlFlow<ConnectionEnd, Box<ResponseBody>> {
    let client = &connection.client;
    let unwritten = io.unwritten();
    let parking = Rc::new(Parking::default());
    let service = service_fn(|request: Request<Incoming>| {
        let connection = connection.clone();
        requests.set(requests.get().wrapping_add(1));
        let request = as_sent(request, io.take_target(requests.get()));
        let (unwritten, parking) = (unwritten.clone(), parking.clone());
        async move {
            let mut response = request::answer(&connection, request, None).await;
            unwritten.heads.begin(HeadNames::of(&mut response));
            Ok::<_, Infallible>(response.map(|body| Paced::new(body, unwritten, parking)))
        }
    });
    let mut machine = pin!(builder(&client.config).serve_connection(TokioIo::new(io.clone()), service));
    let mut timer = pin!(sleep_until(first_look(client, io).into()));
    let (mut closing, mut stopping, mut uploading, mut looks) = (false, false, false, 0);
    std::future::poll_fn(|cx| {
        client.remember(cx);
        if (client.is_evicted() || client.must_close()) && !closing {
            closing = true;
            machine.as_mut().graceful_shutdown();
        }
        if client.shared.is_stopping() && !stopping {
            stopping = true;
            timer.as_mut().reset(Instant::now().into());
        }
        if client.is_uploading() != uploading {
            uploading = client.is_uploading();
            timer.as_mut().reset(client.look_again(Instant::now()).into());
        }
        loop {
            let polled = machine.as_mut().poll(cx);
            if let Some(body) = parking.take() {
                return Poll::Ready(Continue(Box::new(body)));
            }
            match polled {
                Poll::Ready(Err(error)) if error.is_parse() => {
                    record_unreadable(connection, &error);
                    return Poll::Ready(Break(ConnectionEnd::InOrder));
                }
                // A response was truncated. A reset prevents it from looking complete.
                Poll::Ready(Err(_)) => return Poll::Ready(Break(ConnectionEnd::GivenUp)),
                Poll::Ready(Ok(())) => {
                    let tunnel = client.take_tunnel().map(Box::new);
                    return Poll::Ready(Break(tunnel.map_or(ConnectionEnd::InOrder, ConnectionEnd::Switched)));
                }
                // If this process dies now, the kernel resets the connection, so a truncated response does not look
                // complete.
                Poll::Pending if client.is_open_ended() => io.end_with_reset(true),
                Poll::Pending if parking.is_offered() && io.is_between_writes() && io.is_at_last_request() => {
                    parking.want();
                    continue;
                }
                Poll::Pending => {}
            }
            if let Some(violation) = io.unanswered() {
                return Poll::Ready(Break(ConnectionEnd::Refused(violation)));
            }
            if timer.as_mut().poll(cx).is_pending() {
                io.watch_between_responses(cx);
                return Poll::Pending;
            }
            io.watch(cx);
            if client.is_open_ended() {
                // A held response may send nothing for long.
                io.probe_when_quiet();
            }
            if uploading && client.is_uploading() && io.is_left() {
                return Poll::Ready(Break(ConnectionEnd::GivenUp));
            }
            match client.timed_out(Instant::now()) {
                Ok(later) => timer.as_mut().reset(later.into()),
                // A request has arrived unread; a close now would reset the connection.
                Err(_) if client.waits_for_a_request() && looks < LOOKS && io.has_unread() => {
                    looks += 1;
                    timer.as_mut().reset((Instant::now() + LOOK).into());
                }
                Err(Timeout::Idle) if !closing => {
                    closing = true;
                    machine.as_mut().graceful_shutdown();
                }
                Err(Timeout::Late) => return Poll::Ready(Break(ConnectionEnd::Late)),
                Err(_) => return Poll::Ready(Break(ConnectionEnd::GivenUp)),
            }
        }
    })
    .await
}

/// The request with its target as the client sent it.
fn as_sent(request: Request<Incoming>, target: Option<Box<[u8]>>) -> Request<Source> {
    let (mut head, body) = request.map(Source::Http1).into_parts();
    own_if_it_lasts(&mut head);
    if let Some(target) = target {
        target::restore(&mut head, target);
    }
    Request::from_parts(head, body)
}

fn first_look(client: &Client, io: &StrictIo) -> Instant {
    let now = Instant::now();
    if io.is_unwatched() { now + SOON } else { client.look_again(now) }
}

/// Logs a request that hyper could not parse and has answered itself.
fn record_unreadable(connection: &Connection, error: &hyper::Error) {
    let context =
        request::begin(connection, connection.generation.clone(), lingering_close::unreadable(Vec::new()), None);
    context.set_status(if error.is_parse_too_large() { 431 } else { 400 });
}

fn builder(config: &Config) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.keep_alive(config.hosts.iter().any(|host| host.keep_alive.is_on()));
    http.header_read_timeout(None);
    http.max_buf_size(buffer_size(&config.limits));
    if config.limits.fields != HYPER_MAX_HEADERS {
        http.max_headers(config.limits.fields);
    }
    http
}

fn head_limits(limits: &RequestLimits) -> strict::HeadLimits {
    strict::HeadLimits {
        line: limits.request_line,
        field: limits.field_size,
        fields: limits.fields,
        head: buffer_size(limits) - 1,
    }
}
