//! Reloads: the one under way, and the clients that wait for its result. A state machine without I/O and without a
//! clock.
//!
//! A reload is all or nothing: the new generation answers before the old one leaves, or nothing has changed.
//!
//! ```text
//!   asked ─▶ ask workers (PerlPreload auto) ─▶ read ─▶ bind, open ─▶ Loading ─▶ Starting ─▶ workers ready: Serving, the old one drains
//!                                                │         │            │           │
//!                                                └─────────┴────────────┴───────────┴─▶ undone; the old generation continues
//! ```

use super::sockets::control_socket::ControlClient;

/// Phase of the server when a reload is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerPhase {
    /// The first generation is starting.
    Starting,
    /// A generation serves.
    Serving,
    Stopping,
}

/// An action for the loop.
#[derive(Debug, PartialEq, Eq)]
pub enum ReloadAction {
    Begin,
    /// Refuse the client's request, for this reason.
    Refuse(ControlClient, &'static str),
    /// Send the result of the reload to the clients.
    Answer(Vec<ControlClient>),
}

/// The reload under way, and the next one: requests during a reload become a single one after it.
#[derive(Debug, Default)]
pub struct Reloads {
    is_running: bool,
    waiting: Vec<ControlClient>,
    again: Option<Vec<ControlClient>>,
}

impl Reloads {
    /// Requests a reload; `client` is `None` for a signal.
    pub fn request(&mut self, client: Option<ControlClient>, phase: ServerPhase) -> Option<ReloadAction> {
        let refuse = |why| client.map(|client| ReloadAction::Refuse(client, why));
        match phase {
            ServerPhase::Stopping => refuse("the server is stopping"),
            ServerPhase::Starting => refuse("the server is still starting"),
            ServerPhase::Serving if self.is_running => {
                self.again.get_or_insert_default().extend(client);
                None
            }
            ServerPhase::Serving => {
                self.is_running = true;
                self.waiting.extend(client);
                Some(ReloadAction::Begin)
            }
        }
    }

    /// Ends the reload under way: its clients get the result. The next one begins unless the server is stopping.
    pub fn over(&mut self, phase: ServerPhase) -> Vec<ReloadAction> {
        let answer = ReloadAction::Answer(std::mem::take(&mut self.waiting));
        let again = self.again.take();
        self.is_running = again.is_some();
        self.waiting = again.unwrap_or_default();
        let begins = self.is_running && phase != ServerPhase::Stopping;
        std::iter::once(answer).chain(begins.then_some(ReloadAction::Begin)).collect()
    }

    /// Whether a reload is under way.
    pub fn is_running(&self) -> bool {
        self.is_running
    }
}

#[cfg(test)]
mod tests {
    use super::ReloadAction::{Answer, Begin, Refuse};
    use super::*;

    #[test]
    fn requests_during_a_reload_become_one_more() {
        let mut reloads = Reloads::default();
        assert_eq!(reloads.request(Some(1), ServerPhase::Serving), Some(Begin));
        for client in [None, Some(2), Some(3)] {
            assert_eq!(reloads.request(client, ServerPhase::Serving), None);
        }
        assert_eq!(reloads.over(ServerPhase::Serving), [Answer(vec![1]), Begin]);
        assert_eq!(reloads.request(Some(4), ServerPhase::Serving), None);
        assert_eq!(reloads.over(ServerPhase::Serving), [Answer(vec![2, 3]), Begin]);
        assert_eq!(reloads.over(ServerPhase::Serving), [Answer(vec![4])]);
        assert!(!reloads.is_running());
    }

    #[test]
    fn a_reload_by_signal_has_no_waiting_client() {
        let mut reloads = Reloads::default();
        assert_eq!(reloads.request(None, ServerPhase::Serving), Some(Begin));
        assert_eq!(reloads.over(ServerPhase::Serving), [Answer(vec![])]);
        assert_eq!(reloads.request(None, ServerPhase::Serving), Some(Begin));
    }

    #[test]
    fn a_server_that_starts_or_stops_does_not_reload() {
        let mut reloads = Reloads::default();
        assert_eq!(reloads.request(Some(1), ServerPhase::Starting), Some(Refuse(1, "the server is still starting")));
        assert_eq!(reloads.request(None, ServerPhase::Starting), None);
        assert_eq!(reloads.request(Some(1), ServerPhase::Serving), Some(Begin));
        assert_eq!(reloads.request(Some(2), ServerPhase::Serving), None);
        assert_eq!(reloads.request(Some(3), ServerPhase::Stopping), Some(Refuse(3, "the server is stopping")));
        assert_eq!(reloads.over(ServerPhase::Stopping), [Answer(vec![1])], "the next one does not begin");
        assert_eq!(reloads.over(ServerPhase::Stopping), [Answer(vec![2])]);
    }
}
