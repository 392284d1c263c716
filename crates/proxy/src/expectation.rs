//! `Expect: 100-continue`: a request's body waits until the backend wants it (RFC 9110, section 10.1.1).

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Mutex;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, StatusCode};
use tokio::sync::oneshot::{self, Receiver};
use tokio::time::{Sleep, sleep};

/// The longest wait for a backend that sends neither 100 nor a response: it may not know the expectation.
const PATIENCE: Duration = Duration::from_secs(1);

/// Progress of a body with an expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyStage {
    /// The backend has sent neither 100 nor a final status.
    Waits,
    /// The body is being sent.
    Goes,
    /// The response came first: nobody wants the body any more.
    Unwanted,
}

/// Delays a body.
pub(crate) struct Expectation {
    continued: Receiver<()>,
    late: Pin<Box<Sleep>>,
    stage: Rc<Cell<BodyStage>>,
}

/// The view of the request whose body is delayed.
pub(crate) struct Expected(Rc<Cell<BodyStage>>);

impl Expectation {
    /// Delays the body of `request` until the backend sends 100, and for a part of `piece` at most.
    pub fn of<B>(request: &mut Request<B>, piece: Duration) -> (Expectation, Expected) {
        let (sender, continued) = oneshot::channel();
        let sender = Mutex::new(Some(sender));
        hyper::ext::on_informational(request, move |response| {
            let sender = sender.lock().ok().filter(|_| response.status() == StatusCode::CONTINUE);
            if let Some(sender) = sender.and_then(|mut sender| sender.take()) {
                let _ = sender.send(());
            }
        });
        let stage = Rc::new(Cell::new(BodyStage::Waits));
        let late = Box::pin(sleep(PATIENCE.min(piece / 2)));
        (Expectation { continued, late, stage: stage.clone() }, Expected(stage))
    }

    /// Ready when the body is to be sent; never, once the response is here.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self.stage.get() {
            BodyStage::Goes => return Poll::Ready(()),
            BodyStage::Unwanted => return Poll::Pending,
            BodyStage::Waits => {}
        }
        let stage = match Pin::new(&mut self.continued).poll(cx) {
            Poll::Ready(Ok(())) => BodyStage::Goes,
            // hyper drops the callback when the response is here.
            Poll::Ready(Err(_)) => BodyStage::Unwanted,
            Poll::Pending if self.late.as_mut().poll(cx).is_ready() => BodyStage::Goes,
            Poll::Pending => return Poll::Pending,
        };
        self.stage.set(stage);
        if stage == BodyStage::Goes { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Expected {
    /// Called when the response has arrived. Returns whether the body was not sent, so that the connection cannot
    /// carry another request.
    pub fn is_answered(&self) -> bool {
        let is_unsent = self.0.get() != BodyStage::Goes;
        if is_unsent {
            self.0.set(BodyStage::Unwanted);
        }
        is_unsent
    }
}
