//! The body of a backend's response on its way to the client.

use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;

use super::running::RunningAtMember;
use crate::request::context::RequestContext;
use crate::routing::Route;
use proxy::BackendBody;

/// The body of a backend's response. A backend that breaks off is named in the error log.
pub struct Download {
    body: BackendBody,
    request: Option<Rc<RequestContext>>,
    route: Rc<Route>,
    received: u64,
    /// Counts the request at the member of a balancer.
    running: Option<RunningAtMember>,
}

impl Download {
    /// The body of the response to `context`.
    pub fn new(
        context: &RequestContext,
        route: &Rc<Route>,
        body: BackendBody,
        running: Option<RunningAtMember>,
    ) -> Download {
        Download { body, request: context.itself(), route: route.clone(), received: 0, running }
    }

    /// Number of bytes that the backend has yet to send, if it sent a Content-Length.
    pub fn length(&self) -> Option<u64> {
        self.body.length()
    }

    /// Whether the body has ended.
    pub fn is_over(&self) -> bool {
        self.body.is_over()
    }

    /// The next bytes.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let piece = ready!(self.body.poll(cx));
        match &piece {
            Some(Ok(bytes)) => {
                self.received += bytes.len() as u64;
                if let Some(running) = &mut self.running {
                    running.received = self.received;
                }
            }
            Some(Err(error)) => self.log_error(error),
            None => {}
        }
        Poll::Ready(piece)
    }

    fn log_error(&mut self, error: &io::Error) {
        let Some(request) = self.request.take() else { return };
        let backend = self.route.backend.as_ref().map(|to| to.url.origin()).unwrap_or_default();
        let why = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
        request.log_error(
            &self.route,
            &format_args!(
                "backend {backend}: the response ended early, after {} bytes of the body: {error}{why}",
                self.received
            ),
        );
    }
}
