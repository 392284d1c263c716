//! Sends a response on a stream at the client's speed. Each piece of the body is polled only after the previous one
//! was sent within the windows, so the rest waits at its source, not in memory.

use std::io;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, SendStream};
use http::header::{CONNECTION, CONTENT_LENGTH, DATE, HeaderValue, SEC_WEBSOCKET_ACCEPT, TRANSFER_ENCODING, UPGRADE};
use http::response::Parts;
use http::{Response, StatusCode, Version};
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use tokio::time::timeout;

use crate::request::respond::body::ResponseBody;

/// Why a response was truncated.
enum Cutoff {
    /// The client has reset the stream, or has gone.
    Reset,
    /// The client accepts no bytes.
    Stalled,
    /// The rest of the body is missing.
    Broken,
}

/// Sends a response. If the client accepts no bytes during `patience`, the stream is reset.
pub async fn send(response: Response<ResponseBody>, mut respond: SendResponse<Bytes>, patience: Duration) {
    let (mut head, mut body) = response.into_parts();
    if let (Some(length), true) = (body.size_hint().exact(), lacks_length(&head, &body)) {
        head.headers.insert(CONTENT_LENGTH, length.into());
    }
    complete(&mut head);
    let over = body.is_end_stream();
    let Ok(mut stream) = respond.send_response(Response::from_parts(head, ()), over) else { return body.cut() };
    if over {
        return;
    }
    let sent = send_body(&mut body, &mut stream, patience).await;
    let Err(cut) = sent else { return };
    body.cut();
    match cut {
        Cutoff::Reset => {}
        Cutoff::Stalled => stream.send_reset(Reason::CANCEL),
        Cutoff::Broken => stream.send_reset(Reason::INTERNAL_ERROR),
    }
}

/// Sends the response that opens a WebSocket, in place of HTTP/1.1's 101. `None`: the client has reset the stream.
pub fn open(mut head: Parts, respond: &mut SendResponse<Bytes>) -> Option<SendStream<Bytes>> {
    head.status = StatusCode::OK;
    head.headers.remove(SEC_WEBSOCKET_ACCEPT);
    complete(&mut head);
    respond.send_response(Response::from_parts(head, ()), false).ok()
}

/// Converts the head to HTTP/2, with the headers that hyper adds for HTTP/1.1.
fn complete(head: &mut Parts) {
    head.version = Version::HTTP_2;
    head.extensions.clear();
    for name in [CONNECTION, TRANSFER_ENCODING, UPGRADE] {
        head.headers.remove(name);
    }
    if let Ok(now) = HeaderValue::from_str(&httpdate::fmt_http_date(SystemTime::now())) {
        head.headers.entry(DATE).or_insert(now);
    }
}

fn lacks_length(head: &Parts, body: &ResponseBody) -> bool {
    let bodiless = body.answers_head() || matches!(head.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    !bodiless && !head.headers.contains_key(CONTENT_LENGTH)
}

async fn send_body(body: &mut ResponseBody, stream: &mut SendStream<Bytes>, patience: Duration) -> Result<(), Cutoff> {
    loop {
        let piece = match next(body, stream).await?.map(Frame::into_data) {
            Some(Err(frame)) => {
                let trailers = frame.into_trailers().unwrap_or_default();
                return stream.send_trailers(trailers).map_err(|_| Cutoff::Reset);
            }
            Some(Ok(piece)) => Some(piece),
            None => None,
        };
        let over = piece.is_none() || body.is_end_stream();
        pass(piece.unwrap_or_default(), over, stream, patience).await?;
        if over {
            return Ok(());
        }
    }
}

/// The next piece of the body or its trailers, unless the client resets the stream.
async fn next(body: &mut ResponseBody, stream: &mut SendStream<Bytes>) -> Result<Option<Frame<Bytes>>, Cutoff> {
    let mut frame = pin!(body.frame());
    let frame: Option<io::Result<_>> = std::future::poll_fn(|cx| {
        if stream.poll_reset(cx).is_ready() {
            return Poll::Ready(Err(Cutoff::Reset));
        }
        frame.as_mut().poll(cx).map(Ok)
    })
    .await?;
    match frame {
        None => Ok(None),
        Some(Ok(frame)) => Ok(Some(frame)),
        Some(Err(_)) => Err(Cutoff::Broken),
    }
}

/// Sends `piece` as the windows of stream and connection allow.
async fn pass(mut piece: Bytes, over: bool, stream: &mut SendStream<Bytes>, patience: Duration) -> Result<(), Cutoff> {
    while !piece.is_empty() {
        stream.reserve_capacity(piece.len());
        let window = std::future::poll_fn(|cx| stream.poll_capacity(cx));
        let n = match timeout(patience, window).await {
            Err(_) => return Err(Cutoff::Stalled),
            Ok(Some(Ok(n))) => n.min(piece.len()),
            Ok(_) => return Err(Cutoff::Reset),
        };
        let part = piece.split_to(n);
        stream.send_data(part, over && piece.is_empty()).map_err(|_| Cutoff::Reset)?;
        if over && piece.is_empty() {
            return Ok(());
        }
    }
    if over { stream.send_data(Bytes::new(), true).map_err(|_| Cutoff::Reset) } else { Ok(()) }
}
