//! The worker's services for Perl code that runs an event loop.

use std::cell::RefCell;
use std::os::fd::RawFd;
use std::rc::Rc;

/// The orders of the front that a worker has received.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventOrders {
    /// No further stream follows: the loop ends when its streams have ended.
    pub leave: bool,
    /// The descriptor must not be watched any more: the front has ended.
    pub is_over: bool,
    /// The server stops soon: WebSockets must be closed now.
    pub closes_websockets: bool,
    /// Sockets of new streams, which Perl owns.
    pub streams: Vec<RawFd>,
    /// Encoded messages for subscribers, in their order.
    pub messages: Vec<Vec<u8>>,
}

/// The packet socket of a worker, for an event loop.
pub trait EventPort {
    /// The descriptor to watch; readable when there are orders.
    fn descriptor(&self) -> RawFd;
    /// Executes the orders that have arrived, without waiting.
    fn orders(&self) -> EventOrders;
    /// Reports to the front that the worker takes streams.
    fn ready(&self);
    /// Records that the loop calls the application for a request: method, host, address of the client, and target.
    /// `is_more`: the request has begun before, as that of a WebSocket whose message has come.
    fn begins(&self, texts: [&[u8]; 4], is_more: bool);
    /// Records that the call has returned.
    fn ends(&self);
    /// Checks the limits of the worker. Called every second.
    fn tick(&self);
}

thread_local!(static PORT: RefCell<Option<Rc<dyn EventPort>>> = const { RefCell::new(None) });

/// Registers the port of this worker.
pub fn event_port_is(port: Rc<dyn EventPort>) {
    PORT.set(Some(port));
}

/// Calls the port; `None` in a process without one.
pub(crate) fn event_port<T>(act: impl FnOnce(&dyn EventPort) -> T) -> Option<T> {
    let port = PORT.with_borrow(Option::clone)?;
    Some(act(&*port))
}
