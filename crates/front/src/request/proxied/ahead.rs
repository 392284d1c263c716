//! The beginning of an upload, received before a worker is chosen, so that a slow client occupies no place there.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::StatusCode;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;

use super::upload::UploadState;
use crate::base::refusal::Refusal;
use proxy::BodyStream;

/// Bytes of a body that are received before a worker is chosen.
const AHEAD_BYTES: u64 = 64 << 10;

/// Receives a body of known length, or its beginning. One of unknown length may be a conversation, in which the client
/// waits for a response to each part; it is passed on as it comes.
pub async fn receive(mut body: BodyStream, state: &UploadState) -> Result<BodyStream, Refusal> {
    let Some(length) = body.size_hint().exact() else { return Ok(body) };
    let (mut pieces, mut received) = (VecDeque::new(), 0);
    while received < length.min(AHEAD_BYTES) {
        match body.frame().await {
            Some(Ok(frame)) => {
                let piece = frame.into_data().unwrap_or_default();
                received += piece.len() as u64;
                pieces.push_back(piece);
            }
            Some(Err(_)) => return Err(Refusal::closing(state.refused.get().unwrap_or(StatusCode::BAD_REQUEST))),
            None => break,
        }
    }
    Ok(Box::pin(BegunBody { pieces, rest: body }))
}

/// A body whose first pieces are in memory.
struct BegunBody {
    pieces: VecDeque<Bytes>,
    rest: BodyStream,
}

impl Body for BegunBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match self.pieces.pop_front() {
            Some(piece) => Poll::Ready(Some(Ok(Frame::data(piece)))),
            None => self.rest.as_mut().poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let waiting: usize = self.pieces.iter().map(Bytes::len).sum();
        self.rest.size_hint().exact().map_or_else(SizeHint::default, |rest| SizeHint::with_exact(rest + waiting as u64))
    }
}
