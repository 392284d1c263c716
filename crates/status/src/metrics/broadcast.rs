//! Metrics of messages between workers and between servers (`Cameleer::Broadcast`), and of stores that servers share.

use wire::control::{BroadcastTransportStatus, FrontStatus, SharedStoreStatus};

use super::{Families, bare};

impl Families {
    pub(super) fn broadcasts(&mut self, front: &FrontStatus) {
        let broadcast = &front.broadcast;
        let help = "Messages that programs have published (Cameleer::Broadcast).";
        self.counter("cameleer_broadcast_messages", help, &bare(broadcast.published));
        let help = "Published messages for workers with subscribers, counted for each worker.";
        self.counter("cameleer_broadcast_sent", help, &bare(broadcast.sent));
        let help = "Published messages that were dropped because a worker did not read, counted for each worker.";
        self.counter("cameleer_broadcast_dropped", help, &bare(broadcast.dropped));
        self.gauge("cameleer_broadcast_channels", "Channels with subscriptions.", &bare(broadcast.channels as f64));
        let help = "Subscriptions to channels.";
        self.gauge("cameleer_broadcast_subscriptions", help, &bare(broadcast.subscriptions as f64));
        let held = broadcast.held_by_kind().map(|(kind, count)| (format!("kind=\"{kind}\""), count as f64));
        self.gauge("cameleer_held", "Responses that programs have left with the front, by kind.", &held);
        self.counter("cameleer_held_slow", "Held responses whose clients were too slow.", &bare(broadcast.held_slow));
        if let Some(transport) = &front.broadcast_transport {
            self.broadcast_transport(transport);
        }
        self.stores(&front.stores);
    }

    fn broadcast_transport(&mut self, transport: &BroadcastTransportStatus) {
        let BroadcastTransportStatus { sent, received, dropped, unusable, reconnects, .. } = transport;
        let help = "Whether the store of BroadcastTransport is connected: 1, otherwise 0.";
        let connected = f64::from(u8::from(transport.connected));
        self.gauge("cameleer_broadcast_transport_connected", help, &bare(connected));
        let help = "Other servers that have reported to the store within 30 s.";
        self.gauge("cameleer_broadcast_transport_nodes", help, &bare(transport.nodes as f64));
        let help = "Messages for other servers that wait for the store, in bytes.";
        self.gauge("cameleer_broadcast_transport_waiting_bytes", help, &bare(transport.waiting_bytes as f64));
        let help = "Messages that the store has accepted for other servers.";
        self.counter("cameleer_broadcast_transport_sent", help, &bare(*sent));
        let help = "Messages of other servers.";
        self.counter("cameleer_broadcast_transport_received", help, &bare(*received));
        let help = "Messages that other servers did not get because the store was away or too slow.";
        self.counter("cameleer_broadcast_transport_dropped", help, &bare(*dropped));
        let help = "Messages from the store that were malformed or of another version.";
        self.counter("cameleer_broadcast_transport_unusable", help, &bare(*unusable));
        let help = "Connections to the store after the first.";
        self.counter("cameleer_broadcast_transport_reconnects", help, &bare(*reconnects));
    }

    /// `LimitStore` and `CacheStore`.
    fn stores(&mut self, stores: &[SharedStoreStatus]) {
        let of = |number: fn(&SharedStoreStatus) -> u64| -> Vec<(String, u64)> {
            stores.iter().map(|store| (format!("directive=\"{}\"", store.directive), number(store))).collect()
        };
        if stores.is_empty() {
            return;
        }
        let connected: Vec<(String, f64)> =
            of(|store| u64::from(store.connected)).into_iter().map(|(label, is)| (label, is as f64)).collect();
        self.gauge("cameleer_store_connected", "Whether the store answers in time: 1, otherwise 0.", &connected);
        let help = "Requests for which the store has answered within StoreTimeout.";
        self.counter("cameleer_store_answered", help, &of(|store| store.answered));
        let help = "Requests that have waited for the store for all of StoreTimeout.";
        self.counter("cameleer_store_late", help, &of(|store| store.late));
        let help = "Requests that were decided without the store, because it was away or too slow.";
        self.counter("cameleer_store_alone", help, &of(|store| store.alone));
        let help = "Connections to the store after the first of a thread.";
        self.counter("cameleer_store_reconnects", help, &of(|store| store.reconnects));
    }
}
