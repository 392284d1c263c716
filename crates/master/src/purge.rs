//! `cameleer purge`: the front forgets answers that it keeps, and says how many.

use wire::control::ToFront;

use super::Master;
use super::sockets::control_socket::{Client, ControlReply};

impl Master {
    /// Passes it on.
    pub(super) fn ask_purge(&mut self, client: Client, url: String) {
        self.purges.push(client);
        match self.front {
            Some(_) => self.tell_front(ToFront::Purge { client, url }, vec![]),
            None => self.end_purges(),
        }
    }

    /// The front has done it, or cannot.
    pub(super) fn purged(&mut self, client: Client, outcome: Result<u64, String>) {
        let Some(at) = self.purges.iter().position(|waiting| *waiting == client) else { return };
        self.purges.swap_remove(at);
        let answer = match outcome {
            Ok(answers) => ControlReply { purged: Some(answers), ..ControlReply::ok() },
            Err(error) => ControlReply::failed(error),
        };
        self.tell(Some(client), &answer);
    }

    /// There is no front: the next one begins with an empty cache.
    pub(super) fn end_purges(&mut self) {
        for client in std::mem::take(&mut self.purges) {
            self.tell(Some(client), &ControlReply { purged: Some(0), ..ControlReply::ok() });
        }
    }
}
