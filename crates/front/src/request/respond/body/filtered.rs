//! A body that passes through a filter, piece by piece, at the client's pace.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;

use super::{BodySource, PIECE, in_turn};
use crate::base::fair::Claimant;
use crate::log::error_logs::LineClass;
use crate::request::context::RequestContext;
use crate::routing::Route;
use config::LogLevel;

/// A filter's state between two pieces of text.
pub trait TextTransform: Send {
    /// Name in the error log.
    fn name(&self) -> &'static str;
    /// Takes the next piece, of at most [`PIECE`] bytes.
    fn feed(&mut self, piece: Bytes);
    /// No further piece follows.
    fn end(&mut self);
    /// Text or call that the filter must get before it can continue.
    fn need(&self) -> TransformNeed;
    /// Whether [`TextTransform::run`] takes so little time that the event thread may do it.
    fn is_quick(&self) -> bool;
    /// Changes a part of the text that was fed. The result is bounded; an error ends the response.
    fn run(&mut self) -> Result<Vec<u8>, String>;
}

/// Text or call that a filter must get before it can continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransformNeed {
    /// More text, or its end.
    Text,
    /// A call of [`TextTransform::run`].
    Turn,
    /// Nothing: all text was returned.
    Nothing,
}

/// A body behind a filter.
pub struct FilteredBody {
    inner: BodySource,
    /// The rest of a piece from `inner` that is longer than [`PIECE`].
    rest: Bytes,
    state: State,
    claimant: Claimant,
    /// The request, for the error log.
    about: (Rc<RequestContext>, Rc<Route>),
}

type Done = Option<(Box<dyn TextTransform>, Result<Vec<u8>, String>)>;

enum State {
    Here(Box<dyn TextTransform>),
    /// The filter is on another thread, or waits for its turn there.
    Aside(Pin<Box<dyn Future<Output = Done>>>),
    /// The last bytes were returned.
    Over,
    /// The response cannot be completed.
    Failed,
}

impl FilteredBody {
    /// Passes `inner` through `transform`; turns on other threads are charged to `claimant`.
    pub fn new(
        inner: BodySource,
        transform: Box<dyn TextTransform>,
        claimant: Claimant,
        about: (Rc<RequestContext>, Rc<Route>),
    ) -> FilteredBody {
        FilteredBody { inner, rest: Bytes::new(), state: State::Here(transform), claimant, about }
    }

    pub fn inner(&self) -> &BodySource {
        &self.inner
    }

    /// Whether the last byte was returned, without an error.
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Over)
    }

    /// The next changed bytes.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        loop {
            let (transform, done) = match std::mem::replace(&mut self.state, State::Failed) {
                State::Over => {
                    self.state = State::Over;
                    return Poll::Ready(None);
                }
                State::Failed => return Poll::Ready(Some(Err(io::Error::other("a filter has failed")))),
                State::Aside(mut outcome) => match outcome.as_mut().poll(cx) {
                    Poll::Pending => {
                        self.state = State::Aside(outcome);
                        return Poll::Pending;
                    }
                    Poll::Ready(Some(done)) => done,
                    Poll::Ready(None) => continue,
                },
                State::Here(mut transform) => match transform.need() {
                    TransformNeed::Nothing => {
                        self.state = State::Over;
                        continue;
                    }
                    TransformNeed::Text => {
                        let piece = self.poll_piece(cx);
                        match piece {
                            Poll::Ready(Some(Ok(piece))) => transform.feed(piece),
                            Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                            Poll::Ready(None) => transform.end(),
                            Poll::Pending => {
                                self.state = State::Here(transform);
                                return Poll::Pending;
                            }
                        }
                        self.state = State::Here(transform);
                        continue;
                    }
                    TransformNeed::Turn if transform.is_quick() => {
                        let done = transform.run();
                        (transform, done)
                    }
                    TransformNeed::Turn => {
                        let work = move || {
                            let done = transform.run();
                            (transform, done)
                        };
                        self.state = State::Aside(Box::pin(in_turn(self.claimant.clone(), work)));
                        continue;
                    }
                },
            };
            match done {
                Ok(bytes) => {
                    self.state = State::Here(transform);
                    if !bytes.is_empty() {
                        return Poll::Ready(Some(Ok(bytes.into())));
                    }
                }
                Err(why) => self.report(transform.name(), &why),
            }
        }
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        if self.rest.is_empty() {
            match ready!(self.inner.poll(cx)) {
                Some(Ok(bytes)) => self.rest = bytes,
                other => return Poll::Ready(other),
            }
        }
        Poll::Ready(Some(Ok(self.rest.split_to(self.rest.len().min(PIECE)))))
    }

    fn report(&self, name: &'static str, why: &str) {
        let (context, route) = &self.about;
        context.log(route, LineClass { level: LogLevel::Error, module: name }, &why);
    }
}
