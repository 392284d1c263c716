//! The backend's part in a request: as in nginx, the request ends when its client leaves while a backend answers.

use super::RequestContext;

/// The variable with which a request outlives its client, as with `proxy_ignore_client_abort` of nginx.
const IGNORES_CLIENT: &str = "proxy-ignore-client-abort";

impl RequestContext {
    /// Notes that a backend gets the request. `uploads`: the client may still be sending the body.
    pub fn begin_at_backend(&self, uploads: bool) {
        self.note_backend();
        if self.has_variable(IGNORES_CLIENT) {
            return;
        }
        self.at_backend.set(self.at_backend.get() + 1);
        if let Some(page) = self.page() {
            return page.begin_at_backend(uploads);
        }
        if self.stream.is_some() {
            // h2 reads all the time, and drops the streams of a client that leaves.
            return;
        }
        if uploads {
            self.client.begin_upload();
        }
        if self.client.has_hung_up() {
            // The reader decides again whether the client gets the response.
            self.client.wake();
        }
    }

    /// Notes that the backend sends the client no body. Whatever is sent in its place is this server's.
    pub fn end_at_backend(&self) {
        let Some(others) = self.at_backend.get().checked_sub(1) else { return };
        self.at_backend.set(others);
        if let Some(page) = self.page() {
            page.end_at_backend();
        }
    }
}
