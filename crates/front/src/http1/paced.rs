//! Flow control for response bodies. hyper by itself takes up to 16 pieces of a body before it writes the first; for a
//! slow client these pieces stay in memory that no limit counts.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::heads::Heads;
use super::parking::{MayWait, Parking};

/// hyper gets a further piece of a body while it holds fewer unwritten bytes than this.
const MAX_UNWRITTEN_BYTES: usize = 128 * 1024;

/// Response bytes of a connection that hyper holds and has not written to the socket.
#[derive(Default)]
pub struct Unwritten {
    bytes: Cell<usize>,
    /// Task of the connection, if a body waits until hyper has written.
    waiting: Cell<Option<Waker>>,
    pub heads: Heads,
}

impl Unwritten {
    /// Counts `n` bytes as written, of heads or bodies.
    pub fn written(&self, n: usize) {
        self.bytes.update(|bytes| bytes.saturating_sub(n));
    }

    pub fn all_written(&self) {
        self.bytes.set(0);
        self.heads.all_written();
        self.waiting.take().into_iter().for_each(Waker::wake);
    }

    fn poll_room(&self, cx: &Context<'_>) -> Poll<()> {
        if self.bytes.get() < MAX_UNWRITTEN_BYTES {
            return Poll::Ready(());
        }
        self.waiting.set(Some(cx.waker().clone()));
        Poll::Pending
    }
}

/// A response body with flow control.
pub struct Paced<B> {
    /// `None`: the body has left hyper.
    body: Option<B>,
    unwritten: Rc<Unwritten>,
    parking: Rc<Parking<B>>,
}

impl<B> Paced<B> {
    /// `body`, on the connection of `unwritten` and `parking`.
    pub fn new(body: B, unwritten: Rc<Unwritten>, parking: Rc<Parking<B>>) -> Paced<B> {
        parking.goes_on();
        Paced { body: Some(body), unwritten, parking }
    }
}

impl<B> Drop for Paced<B> {
    fn drop(&mut self) {
        self.unwritten.heads.end_body();
    }
}

impl<B: Body<Data = Bytes, Error = io::Error> + MayWait + Unpin> Body for Paced<B> {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        ready!(self.unwritten.poll_room(cx));
        let Some(body) = &mut self.body else { return Poll::Pending };
        let Poll::Ready(frame) = Pin::new(&mut *body).poll_frame(cx) else {
            if body.waits() {
                let Paced { body, parking, .. } = &mut *self;
                parking.offer(body);
            }
            return Poll::Pending;
        };
        self.parking.goes_on();
        if let Some(Ok(frame)) = &frame {
            let added = frame.data_ref().map_or(0, Bytes::len);
            self.unwritten.bytes.update(|bytes| bytes + added);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_some_and(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(Body::size_hint).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body without end, in pieces of 1000 bytes.
    struct Endless;

    impl Body for Endless {
        type Data = Bytes;
        type Error = io::Error;

        fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
            Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[0; 1000])))))
        }
    }

    impl MayWait for Endless {
        fn waits(&self) -> bool {
            false
        }
    }

    #[test]
    fn a_body_waits_until_what_hyper_has_of_it_is_written() {
        let unwritten = Rc::new(Unwritten::default());
        let mut body = Paced::new(Endless, unwritten.clone(), Rc::default());
        let mut cx = Context::from_waker(Waker::noop());
        let mut take = || (0..1000).take_while(|_| Pin::new(&mut body).poll_frame(&mut cx).is_ready()).count();
        assert_eq!(take(), MAX_UNWRITTEN_BYTES.div_ceil(1000));
        unwritten.written(2000);
        assert_eq!(take(), 2);
        unwritten.all_written();
        assert_eq!(take(), MAX_UNWRITTEN_BYTES.div_ceil(1000));
    }
}
