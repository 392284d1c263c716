//! Subscribers that the front holds itself: clients whose programs have left their responses with it. The register
//! knows them all as one subscriber.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use wire::broadcast::BroadcastMessage;
use wire::control::GenerationNumber;

use super::hold::{HoldKind, HoldRequest, HoldTerms};
use super::{BroadcastSink, HELD, Subscriptions, events};
use crate::base::lock::lock;

/// Maximum cost of the messages that wait for one client; one message always fits.
const WAITING: usize = 256 * 1024;
/// Cost of a message in addition to its length, in bytes.
const AROUND_MESSAGE: usize = 64;

/// Clients of all threads, by their channels.
#[derive(Default)]
pub struct HeldClients {
    state: Mutex<Channels>,
    /// Number of clients that were closed because messages waited for them.
    slow: AtomicU64,
}

#[derive(Default)]
struct Channels {
    by_name: HashMap<Box<[u8]>, HashMap<u64, Arc<Waiting>>>,
    /// Number of the next client.
    next: u64,
    /// Numbers of held streams and of long polls.
    streams: u64,
    responses: u64,
    /// The front stops: nothing more is held.
    is_over: bool,
}

/// Messages that wait for a client.
struct Waiting {
    terms: HoldTerms,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<Bytes>,
    cost: usize,
    /// A long poll, which ends with its first message.
    takes_one: bool,
    end: Option<HeldEnd>,
    reader: Option<Waker>,
}

/// Why a client gets nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldEnd {
    /// The front stops, or has had another configuration for long.
    Stopped,
    /// More messages wait than allowed.
    Slow,
}

/// Why a response is not held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotHeld {
    /// As many are held as allowed.
    Full,
    /// The front stops.
    Stopping,
}

/// The subscription of a held client, until it is dropped.
pub struct Held {
    clients: Arc<HeldClients>,
    subscriptions: Subscriptions,
    waiting: Arc<Waiting>,
    channels: Arc<[Box<[u8]>]>,
    number: u64,
    is_response: bool,
}

impl HeldClients {
    /// Subscribes a client.
    pub fn hold(
        self: &Arc<Self>,
        subscriptions: &Subscriptions,
        request: &HoldRequest,
        terms: HoldTerms,
    ) -> Result<Held, NotHeld> {
        let mut register = lock(&subscriptions.register);
        let mut state = lock(&self.state);
        if state.is_over {
            return Err(NotHeld::Stopping);
        }
        if state.streams + state.responses >= terms.most as u64 {
            return Err(NotHeld::Full);
        }
        let is_response = request.kind == HoldKind::Response;
        *state.count(is_response) += 1;
        state.next += 1;
        let number = state.next;
        let queue = Queue { takes_one: is_response, ..Queue::default() };
        let waiting = Arc::new(Waiting { terms, queue: queue.into() });
        for channel in &*request.channels {
            let clients = state.by_name.entry(channel.clone()).or_default();
            clients.insert(number, waiting.clone());
            // Fails only beyond a million clients.
            let _ = register.subscribe(HELD, || BroadcastSink::Held(self.clone()), channel, clients.len() as u32);
        }
        subscriptions.relay.changed();
        let (subscriptions, channels) = (subscriptions.clone(), request.channels.clone());
        Ok(Held { clients: self.clone(), subscriptions, waiting, channels, number, is_response })
    }

    /// Sends an encoded message to the clients of its channel.
    pub fn deliver(&self, encoded: &[u8]) {
        let Ok(BroadcastMessage { channel, message }) = BroadcastMessage::read(encoded) else { return };
        let state = lock(&self.state);
        // Each form is made once, and shared by its clients.
        let (mut plain, mut event) = (None, None);
        for client in state.by_name.get(channel).into_iter().flat_map(HashMap::values) {
            let bytes = match client.terms.as_events {
                true => event.get_or_insert_with(|| events::event(message)),
                false => plain.get_or_insert_with(|| Bytes::copy_from_slice(message)),
            };
            if lock(&client.queue).push(bytes.clone()) {
                self.slow.fetch_add(1, Relaxed);
            }
        }
    }

    /// Ends all, as the front stops.
    pub fn end(&self) {
        let mut state = lock(&self.state);
        state.is_over = true;
        for client in state.by_name.values().flat_map(HashMap::values) {
            lock(&client.queue).end(HeldEnd::Stopped);
        }
    }

