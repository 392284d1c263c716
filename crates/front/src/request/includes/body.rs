//! The body of a page: the page runs while the client takes its output.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;

use super::output::Output;

/// A page that is executed while it is sent.
pub struct ParsedBody {
    output: Rc<Output>,
    state: PageState,
}

enum PageState {
    Running(Pin<Box<dyn Future<Output = io::Result<()>>>>),
    Over,
}

impl ParsedBody {
    /// A body with the output of `page`.
    pub fn new(output: Rc<Output>, page: impl Future<Output = io::Result<()>> + 'static) -> ParsedBody {
        ParsedBody { output, state: PageState::Running(Box::pin(page)) }
    }

    /// Whether all of the body was taken.
    pub fn is_over(&self) -> bool {
        matches!(self.state, PageState::Over)
    }

    /// The next piece.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        let PageState::Running(page) = &mut self.state else { return Poll::Ready(None) };
        let end = page.as_mut().poll(cx);
        match (self.output.take(), end) {
            (Some(piece), Poll::Ready(result)) => {
                self.state = PageState::Running(Box::pin(std::future::ready(result)));
                Poll::Ready(Some(Ok(piece)))
            }
            (Some(piece), Poll::Pending) => Poll::Ready(Some(Ok(piece))),
            (None, Poll::Pending) => Poll::Pending,
            (None, Poll::Ready(result)) => {
                self.state = PageState::Over;
                Poll::Ready(result.err().map(Err))
            }
        }
    }
}
