//! The backend's part in a request: as in nginx, the request ends when its client leaves while a backend answers.

use super::RequestContext;

impl RequestContext {
    /// Notes that a backend gets the request. `uploads`: the client may still be sending the body.
    pub fn begin_at_backend(&self, uploads: bool) {
        self.at_backend.set(true);
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

    /// Notes that the backend gave no response. Whatever is sent in its place is this server's.
    pub fn end_at_backend(&self) {
        self.at_backend.set(false);
    }
}