    /// Ends those of earlier generations than `serving`, but only those of one `part` of all `parts`.
    pub fn end_earlier(&self, serving: GenerationNumber, part: u64, parts: u64) {
        let state = lock(&self.state);
        for (number, client) in state.by_name.values().flatten() {
            if client.terms.generation < serving && number.checked_rem(parts) == Some(part) {
                lock(&client.queue).end(HeldEnd::Stopped);
            }
        }
    }

    /// Numbers of held streams, of long polls, and of clients that were closed because they were slow.
    pub fn counts(&self) -> [u64; 3] {
        let state = lock(&self.state);
        [state.streams, state.responses, self.slow.load(Relaxed)]
    }
}

impl Channels {
    fn count(&mut self, is_response: bool) -> &mut u64 {
        if is_response { &mut self.responses } else { &mut self.streams }
    }
}

impl Queue {
    /// Adds a message. Returns whether the client has become too slow by that.
    fn push(&mut self, message: Bytes) -> bool {
        if self.end.is_some() || self.takes_one && !self.messages.is_empty() {
            return false;
        }
        let cost = message.len() + AROUND_MESSAGE;
        if self.cost > 0 && self.cost + cost > WAITING {
            self.end(HeldEnd::Slow);
            return true;
        }
        self.cost += cost;
        self.messages.push_back(message);
        self.wake();
        false
    }

    fn end(&mut self, end: HeldEnd) {
        if self.end.is_none() {
            self.end = Some(end);
            if end == HeldEnd::Slow {
                (self.messages, self.cost) = (VecDeque::new(), 0);
            }
            self.wake();
        }
    }

    fn wait(&mut self, cx: &Context<'_>) {
        if !self.reader.as_ref().is_some_and(|reader| reader.will_wake(cx.waker())) {
            self.reader = Some(cx.waker().clone());
        }
    }

    fn wake(&mut self) {
        self.reader.take().into_iter().for_each(Waker::wake);
    }
}

impl Held {
    /// The next message, or the end.
    pub fn poll(&self, cx: &Context<'_>) -> Poll<Result<Bytes, HeldEnd>> {
        let mut queue = lock(&self.waiting.queue);
        if let Some(message) = queue.messages.pop_front() {
            queue.cost -= message.len() + AROUND_MESSAGE;
            if queue.messages.is_empty() {
                queue.messages = VecDeque::new();
            }
            return Poll::Ready(Ok(message));
        }
        if let Some(end) = queue.end {
            return Poll::Ready(Err(end));
        }
        queue.wait(cx);
        Poll::Pending
    }

