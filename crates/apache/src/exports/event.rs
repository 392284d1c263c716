//! The port of a worker with an event loop: `Cameleer::Event`.

use std::ffi::c_int;

use crate::event::event_port;

/// Receives the number of each new stream's descriptor.
type AddStream = extern "C" fn(*mut std::ffi::c_void, c_int);

#[unsafe(no_mangle)]
extern "C" fn cameleer_event_descriptor() -> c_int {
    event_port(|port| port.descriptor()).unwrap_or(-1)
}

/// Returns 1 if the worker must leave.
#[unsafe(no_mangle)]
extern "C" fn cameleer_event_orders(add: AddStream, into: *mut std::ffi::c_void) -> c_int {
    let orders = event_port(|port| port.orders()).unwrap_or_default();
    orders.streams.iter().for_each(|stream| add(into, *stream));
    c_int::from(orders.leave)
}

#[unsafe(no_mangle)]
extern "C" fn cameleer_event_ready() {
    event_port(|port| port.ready());
}
