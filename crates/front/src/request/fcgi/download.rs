//! The body of an application's response on its way to the client.

use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;

use crate::request::context::RequestContext;
use crate::routing::Route;
use proxy::FastcgiBody;

/// The body of an application's response. An application that breaks off is named in the error log.
pub struct FastcgiDownload {
    body: FastcgiBody,
    request: Option<Rc<RequestContext>>,
    route: Rc<Route>,
    origin: String,
    received: u64,
}

impl FastcgiDownload {
    /// The body of the response of the application `origin` to `context`.
    pub fn new(context: &RequestContext, route: &Rc<Route>, origin: String, body: FastcgiBody) -> FastcgiDownload {
        FastcgiDownload { body, request: context.itself(), route: route.clone(), origin, received: 0 }
    }

    /// The number of bytes that are still to come, if the application has named it.
    pub fn length(&self) -> Option<u64> {
        self.body.length()
    }

    /// Whether nothing more comes.
    pub fn is_over(&self) -> bool {
        self.body.is_over()
    }

    /// The next bytes.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let piece = ready!(self.body.poll(cx));
        match &piece {
            Some(Ok(bytes)) => self.received += bytes.len() as u64,
            Some(Err(error)) => self.log_error(error),
            None => {}
        }
        Poll::Ready(piece)
    }

    fn log_error(&mut self, error: &io::Error) {
        let Some(request) = self.request.take() else { return };
        request.log_error(
            &self.route,
            &format_args!(
                "FastCGI application {}: the response ends after {} bytes of the body: {error}",
                self.origin, self.received
            ),
        );
    }
}
