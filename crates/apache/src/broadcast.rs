//! The worker's service for messages to other workers.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

/// The way of a worker's messages to the front. Failures are texts for the program.
pub trait BroadcastPort {
    /// Sends a message to the subscribers of a channel.
    fn publish(&self, channel: &[u8], message: &[u8]) -> Result<(), String>;
    /// Sets the number of this worker's subscriptions to a channel.
    fn subscribed(&self, channel: &[u8], count: u32) -> Result<(), String>;
    /// Number of subscriptions of all workers. `None`: the front does not answer.
    fn presence(&self, channel: &[u8]) -> Option<u64>;
}

thread_local!(static PORT: RefCell<Option<Weak<dyn BroadcastPort>>> = const { RefCell::new(None) });

/// Registers the port of this worker. The worker owns it: a fork that becomes a mold has none.
pub fn broadcast_port_is(port: &Rc<impl BroadcastPort + 'static>) {
    let port: Weak<dyn BroadcastPort> = Rc::downgrade(&(port.clone() as Rc<dyn BroadcastPort>));
    PORT.set(Some(port));
}

/// The port; `None` in a process that is no worker.
pub(crate) fn broadcast_port() -> Option<Rc<dyn BroadcastPort>> {
    PORT.with_borrow(|port| port.as_ref().and_then(Weak::upgrade))
}
