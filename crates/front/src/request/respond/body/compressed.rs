//! Compresses a body while it is sent, at the client's pace.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use super::encoder::{Encoder, EncoderAction, EncoderStep};
use super::{BodySource, PIECE, in_turn};
use crate::base::fair::Claimant;
use bytes::Bytes;

/// Bytes compressed in one step. No level compresses these within [`AT_ONCE`], so a longer body is compressed on
/// another thread.
pub const STEP: usize = 128 * 1024;

/// Steps up to this estimated time run on the event thread; a handover to another thread costs about 30 µs.
pub const AT_ONCE: Duration = Duration::from_micros(200);

/// A body that passes through an encoder, one step at a time. The next step begins when the client has taken the
/// output of the last.
pub struct Compressed {
    inner: BodySource,
    /// The rest of a piece from `inner` that is longer than [`PIECE`].
    rest: Bytes,
    state: State,
    /// Whether the encoder received bytes since its last flush.
    holds: bool,
    /// The claimant of turns on other threads.
    claimant: Claimant,
    /// Why `inner` broke off. Reported after the bytes before it were sent, on every further poll.
    failure: Option<io::Error>,
}

type EncodedPiece = Option<(Box<Encoder>, io::Result<Vec<u8>>)>;

enum State {
    /// The encoder is available and waits for bytes.
    Here(Box<Encoder>),
    /// The encoder is on another thread, or waits for its turn there.
    Aside(Pin<Box<dyn Future<Output = EncodedPiece>>>, EncoderAction),
    /// The last bytes were returned.
    Over,
}

impl Compressed {
    /// Compresses `inner` with `encoder`; turns on other threads are charged to `claimant`.
    pub fn new(inner: BodySource, encoder: Encoder, claimant: Claimant) -> Compressed {
        let state = State::Here(Box::new(encoder));
        Compressed { inner, rest: Bytes::new(), state, holds: false, claimant, failure: None }
    }

    /// The next compressed bytes. When the program pauses, its output so far is flushed.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<io::Result<Bytes>>> {
        loop {
            let (encoder, then, done) = match std::mem::replace(&mut self.state, State::Over) {
                State::Over => {
                    return Poll::Ready(self.failure.as_ref().map(|it| Err(io::Error::new(it.kind(), it.to_string()))));
                }
                State::Aside(mut outcome, then) => match outcome.as_mut().poll(cx) {
                    Poll::Pending => {
                        self.state = State::Aside(outcome, then);
                        return Poll::Pending;
                    }
                    Poll::Ready(Some((encoder, done))) => (encoder, then, done),
                    Poll::Ready(None) => {
                        return Poll::Ready(Some(Err(io::Error::other(
                            "the thread that compressed the response has panicked",
                        ))));
                    }
                },
                State::Here(mut encoder) => {
                    let Poll::Ready(step) = self.next_step(cx) else {
                        self.state = State::Here(encoder);
                        return Poll::Pending;
                    };
                    let then = step.then;
                    if encoder.cost(&step) > AT_ONCE {
                        let work = move || {
                            let done = encoder.run(&step);
                            (encoder, done)
                        };
                        self.state = State::Aside(Box::pin(in_turn(self.claimant.clone(), work)), then);
                        continue;
                    }
                    let done = encoder.run(&step);
                    (encoder, then, done)
                }
            };
            let bytes = done?;
            if then != EncoderAction::Finish && self.failure.is_none() {
                self.holds = then == EncoderAction::More;
                self.state = State::Here(encoder);
            }
            if !bytes.is_empty() {
                return Poll::Ready(Some(Ok(bytes.into())));
            }
        }
    }

    /// Collects the pieces that are available, up to about `STEP` bytes.
    fn next_step(&mut self, cx: &mut Context<'_>) -> Poll<EncoderStep> {
        let (mut pieces, mut length) = (Vec::new(), 0);
        let then = loop {
            if length >= STEP {
                break EncoderAction::More;
            }
            match self.poll_piece(cx) {
                Poll::Ready(Some(Ok(piece))) => {
                    length += piece.len();
                    pieces.push(piece);
                }
                Poll::Ready(Some(Err(error))) => {
                    self.failure = Some(error);
                    break EncoderAction::Flush;
                }
                Poll::Ready(None) => break EncoderAction::Finish,
                Poll::Pending if length > 0 || self.holds => break EncoderAction::Flush,
                Poll::Pending => return Poll::Pending,
            }
        };
        Poll::Ready(EncoderStep { pieces, then })
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

    pub fn inner(&self) -> &BodySource {
        &self.inner
    }

    /// Whether the last byte was returned, without an error.
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Over) && self.failure.is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::task::Waker;

    use super::*;
    use config::response::compress::Coding;

    #[test]
    fn the_next_step_waits_until_the_client_has_taken_the_last() {
        let words: Vec<u8> = (0..4_000_000_u64).map(|n| ((n * n) >> 7) as u8).collect();
        for coding in Coding::ALL {
            let encoder = Encoder::new(coding, 1, None).expect("an encoder");
            let mut body =
                Compressed::new(BodySource::Whole(words.clone().into()), encoder, Claimant::new(Path::new("/"), None));
            let mut cx = Context::from_waker(Waker::noop());
            let bytes = loop {
                match body.poll(&mut cx) {
                    Poll::Pending => std::thread::yield_now(),
                    Poll::Ready(bytes) => break bytes.expect("there is more").expect("it compresses"),
                }
            };
            let looked_at = words.len() - body.rest.len();
            assert!((1..=4 * STEP).contains(&looked_at) && !bytes.is_empty(), "{coding:?}: {looked_at}");
        }
    }
}
