//! One request over one connection.

use std::time::Duration;

use http::header::{CONTENT_LENGTH, HeaderValue, TRANSFER_ENCODING};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body::SizeHint;
use hyper_util::rt::TokioIo;
use tokio::time::timeout;

use crate::body::{BackendBody, IncomingBody};
use crate::failure::BackendFailure;
use crate::http2::Http2Failure;
use crate::idle::{Link, Sender};
use crate::tunnel::TunnelStream;
use crate::upload::ProxiedBody;
use crate::waits::{Progress, Waits};

/// A backend's response once its head is complete.
pub enum BackendResponse {
    /// The head has arrived; the body is read later.
    Response(Response<BackendBody>),
    /// The head of a response that switches protocols, and the connection.
    Switched(Response<()>, TunnelStream),
}

impl BackendResponse {
    /// The status of the backend, 101 for a switch of protocols.
    pub fn status(&self) -> StatusCode {
        match self {
            BackendResponse::Response(response) => response.status(),
            BackendResponse::Switched(response, _) => response.status(),
        }
    }
}

/// A request that could not be sent.
pub(crate) struct Unsent {
    pub failure: BackendFailure,
    /// The body, if none of it was read.
    pub body: Option<ProxiedBody>,
    /// The connection had been idle: the backend may have closed it before it saw the request.
    pub is_lost: bool,
    /// The backend reports that it has not processed the request.
    pub is_unprocessed: bool,
}

/// The connection of a backend that has switched protocols. It lives on without `link`.
pub(crate) async fn switched(
    response: Response<IncomingBody>,
    link: Link,
    piece: Duration,
) -> Result<BackendResponse, BackendFailure> {
    link.allowance.end();
    let mut response = response.map(drop);
    let upgrade = timeout(piece, hyper::upgrade::on(&mut response)).await;
    drop(link);
    let connection = upgrade.map_err(|_| BackendFailure::Slow(piece))?.map_err(BackendFailure::Broken)?;
    Ok(BackendResponse::Switched(response, Box::pin(TokioIo::new(connection))))
}

/// Sends the request over `link`.
pub(crate) async fn attempt(
    link: &mut Link,
    was_idle: bool,
    waits: Waits,
    progress: &Progress,
    request: Request<ProxiedBody>,
) -> Result<Response<IncomingBody>, Unsent> {
    progress.note();
    link.allowance.begin();
    let Link { sender, allowance, .. } = link;
    let sent = async {
        match sender {
            Sender::Http1(sender) => match sender.try_send_request(request).await {
                Ok(response) => Ok(response.map(|body| IncomingBody::Http1(body, allowance.clone()))),
                Err(mut error) => {
                    let body = error.take_message().map(Request::into_body);
                    let failure = BackendFailure::Broken(error.into_error());
                    Err(Unsent { failure, body, is_lost: was_idle, is_unprocessed: false })
                }
            },
            Sender::Http2(sender) => match sender.send(request, allowance).await {
                Ok(response) => Ok(response.map(IncomingBody::Http2)),
                Err(failed) => {
                    let is_lost = was_idle && (failed.body.is_some() || failed.is_of_connection());
                    let Http2Failure { error, body, is_unprocessed } = failed;
                    Err(Unsent { failure: BackendFailure::BrokenHttp2(error), body, is_lost, is_unprocessed })
                }
            },
        }
    };
    let response = progress.wait(waits.piece, sent).await.unwrap_or_else(|| {
        let failure = BackendFailure::Slow(waits.piece);
        Err(Unsent { failure, body: None, is_lost: false, is_unprocessed: false })
    })?;
    link.allowance.begin();
    Ok(response)
}

/// Adds the framing fields that hyper leaves out: a Content-Length of 0, which some servers require, and chunks for the
/// body of a method that rarely has one.
pub(crate) fn frame(head: &mut Parts, body: Option<SizeHint>) {
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
