//! The output of a page on its way from its elements to the client.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::Poll;

use bytes::Bytes;

/// Output that waits for the client, in bytes, at which a page pauses.
const HIGH: usize = 64 << 10;
/// Text of at least this many bytes is passed on without a copy.
const LARGE: usize = 4 << 10;

/// Output of a page and of the documents that it includes.
#[derive(Default)]
pub struct Output(RefCell<Queue>);

#[derive(Default)]
struct Queue {
    pieces: VecDeque<Bytes>,
    /// Short texts since the last piece.
    tail: Vec<u8>,
    length: usize,
}

impl Queue {
    fn end_tail(&mut self) {
        if !self.tail.is_empty() {
            let tail = std::mem::take(&mut self.tail);
            self.pieces.push_back(tail.into());
        }
    }
}

impl Output {
    pub async fn write(&self, text: &[u8]) {
        {
            let mut queue = self.0.borrow_mut();
            queue.tail.extend_from_slice(text);
            queue.length += text.len();
        }
        self.has_room().await;
    }

    /// Adds a part of `piece`, without a copy if it is large.
    pub async fn pass(&self, piece: &Bytes, part: &[u8]) {
        if part.len() < LARGE {
            return self.write(part).await;
        }
        {
            let mut queue = self.0.borrow_mut();
            queue.end_tail();
            queue.pieces.push_back(piece.slice_ref(part));
            queue.length += part.len();
        }
        self.has_room().await;
    }

    /// Waits until the client has taken enough. The body polls the page again after each piece, so no waker is needed.
    async fn has_room(&self) {
        poll_fn(|_| if self.0.borrow().length < HIGH { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    /// The next piece for the client.
    pub fn take(&self) -> Option<Bytes> {
        let mut queue = self.0.borrow_mut();
        if queue.pieces.is_empty() {
            queue.end_tail();
        }
        let piece = queue.pieces.pop_front()?;
        queue.length -= piece.len();
        Some(piece)
    }
}

/// Lets other requests of the thread run.
pub async fn pause() {
    let mut has_paused = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut has_paused, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
