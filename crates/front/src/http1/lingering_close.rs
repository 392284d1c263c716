//! Lingering close of an HTTP/1 connection. Closing a socket while the client sends resets it, and the client may lose
//! the final response. So the front ends its half, then reads and discards for a while.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use http::header::SERVER;
use http::request::Parts;
use http::{StatusCode, Version};
use tokio::io::{AsyncWriteExt, ReadBuf};
use tokio::time::{Instant, timeout, timeout_at};

use super::strict::Violation;
use super::strict_io::StrictIo;
use crate::base::field_names;
use crate::base::refusal::Refusal;
use crate::client::Client;
use crate::log::entry::Unreadable;
use crate::request;
use crate::request::respond::body::BodySource;
use crate::request::services::Connection;

/// Longest silence and total time, as in httpd.
const SILENCE: Duration = Duration::from_secs(2);
const IN_ALL: Duration = Duration::from_secs(30);
/// Maximum number of bytes discarded in one read.
const PIECE: usize = 16 * 1024;

/// Answers a request that the strict reader has refused, and closes.
pub async fn refuse(connection: &Connection, io: &mut StrictIo, violation: Violation) {
    let patience = connection.client.config.timeouts.client;
    if timeout(patience, answer(connection, io, violation.status)).await.is_ok() {
        part(&connection.client, io).await;
    }
}

/// Answers 408 to a slow client, and closes without reading on.
pub async fn dismiss(connection: &Connection, io: &mut StrictIo) {
    let refusal = answer(connection, io, StatusCode::REQUEST_TIMEOUT);
    if timeout(SILENCE, refusal).await.is_ok() {
        // The connection is closed next in any case, so an error is ignored.
        let _ = poll_fn(|cx| io.poll_end(cx)).await;
    }
}

/// Closes the connection so that all sent bytes arrive.
pub async fn part(client: &Client, io: &StrictIo) {
    io.end_with_reset(false);
    if client.session().is_none() && is_done(io).await {
        return;
    }
    if poll_fn(|cx| io.poll_end(cx)).await.is_ok() {
        linger(client, io).await;
    }
}

/// Sends the error page, as hyper would for a request that it understands.
async fn answer(connection: &Connection, io: &mut StrictIo, status: StatusCode) {
    let head = unreadable(io.request_line());
    let context = request::begin(connection, connection.generation.clone(), head, None);
    context.set_status(status.as_u16());
    let (head, kind) = Refusal::closing(status).response("").into_parts();
    let body = match kind {
        BodySource::Whole(body) => body,
        _ => Default::default(),
    };
    let mut page = format!("HTTP/1.1 {}\r\nConnection: close\r\n", head.status).into_bytes();
    let server = &connection.generation.server_header;
    for (name, value) in head.headers.iter().chain([(&SERVER, server)]) {
        page.extend([field_names::usual(name.as_str()).as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    let date = httpdate::fmt_http_date(context.received);
    page.extend(format!("Content-Length: {}\r\nDate: {date}\r\n\r\n", body.len()).into_bytes());
    page.extend_from_slice(&body);
    if io.write_all(&page).await.is_ok() {
        context.count_sent(body.len());
        context.complete(false);
    }
    drop(context);
    connection.client.flushed();
}

/// Head of an unreadable request, with its request line as far as known.
pub fn unreadable(line: Vec<u8>) -> Parts {
    let mut head = http::Request::new(()).into_parts().0;
    head.version = Version::HTTP_11;
    head.extensions.insert(Unreadable(line));
    head
}

/// Whether all that the client sent is complete and was read, so that a plain close causes no reset.
async fn is_done(io: &StrictIo) -> bool {
    if io.is_drained() {
        return !io.has_unread() && !io.is_amid();
    }
    let mut byte = [0];
    let nothing = poll_fn(|cx| Poll::Ready(io.poll_discard(cx, &mut ReadBuf::new(&mut byte)).is_pending())).await;
    nothing && !io.is_amid()
}

async fn linger(client: &Client, io: &StrictIo) {
    let is_amid = io.is_amid();
    let until = Instant::now() + IN_ALL;
    let mut piece = Vec::with_capacity(PIECE);
    loop {
        let discarded = poll_fn(|cx| {
            client.remember(cx);
            let mut into = ReadBuf::uninit(piece.spare_capacity_mut());
            match io.poll_discard(cx, &mut into) {
                // The client is not within a request, or the front stops.
                Poll::Pending if !is_amid || client.shared.is_stopping() => Poll::Ready(0),
                read => read.map(|read| read.map_or(0, |()| into.filled().len())),
            }
        });
        match timeout_at(until.min(Instant::now() + SILENCE), discarded).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
    }
}
