//! The port of a worker with an event loop: `Cameleer::Event`.

use std::ffi::c_int;

use wire::broadcast::BroadcastMessage;

use super::{ApacheText, XsText};
use crate::event::event_port;

/// Receives the number of each new stream's descriptor.
type AddStream = extern "C" fn(*mut std::ffi::c_void, c_int);
/// Receives channel and text of each message.
type AddMessage = extern "C" fn(*mut std::ffi::c_void, ApacheText, ApacheText);

#[unsafe(no_mangle)]
extern "C" fn cameleer_event_descriptor() -> c_int {
    event_port(|port| port.descriptor()).unwrap_or(-1)
}

/// Returns a sum: 1 if the worker must leave, 2 if the front has ended, 4 if WebSockets must be closed now.
#[unsafe(no_mangle)]
extern "C" fn cameleer_event_orders(
    add_stream: AddStream,
    streams: *mut std::ffi::c_void,
    add_message: AddMessage,
    messages: *mut std::ffi::c_void,
) -> c_int {
    let orders = event_port(|port| port.orders()).unwrap_or_default();
    orders.streams.iter().for_each(|stream| add_stream(streams, *stream));
    let read = orders.messages.iter().filter_map(|message| BroadcastMessage::read(message).ok());
    read.for_each(|read| add_message(messages, ApacheText::of(read.channel), ApacheText::of(read.message)));
    c_int::from(orders.leave) + 2 * c_int::from(orders.is_over) + 4 * c_int::from(orders.closes_websockets)
}

#[unsafe(no_mangle)]
extern "C" fn cameleer_event_ready() {
    event_port(|port| port.ready());
}

/// Borrows the texts during the call.
#[unsafe(no_mangle)]
extern "C" fn cameleer_event_begins(
    method: XsText<'_>,
    host: XsText<'_>,
    client: XsText<'_>,
    target: XsText<'_>,
    is_more: c_int,
) {
    event_port(|port| port.begins([method, host, client, target].map(XsText::bytes), is_more != 0));
}

#[unsafe(no_mangle)]
extern "C" fn cameleer_event_ends() {
    event_port(|port| port.ends());
}

#[unsafe(no_mangle)]
extern "C" fn cameleer_event_tick() {
    event_port(|port| port.tick());
}
