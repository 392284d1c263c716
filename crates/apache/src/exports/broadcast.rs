//! Messages between workers: `Cameleer::Broadcast`.

use std::ffi::c_void;

use super::{ApacheText, XsText};
use crate::broadcast::broadcast_port;

/// Receives the reason of a failure.
type Failed = extern "C" fn(*mut c_void, ApacheText);

const NO_SUBSCRIBER: &str = "only workers of event pools can subscribe (PsgiMode event), once they have been forked";

#[unsafe(no_mangle)]
extern "C" fn cameleer_broadcast_publish(channel: XsText<'_>, message: XsText<'_>, failed: Failed, into: *mut c_void) {
    // Before the fork nobody subscribes.
    let published = broadcast_port().map_or(Ok(()), |port| port.publish(channel.bytes(), message.bytes()));
    if let Err(reason) = published {
        failed(into, ApacheText::of(reason.as_bytes()));
    }
}

#[unsafe(no_mangle)]
extern "C" fn cameleer_broadcast_subscribed(channel: XsText<'_>, count: u32, failed: Failed, into: *mut c_void) {
    let subscribed = match broadcast_port() {
        Some(port) => port.subscribed(channel.bytes(), count),
        None => Err(NO_SUBSCRIBER.to_owned()),
    };
    if let Err(reason) = subscribed {
        failed(into, ApacheText::of(reason.as_bytes()));
    }
}

/// Returns -1 if the number is unknown.
#[unsafe(no_mangle)]
extern "C" fn cameleer_broadcast_presence(channel: XsText<'_>) -> i64 {
    let count = broadcast_port().and_then(|port| port.presence(channel.bytes()));
    count.and_then(|count| i64::try_from(count).ok()).unwrap_or(-1)
}
