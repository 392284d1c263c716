//! The beginning of an upload, received before a worker is chosen, so that a slow client occupies no place there.

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
    // A copy: each piece keeps the buffer in memory into which it was read, and may be a single byte of it.
    let mut begun = Vec::new();
    while (begun.len() as u64) < length.min(AHEAD_BYTES) {
        match body.frame().await {
            Some(Ok(frame)) => begun.extend_from_slice(&frame.into_data().unwrap_or_default()),
            Some(Err(_)) => return Err(Refusal::closing(state.refused.get().unwrap_or(StatusCode::BAD_REQUEST))),
            None => break,
        }
    }
    Ok(Box::pin(BegunBody { begun: begun.into(), rest: body }))
}

/// A body whose first bytes are in memory.
struct BegunBody {
    begun: Bytes,
    rest: BodyStream,
}

impl Body for BegunBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match std::mem::take(&mut self.begun) {
            begun if begun.is_empty() => self.rest.as_mut().poll_frame(cx),
            begun => Poll::Ready(Some(Ok(Frame::data(begun)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.begun.is_empty() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let begun = self.begun.len() as u64;
        self.rest.size_hint().exact().map_or_else(SizeHint::default, |rest| SizeHint::with_exact(rest + begun))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body of single bytes, each of which is a part of a larger buffer.
    struct SingleBytes(Vec<Bytes>);

    impl Body for SingleBytes {
        type Data = Bytes;
        type Error = io::Error;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
            Poll::Ready(self.0.pop().map(|buffer| Ok(Frame::data(buffer.slice(..1)))))
        }

        fn size_hint(&self) -> SizeHint {
            SizeHint::with_exact(self.0.len() as u64)
        }
    }

    #[tokio::test]
    async fn single_bytes_do_not_keep_the_buffers_into_which_they_were_read() {
        let buffers: Vec<Bytes> = (0..100).map(|byte| Bytes::from(vec![byte; 8192])).collect();
        let body = SingleBytes(buffers.clone());
        let received = receive(Box::pin(body), &UploadState::default()).await.expect("a body");
        assert!(buffers.iter().all(Bytes::is_unique));
        assert_eq!(received.size_hint().exact(), Some(100));
        let all: Vec<u8> = (0..100).rev().collect();
        assert_eq!(received.collect().await.expect("a body").to_bytes(), all);
    }
}
