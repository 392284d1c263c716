//! Hands connections to a worker, for hosts with a `PerlProcessConnectionHandler`. The pool treats such a connection as
//! a request whose body is the client's socket. The connection waits in the queue, and occupies a worker until its
//! handler returns.
//!
//! ```text
//!   front                                  worker
//!   accepts, counts, waits for a worker
//!   frame + a copy of the socket ────────▶ PreConnection, ProcessConnection, cleanups
//!   ends its half, reads for a while, closes ◀───────── End
//! ```
//!
//! The front keeps its own descriptor and does not read or write it meanwhile. At the timeout, shutting it down wakes a
//! handler that waits for its client.

use std::fs::File;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

use http::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use wire::frame::{self, Field, Flags};

use super::accepted::AcceptedStream;
use crate::base::failure::Failure;
use crate::base::shared::count;
use crate::client::Client;
use crate::client::socket::Socket;
use crate::generation::InUse;
use crate::log::entry::since_1970;
use crate::request::services::Connection;
use crate::workers::{Exchange, ExchangeStage, Job, Label, RequestTimeouts, Ticket};
use base::log;

/// Shown as the method of a connection on the status page and in logs.
const CONNECTION: &str = "CONNECTION";
/// Limits of the final read: its total time, and the longest silence of the client.
const IN_ALL: Duration = Duration::from_secs(30);
const SILENCE: Duration = Duration::from_secs(2);

/// The generation and host whose handlers serve this connection; `None`: the connection is HTTP.
pub fn is_for_a_worker(connection: &Connection) -> Option<(InUse, u16)> {
    if !connection.generation.config.hands_over_connections {
        return None;
    }
    let generation = connection.services.generations.use_serving()?;
    let host = generation.config.host_of_connections(connection.client.local.socket)?;
    Some((generation, host))
}

/// Has a worker serve the connection, then closes it.
pub async fn serve(connection: &Connection, generation: InUse, host: u16, socket: Socket) {
    let client = &connection.client;
    let stream = match AcceptedStream::of(socket) {
        Ok(stream) => stream,
        Err(error) => return log_error(client, &error.to_string()),
    };
    let ticket = match submit(connection, &generation, host, &stream) {
        Ok(ticket) => ticket,
        Err(why) => return log_error(client, &why),
    };
    // A queued request keeps workers in its pool without further marks, so the generation need not be marked as used.
    drop(generation);
    match ended(&ticket).await {
        Ok(()) => log_end(client, &ticket),
        Err(failure) => return log_error(client, &reason(failure)),
    }
    drop(ticket);
    part(client, stream).await;
}

fn submit(connection: &Connection, generation: &InUse, host: u16, stream: &AcceptedStream) -> Result<Ticket, String> {
    let (client, config) = (&connection.client, &generation.config);
    let sections = config.sections_of_host(host);
    let settings = config.settings(&sections, false);
    let id = connection.services.shared.next_id();
    let copy = stream.copy().map_err(|error| error.to_string())?;
    let job = Job {
        id,
        frame: encode(
            connection,
            &frame::Request { id, logged_as: id, host, sections: &sections, ..Default::default() },
        ),
        body: Some(File::from(copy).into()),
        label: label(host, client),
        timeouts: RequestTimeouts::of(&settings),
        share: settings.scheduling.share.as_ref(),
        charged_to: None,
    };
    let ticket = generation.workers.of(settings.pool).submit(job).map_err(reason)?;
    count(&connection.services.shared.counters.handed_over);
    Ok(ticket)
}

fn label(host: u16, client: &Client) -> Label {
    let method = Method::from_bytes(CONNECTION.as_bytes()).unwrap_or_default();
    Label { host, method, target: client.remote.to_string().into_bytes().into(), client: client.remote.ip_addr() }
}

fn encode(connection: &Connection, about: &frame::Request<'_>) -> Vec<u8> {
    let client = &connection.client;
    let local = client.local.to_string();
    let mut request = frame::Request {
        received: since_1970(SystemTime::now()),
        flags: Flags(Flags::CONNECTION.0 | Flags::BODY_IN_FD.0),
        remote_port: client.remote.port,
        local_port: client.local.port,
        server_port: client.local.port,
        ..about.clone()
    };
    let fields = [
        (Field::Method, CONNECTION),
        (Field::Target, &local),
        (Field::Path, &local),
        (Field::ServerName, &client.local.ip),
        (Field::RemoteAddr, &client.remote.ip),
        (Field::LocalAddr, &client.local.ip),
    ];
    for (field, text) in fields {
        request.fields[field as usize] = text.as_bytes();
    }
    let mut frame = connection.services.shared.take_frame();
    request.encode(&mut frame);
    frame
}

/// Waits until the worker ends the connection. The body is ignored: a handler writes to the client's socket, not
/// through the front.
async fn ended(ticket: &Ticket) -> Result<(), Failure> {
    std::future::poll_fn(|cx| ticket.exchange().borrow_mut().poll_head(cx)).await?;
    while let Some(piece) = std::future::poll_fn(|cx| ticket.exchange().borrow_mut().poll_chunk(cx)).await {
        piece.map_err(|_| Failure::WorkerGone)?;
    }
    Ok(())
}

/// Logs the end of a connection once the pool has ended its request.
fn log_end(client: &Rc<Client>, ticket: &Ticket) {
    let client = client.clone();
    let line = move |exchange: &Exchange| {
        let begun = exchange.begun.map(|begun| format!(" worker={} pid={}", begun.worker.slot, begun.pid));
        let (begun, took) = (begun.unwrap_or_default(), exchange.had_for);
        let message = format_args!(
            "client={}{begun} the connection to {} has ended after {took:.1?}",
            client.remote, client.local
        );
        log::info("front", message);
    };
    let mut exchange = ticket.exchange().borrow_mut();
    match exchange.stage {
        ExchangeStage::Over => line(&exchange),
        ExchangeStage::Queued | ExchangeStage::Running => exchange.on_end = Some(Box::new(line)),
    }
}

fn reason(failure: Failure) -> String {
    let why = match failure {
        Failure::Busy(_) => "no worker was free in time; raise MaxClients of its pool, or QueueTimeout",
        Failure::RequestTimeout => "the handler did not end within RequestTimeout",
        Failure::WorkerGone | Failure::ProtocolViolation => "the worker ended before the connection did",
    };
    why.to_owned()
}

fn log_error(client: &Client, why: &str) {
    client.log_error(&format!("the connection to {} is closed: {why}", client.local));
}

/// Ends the connection gracefully. Closing a socket while the client still sends resets it, and the client may lose the
/// last data.
async fn part(client: &Client, stream: AcceptedStream) {
    let Ok(mut socket) = stream.set_nonblocking().and_then(|()| stream.into_socket()) else { return };
    if socket.shutdown().await.is_err() {
        return;
    }
    let until = Instant::now() + IN_ALL;
    let mut unread = [0; 4096];
    while Instant::now() < until && !client.shared.is_stopping() {
        match timeout(SILENCE, socket.read(&mut unread)).await {
            Ok(Ok(1..)) => {}
            _ => return,
        }
    }
}
