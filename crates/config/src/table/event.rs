//! Pools whose workers run an event loop.

use crate::draft::Draft;
use crate::model::server::PsgiMode;
use crate::table::row::{ANYWHERE, Effect, POOLS, Row, duration, number, rows, word};

pub(super) static ROWS: &[Row] = rows![
    "cameleer.c",
    word("PsgiMode", POOLS, "blocking|event", mode).effect(Effect::Generation).default(
        "blocking",
        "most programs wait for their database, and then a worker with many requests stops them all"
    ),
    "How the workers of a pool run their applications: one request at a time, or in an event loop with many requests at \
     a time, for WebSocket, long polling and server-sent events. In an event pool StartServers is the fixed number of \
     workers, and the pool has one application.",
    number("EventConnections", POOLS, 1..=100_000, |d, n| d.pool().event_connections = n as u32)
        .default("1000", "hypnotoad's; each connection needs a descriptor in the front and one in the worker"),
    "Maximum number of requests and open WebSockets of one worker of an event pool. Further requests wait, as those for \
     busy workers do: QueueLength, QueueTimeout.",
    duration("EventIdleTimeout", ANYWHERE, |d, time| d.settings().event_idle_timeout = Some(time))
        .default("0", "programs have their own limits, and a quiet WebSocket costs nothing but its descriptors"),
    "Maximum time without a byte of a response that has begun, and of a WebSocket in either direction, in an event \
     pool; 0 is unlimited. Until a response begins, RequestTimeout is the limit.",
];

fn mode(draft: &mut Draft, word: &str) -> Result<(), String> {
    draft.pool().mode = match word.to_ascii_lowercase().as_str() {
        "blocking" => PsgiMode::Blocking,
        "event" => PsgiMode::Event,
        _ => return Err(format!("expected blocking or event, got \"{word}\"")),
    };
    Ok(())
}
