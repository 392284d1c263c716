//! Messages on their way to one worker. Orders of other kinds share the worker's socket, so broadcast messages never
//! fill it: the worker confirms what it has received, and further messages wait here.

use std::collections::VecDeque;
use std::sync::Arc;

use wire::broadcast::cost;

/// Maximum [`cost`] of the messages in a worker's socket, whose buffer has 208 KiB. One message always fits.
pub const IN_SOCKET: usize = 96 * 1024;
/// Maximum cost of the messages that wait for a worker.
pub const WAITING: usize = 4 * 1024 * 1024;

/// Receiver of messages: a worker's socket.
pub trait Sink {
    /// Sends a message, or returns false.
    fn send(&self, message: &[u8]) -> bool;

    /// Whether messages are confirmed, and so limited.
    fn confirms(&self) -> bool {
        true
    }
}

/// Result of [`Subscriber::push`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    Accepted,
    Dropped,
    /// The first message that was dropped since all others had been sent.
    DroppedFirst,
}

/// The way to one worker.
#[derive(Debug)]
pub struct Subscriber<S> {
    sink: S,
    waiting: VecDeque<Arc<[u8]>>,
    /// Cost of `waiting`.
    waiting_cost: usize,
    /// Cost of the messages that the worker has not confirmed.
    in_socket: usize,
    is_dropping: bool,
}

impl<S: Sink> Subscriber<S> {
    pub fn new(sink: S) -> Subscriber<S> {
        Subscriber { sink, waiting: VecDeque::new(), waiting_cost: 0, in_socket: 0, is_dropping: false }
    }

    /// Sends a message, now or later; drops it when too many wait.
    pub fn push(&mut self, message: Arc<[u8]>) -> Pushed {
        let cost = cost(message.len());
        if self.is_dropping || self.waiting_cost + cost > WAITING {
            let is_first = !std::mem::replace(&mut self.is_dropping, true);
            return if is_first { Pushed::DroppedFirst } else { Pushed::Dropped };
        }
        self.waiting.push_back(message);
        self.waiting_cost += cost;
        match self.flush() {
            0 => Pushed::Accepted,
            _ => Pushed::Dropped,
        }
    }

    /// Whether the subscriber is a worker, whose limits apply.
    pub fn is_limited(&self) -> bool {
        self.sink.confirms()
    }

    /// Handles the worker's confirmation. Returns the number of messages that were dropped.
    pub fn taken(&mut self, cost: usize) -> u64 {
        self.in_socket = self.in_socket.saturating_sub(cost);
        self.flush()
    }

    /// Sends what the socket may have. A message that the socket refuses is sent again after the next confirmation;
    /// without one to come, it is dropped, and counted in the result.
    fn flush(&mut self) -> u64 {
        let mut dropped = 0;
        while let Some(message) = self.waiting.front() {
            let cost = cost(message.len());
            if self.in_socket > 0 && self.in_socket + cost > IN_SOCKET {
                return dropped;
            }
            if self.sink.send(message) {
                self.in_socket += if self.sink.confirms() { cost } else { 0 };
            } else if self.in_socket > 0 {
                return dropped;
            } else {
                dropped += 1;
            }
            self.waiting.pop_front();
            self.waiting_cost -= cost;
        }
        self.is_dropping = false;
        dropped
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;

    use super::*;

    /// A socket that takes all or nothing.
    #[derive(Default, Clone)]
    struct Socket(Rc<RefCell<Vec<Vec<u8>>>>, Rc<Cell<bool>>);

    impl Sink for Socket {
        fn send(&self, message: &[u8]) -> bool {
            if !self.1.get() {
                self.0.borrow_mut().push(message.to_vec());
            }
            !self.1.get()
        }
    }

    fn subscriber() -> (Socket, Subscriber<Socket>) {
        let socket = Socket::default();
        (socket.clone(), Subscriber::new(socket))
    }

    #[test]
    fn messages_wait_until_the_worker_has_confirmed_earlier_ones_and_keep_their_order() {
        let (socket, mut subscriber) = subscriber();
        let message = |number: u8| -> Arc<[u8]> { vec![number; 10_000].into() };
        for number in 0..100 {
            assert_eq!(subscriber.push(message(number)), Pushed::Accepted);
            assert!(subscriber.in_socket <= IN_SOCKET);
        }
        assert_eq!(socket.0.borrow().len(), IN_SOCKET / cost(10_000));
        while socket.0.borrow().len() < 100 {
            assert_eq!(subscriber.taken(cost(10_000)), 0);
        }
        let sent: Vec<u8> = socket.0.borrow().iter().map(|message| message[0]).collect();
        assert_eq!(sent, (0..100).collect::<Vec<u8>>());
        assert_eq!(subscriber.waiting_cost, 0);
    }

    #[test]
    fn a_worker_that_reads_nothing_costs_bounded_memory_and_misses_messages_without_gaps_between_them() {
        let (socket, mut subscriber) = subscriber();
        let message: Arc<[u8]> = vec![0; 64 * 1024].into();
        let pushed: Vec<Pushed> = (0..1000).map(|_| subscriber.push(message.clone())).collect();
        assert!(subscriber.waiting_cost <= WAITING);
        assert_eq!(pushed.iter().filter(|pushed| **pushed == Pushed::DroppedFirst).count(), 1);
        assert_eq!(subscriber.push(vec![1].into()), Pushed::Dropped, "a small one is not sent before the dropped ones");
        while !subscriber.waiting.is_empty() {
            subscriber.taken(cost(64 * 1024));
        }
        assert_eq!(subscriber.push(vec![1].into()), Pushed::Accepted);
        let accepted = pushed.iter().filter(|pushed| **pushed == Pushed::Accepted).count();
        subscriber.taken(cost(64 * 1024));
        assert_eq!(socket.0.borrow().len(), accepted + 1);
    }

    #[test]
    fn a_socket_full_of_other_orders_loses_only_what_no_confirmation_would_send() {
        let (socket, mut subscriber) = subscriber();
        socket.1.set(true);
        assert_eq!(subscriber.push(vec![1].into()), Pushed::Dropped);
        socket.1.set(false);
        assert_eq!(subscriber.push(vec![2].into()), Pushed::Accepted);
        socket.1.set(true);
        assert_eq!(subscriber.push(vec![3].into()), Pushed::Accepted);
        socket.1.set(false);
        assert_eq!(subscriber.taken(cost(1)), 0);
        assert_eq!(*socket.0.borrow(), [[2], [3]]);
    }
}
