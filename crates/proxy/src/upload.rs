//! Bodies on their way to a backend.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::expectation::Expectation;
use crate::waits::Progress;

/// The source of a request's body.
pub type BodyStream = Pin<Box<dyn Body<Data = Bytes, Error = io::Error>>>;

/// The body of a request to a backend.
pub struct ProxiedBody {
    source: Option<BodyStream>,
    progress: Progress,
    /// Delays the body until the backend wants it.
    expectation: Option<Expectation>,
}

impl ProxiedBody {
    pub(crate) fn new(source: Option<BodyStream>, progress: Progress) -> ProxiedBody {
        ProxiedBody { source, progress, expectation: None }
    }

    /// Delays the body.
    pub(crate) fn wait_for(&mut self, expectation: Expectation) {
        self.expectation = Some(expectation);
    }

    /// The source, for another backend.
    pub(crate) fn into_source(self) -> Option<BodyStream> {
        self.source
    }
}

impl Body for ProxiedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        // hyper polls for a piece when the backend has taken the last one.
        self.progress.note();
        if let Some(expectation) = &mut self.expectation {
            ready!(expectation.poll(cx));
            self.expectation = None;
        }
        let frame = match &mut self.source {
            Some(source) => source.as_mut().poll_frame(cx),
            None => Poll::Ready(None),
        };
        if frame.is_pending() {
            self.progress.awaits_client();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.source.as_ref().is_none_or(|source| source.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.source.as_ref().map_or_else(|| SizeHint::with_exact(0), |source| source.size_hint())
    }
}
