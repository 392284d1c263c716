//! Interim responses (100, 103) of one stream, until its task sends them.

use std::cell::RefCell;

use bytes::Bytes;
use h2::server::SendResponse;
use http::{Response, StatusCode};
use wire::reply::Head;

use crate::request::respond::from_worker;

#[derive(Default)]
pub struct Interim(RefCell<Vec<Response<()>>>);

impl Interim {
    /// What a program says before its answer; what HTTP does not allow is not sent.
    pub fn send(&self, head: &Head) {
        self.0.borrow_mut().extend(from_worker::interim_of_stream(head));
    }

    /// Has `100 Continue` sent: the client waits for it before it sends its body.
    pub fn go_on(&self) {
        let mut response = Response::new(());
        *response.status_mut() = StatusCode::CONTINUE;
        self.0.borrow_mut().push(response);
    }

    /// Sends what there is.
    pub fn flush(&self, respond: &mut SendResponse<Bytes>) {
        for response in self.0.borrow_mut().drain(..) {
            // It fails for a stream that was reset, which the stream's task sees by itself.
            let _ = respond.send_informational(response);
        }
    }
}
