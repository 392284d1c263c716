//! The body of a response of a backend or of a FastCGI application, on its way to the client.

use std::error::Error;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HOST, HeaderMap};

use super::running::Running;
use crate::request::context::RequestContext;
use crate::routing::Route;
use config::Handler;
use proxy::{BackendBody, FastcgiBody, fields};

/// The body of a response. A sender that breaks off is named in the error log.
pub struct Download {
    body: DownloadBody,
    request: Option<Rc<RequestContext>>,
    route: Rc<Route>,
    received: u64,
    /// Counts the request at the one who answers.
    running: Option<Running>,
}

/// The body as its protocol sends it.
#[allow(clippy::large_enum_variant, reason = "a Download is always boxed")]
pub enum DownloadBody {
    Http(BackendBody),
    Fastcgi(FastcgiBody),
}

impl Download {
    /// The body of the response to `context`.
    pub fn new(context: &RequestContext, route: &Rc<Route>, body: DownloadBody, running: Option<Running>) -> Download {
        Download { body, request: context.itself(), route: route.clone(), received: 0, running }
    }

    /// Number of bytes that the sender has yet to send, if it sent a Content-Length.
    pub fn length(&self) -> Option<u64> {
        match &self.body {
            DownloadBody::Http(body) => body.length(),
            DownloadBody::Fastcgi(body) => body.length(),
        }
    }

    /// Whether the body has ended.
    pub fn is_over(&self) -> bool {
        match &self.body {
            DownloadBody::Http(body) => body.is_over(),
            DownloadBody::Fastcgi(body) => body.is_over(),
        }
    }

    /// The trailers of a body over HTTP/2 that has ended, without fields of the connection and of the framing.
    pub fn take_trailers(&mut self) -> Option<HeaderMap> {
        let DownloadBody::Http(body) = &mut self.body else { return None };
        let mut trailers = body.take_trailers()?;
        fields::end_to_end(&mut trailers);
        for name in [CONTENT_LENGTH, HOST] {
            trailers.remove(name);
        }
        Some(trailers)
    }

    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let piece = ready!(match &mut self.body {
            DownloadBody::Http(body) => body.poll(cx),
            DownloadBody::Fastcgi(body) => body.poll(cx),
        });
        match &piece {
            Some(Ok(bytes)) => {
                self.received += bytes.len() as u64;
                if let Some(running) = &mut self.running {
                    running.received(self.received);
                }
            }
            Some(Err(error)) => self.log_error(error),
            None => {}
        }
        Poll::Ready(piece)
    }

    fn log_error(&mut self, error: &io::Error) {
        let Some(request) = self.request.take() else { return };
        let (origin, received) = (origin(&self.route), self.received);
        let text = match self.body {
            DownloadBody::Http(_) => {
                let why = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
                let origin = match &self.running {
                    Some(Running::Stream(turn)) => format!("worker={}", turn.worker().slot),
                    _ => format!("backend {origin}"),
                };
                format!("{origin}: the response ended early, after {received} bytes of the body: {error}{why}")
            }
            DownloadBody::Fastcgi(_) => {
                format!(
                    "FastCGI application {origin}: the response ended early, after {received} bytes of the body: {error}"
                )
            }
        };
        request.log_error(&self.route, &text);
    }
}

/// The backend or application of `route`, for messages.
fn origin(route: &Route) -> String {
    match (&route.backend, &route.settings.handler) {
        (Some(to), _) => to.url.origin(),
        (None, Handler::Backend(backend)) => backend.url.origin(),
        _ => String::new(),
    }
}
