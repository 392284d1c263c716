//! The body of a request on its way from the client to a backend: as fast as both allow, within the client's limits.

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::Bytes;
use http::StatusCode;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Sleep, sleep_until};

use crate::base::refusal::Refusal;
use crate::request::body::source::Source;
use crate::request::body::{Patience, RequestBody, limit};
use crate::request::context::RequestContext;
use crate::routing::Route;
use proxy::BodyStream;

/// A body that the client may still be sending.
pub struct ProxiedUpload {
    source: Source,
    patience: Patience,
    begun: Instant,
    received: u64,
    /// `LimitRequestBody`
    limit: u64,
    /// Set while the client is waited for.
    late: Option<Pin<Box<Sleep>>>,
    /// The part that outlives the body.
    state: Rc<UploadState>,
}

/// The part of an upload that outlives it.
#[derive(Default)]
pub struct UploadState {
    /// The status of a refusal that is the client's fault.
    pub refused: Cell<Option<StatusCode>>,
    /// Bytes received of the body.
    pub received: Cell<u64>,
}

impl ProxiedUpload {
    /// Takes the body of a request, if there is one. `state` gets the refusal if the client breaks the limits of
    /// `route`.
    pub fn of(
        context: &RequestContext,
        route: &Route,
        body: &mut RequestBody,
        state: Rc<UploadState>,
    ) -> Result<Option<BodyStream>, Refusal> {
        let Some(source) = body.take() else { return Ok(None) };
        let limit = limit(route);
        // Refuse before the first read, so that a client that sent `Expect: 100-continue` does not send the body.
        if source.size_hint().lower() > limit {
            return Err(Refusal::closing(StatusCode::PAYLOAD_TOO_LARGE));
        }
        let (patience, begun) = (Patience::of(context, route), Instant::now());
        Ok(Some(Box::pin(ProxiedUpload { source, patience, begun, received: 0, limit, late: None, state })))
    }

    fn refuse(&self, status: StatusCode) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.state.refused.set(Some(status));
        Poll::Ready(Some(Err(io::Error::other("the request's body was refused"))))
    }
}

impl Body for ProxiedUpload {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.source).poll_frame(cx) else {
            let by = self.patience.deadline(self.begun, self.received);
            let late = self.late.get_or_insert_with(|| Box::pin(sleep_until(by.into())));
            ready!(late.as_mut().poll(cx));
            return self.refuse(StatusCode::REQUEST_TIMEOUT);
        };
        self.late = None;
        match frame {
            None => Poll::Ready(None),
            Some(Err(_)) => self.refuse(StatusCode::BAD_REQUEST),
            Some(Ok(frame)) => {
                self.received += frame.data_ref().map_or(0, Bytes::len) as u64;
                self.state.received.set(self.received);
                if self.received > self.limit {
                    return self.refuse(StatusCode::PAYLOAD_TOO_LARGE);
                }
                // Trailers of a client are not passed on.
                Poll::Ready(Some(Ok(Frame::data(frame.into_data().unwrap_or_default()))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.source.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.source.size_hint()
    }
}
