//! Clients that wait for the front: for its part of a status, or until it has purged its cache. A state machine without
//! I/O and without a clock.

use std::time::{Duration, Instant};

use super::sockets::control_socket::ControlClient;

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
pub struct FrontRequests {
    status: Vec<(ControlClient, Detail)>,
    /// Deadline after which the status is sent without the front's part.
    status_by: Option<Instant>,
    purges: Vec<ControlClient>,
}

impl FrontRequests {
    /// Adds a client that waits for the status.
    pub fn request_status(&mut self, client: ControlClient, detail: Detail, now: Instant) {
        self.status.push((client, detail));
        self.status_by.get_or_insert(now + PATIENCE);
    }

    /// Takes the clients that wait for the status, to be answered now.
    pub fn take_status(&mut self) -> Vec<(ControlClient, Detail)> {
        self.status_by = None;
        std::mem::take(&mut self.status)
    }

    /// Deadline after which the status is sent without the front's part.
    pub fn wakes(&self) -> Option<Instant> {
        self.status_by
    }

    /// Whether the status is to be sent now, without the front's part.
    pub fn is_status_due(&self, now: Instant) -> bool {
        self.status_by.is_some_and(|by| by <= now)
    }

    /// Adds a client that waits for a purge of the cache.
    pub fn request_purge(&mut self, client: ControlClient) {
        self.purges.push(client);
    }

    /// The front has answered a client's purge. Returns whether the client waits for that.
    pub fn purged(&mut self, client: ControlClient) -> bool {
        let at = self.purges.iter().position(|waiting| *waiting == client);
        at.map(|at| self.purges.swap_remove(at)).is_some()
    }

    /// The front has ended, and its cache with it. Takes the clients that wait for a purge.
    pub fn take_purges(&mut self) -> Vec<ControlClient> {
        std::mem::take(&mut self.purges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_due_once_after_the_patience_of_its_first_client() {
        let (mut requests, now) = (FrontRequests::default(), Instant::now());
        assert_eq!((requests.wakes(), requests.is_status_due(now)), (None, false));
        requests.request_status(1, Detail::Quantiles, now);
        requests.request_status(2, Detail::Counted, now + PATIENCE / 2);
        assert_eq!(requests.wakes(), Some(now + PATIENCE));
        assert!(!requests.is_status_due(now) && requests.is_status_due(now + PATIENCE));
        assert_eq!(requests.take_status(), [(1, Detail::Quantiles), (2, Detail::Counted)]);
        assert_eq!((requests.take_status(), requests.wakes()), (vec![], None));
    }

    #[test]
    fn each_purge_is_answered_once() {
        let mut requests = FrontRequests::default();
        [1, 2, 3].into_iter().for_each(|client| requests.request_purge(client));
        assert!(requests.purged(2) && !requests.purged(2) && !requests.purged(9));
        let mut left = requests.take_purges();
        left.sort_unstable();
        assert_eq!((left, requests.take_purges()), (vec![1, 3], vec![]));
    }
}
