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
    /// Queues an interim response of a program, if HTTP allows it.
    pub fn send(&self, head: &Head) {
        self.0.borrow_mut().extend(from_worker::interim_of_stream(head));
    }

    /// Queues `100 Continue`, for which the client waits before it sends its body.
    pub fn go_on(&self) {
        let mut response = Response::new(());
        *response.status_mut() = StatusCode::CONTINUE;
        self.0.borrow_mut().push(response);
    }

    pub fn flush(&self, respond: &mut SendResponse<Bytes>) {
        for response in self.0.borrow_mut().drain(..) {
            // Fails for a stream that was reset, which the stream's task detects itself.
            let _ = respond.send_informational(response);
        }
    }
}