    /// Whether the client is too slow. Otherwise its task is woken when it is, also while the task only writes.
    pub fn is_slow(&self, cx: &Context<'_>) -> bool {
        let mut queue = lock(&self.waiting.queue);
        queue.wait(cx);
        queue.end == Some(HeldEnd::Slow)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut register = lock(&self.subscriptions.register);
        let mut state = lock(&self.clients.state);
        *state.count(self.is_response) -= 1;
        for channel in &*self.channels {
            let Some(clients) = state.by_name.get_mut(channel) else { continue };
            clients.remove(&self.number);
            let left = clients.len() as u32;
            if left == 0 {
                state.by_name.remove(channel);
            }
            let _ = register.subscribe(HELD, || BroadcastSink::Held(self.clients.clone()), channel, left);
        }
        self.subscriptions.relay.changed();
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;
    use std::sync::atomic::AtomicBool;
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Relaxed);
        }
    }

    #[derive(Default)]
    struct Both(Arc<HeldClients>, Subscriptions);

    impl Both {
        fn hold(&self, kind: HoldKind, channels: &[&str]) -> Result<Held, NotHeld> {
            let channels = channels.iter().map(|name| name.as_bytes().into()).collect();
            let terms = HoldTerms { as_events: kind == HoldKind::Stream, most: 2, generation: 1 };
            self.0.hold(&self.1, &HoldRequest { kind, channels }, terms)
        }

        fn publish(&self, channel: &[u8], message: &[u8]) {
            let encoded = BroadcastMessage { channel, message }.encode().expect("within the limits");
            lock(&self.1.register).publish(&encoded).expect("a message");
        }
    }

    fn next(held: &Held) -> Poll<Result<Bytes, HeldEnd>> {
        held.poll(&Context::from_waker(Waker::noop()))
    }

    /// Names come from clients: without a seed, they could be chosen so that all have one hash.
    #[test]
    fn the_hashes_of_names_differ_from_map_to_map() {
        let [first, second] = [(); 2].map(|()| lock(&HeldClients::default().state).by_name.hasher().hash_one("a"));
        assert_ne!(first, second);
    }

    #[test]
    fn a_client_gets_the_messages_of_its_channels_in_its_form_until_it_leaves() {
        let clients = Both::default();
        let events = clients.hold(HoldKind::Stream, &["a", "b"]).expect("a place");
        let plain = clients.hold(HoldKind::Raw, &["b"]).expect("a place");
        assert_eq!(clients.hold(HoldKind::Response, &["a"]).err(), Some(NotHeld::Full), "two are allowed");
        for (channel, message) in [(b"a", b"one"), (b"b", b"two"), (b"c", b"---")] {
            clients.publish(channel, message);
        }
        assert_eq!(next(&events), Poll::Ready(Ok(Bytes::from_static(b"data: one\n\n"))));
        assert_eq!(next(&events), Poll::Ready(Ok(Bytes::from_static(b"data: two\n\n"))));
        assert_eq!(next(&events), Poll::Pending);
        assert_eq!(next(&plain), Poll::Ready(Ok(Bytes::from_static(b"two"))));
        assert_eq!((lock(&clients.1.register).presence(b"b"), clients.0.counts()), (2, [2, 0, 0]));
        drop((events, plain));
        assert_eq!((lock(&clients.1.register).presence(b"b"), clients.0.counts()), (0, [0, 0, 0]));
        assert!(lock(&clients.0.state).by_name.is_empty());
    }

    #[test]
    fn a_slow_client_ends_and_its_messages_are_freed() {
        let clients = Both::default();
        let slow = clients.hold(HoldKind::Raw, &["a"]).expect("a place");
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(woken.clone());
        let cx = Context::from_waker(&waker);
        clients.publish(b"a", b"begins a write");
        assert!(slow.poll(&cx).is_ready());
        for _ in 0..100 {
            assert!(!slow.is_slow(&cx) || woken.0.load(Relaxed), "a task that writes learns of the end");
            clients.publish(b"a", &[0; 10_000]);
        }
        assert!(slow.is_slow(&cx) && woken.0.load(Relaxed));
        assert_eq!(next(&slow), Poll::Ready(Err(HeldEnd::Slow)));
        assert_eq!(clients.0.counts(), [1, 0, 1]);
    }

    #[test]
    fn a_long_poll_has_the_first_of_many_messages() {
        let clients = Both::default();
        let poll = clients.hold(HoldKind::Response, &["a"]).expect("a place");
        let message = |number: u8| vec![number; 60_000];
        (1..=5).for_each(|number| clients.publish(b"a", &message(number)));
        assert_eq!(next(&poll), Poll::Ready(Ok(message(1).into())));
        assert_eq!((next(&poll), clients.0.counts()), (Poll::Pending, [0, 1, 0]));
    }

    #[test]
    fn at_a_stop_messages_that_wait_are_sent_and_nothing_more_is_held() {
        let clients = Both::default();
        let last = clients.hold(HoldKind::Response, &["a"]).expect("a place");
        clients.publish(b"a", b"last");
        clients.0.end();
        assert_eq!(next(&last), Poll::Ready(Ok(Bytes::from_static(b"last"))));
        assert_eq!(next(&last), Poll::Ready(Err(HeldEnd::Stopped)));
        assert_eq!(clients.hold(HoldKind::Raw, &["a"]).err(), Some(NotHeld::Stopping));
    }

    #[test]
    fn responses_of_earlier_generations_end_in_parts() {
        let clients = Both::default();
        let held = [(); 2].map(|()| clients.hold(HoldKind::Raw, &["a"]).expect("a place"));
        let ended = || held.iter().filter(|held| next(held).is_ready()).count();
        clients.0.end_earlier(1, 0, 1);
        assert_eq!(ended(), 0, "the generation serves");
        clients.0.end_earlier(2, 0, 2);
        assert_eq!(ended(), 1);
        clients.0.end_earlier(2, 1, 2);
        assert_eq!(ended(), 2);
        assert_eq!(next(&held[0]), Poll::Ready(Err(HeldEnd::Stopped)));
        drop(held);
        assert!(clients.hold(HoldKind::Raw, &["a"]).is_ok(), "others are held");
    }
}
