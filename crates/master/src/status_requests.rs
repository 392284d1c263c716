//! Clients that wait for the status until the front has reported its part, or has not in time. Without I/O and without a clock.

use std::time::{Duration, Instant};

use super::sockets::control_socket::Client;

/// Timeout for the front's part of the status.
const PATIENCE: Duration = Duration::from_secs(1);

/// Detail of the response times in a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Percentiles only.
    Quantiles,
    /// Complete histograms.
    Counted,
}

/// Clients that wait for the status.
#[derive(Debug, Default)]
pub struct StatusRequests {
    clients: Vec<(Client, Detail)>,
    by: Option<Instant>,
}

impl StatusRequests {
    /// Adds a client that waits for the status.
    pub fn ask(&mut self, client: Client, detail: Detail, now: Instant) {
        self.clients.push((client, detail));
        self.by.get_or_insert(now + PATIENCE);
    }

    /// Takes the clients, to be answered now.
    pub fn take(&mut self) -> Vec<(Client, Detail)> {
        self.by = None;
        std::mem::take(&mut self.clients)
    }

    /// Deadline after which clients are answered without the front's part.
    pub fn wakes(&self) -> Option<Instant> {
        self.by
    }
}
