//! A client that leaves while its request is answered, over HTTP/1.
//!
//! Workers are notified, and may send a response to a client that has closed only its sending side. A request that a
//! backend answers ends.

use std::rc::{Rc, Weak};

use super::{Client, Pending};

impl Client {
    /// Handles a client that closed its sending side before the response. Returns whether it still gets the response.
    pub fn handle_hang_up(&self) -> bool {
        self.hung_up.set(true);
        self.awaited().is_none_or(|request| request.hang_up())
    }

    /// Whether the client has closed its sending side while it waited for a response.
    pub fn has_hung_up(&self) -> bool {
        self.hung_up.get()
    }

    /// Whether a backend answers the last request.
    pub fn awaits_backend(&self) -> bool {
        self.awaited().is_some_and(|request| request.is_at_backend())
    }

    fn awaited(&self) -> Option<Rc<dyn Pending>> {
        self.awaited.borrow().as_ref().and_then(Weak::upgrade)
    }

    /// Notes that a backend gets the body of the HTTP/1 request as fast as the backend takes it.
    pub fn begin_upload(&self) {
        if !self.uploading.replace(true) {
            self.wake();
        }
    }

    /// Whether a backend sets the pace at which the connection is read. A client that leaves meanwhile shows only at
    /// the socket.
    pub fn is_uploading(&self) -> bool {
        self.uploading.get()
    }
}
