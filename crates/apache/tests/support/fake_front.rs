//! A front for tests: makes the frame of a request, and stores the packets that the worker sends. The unit
//! tests of `request_rec` and `response` share it with `tests/embedded.rs`.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use wire::frame::{Field, Frame, Request};
use wire::reply::{MAX_PACKET, MAX_PAYLOAD, Outgoing, Reply};
use wire::transport::Presence;

use super::ResponseReceiver;

/// Stores each send as a packet.
#[derive(Clone, Default)]
pub struct FakeFront(pub Rc<RefCell<Vec<Vec<u8>>>>);

impl ResponseReceiver for FakeFront {
    fn send(&mut self, outgoing: &Outgoing<'_>) -> io::Result<()> {
        let mut packet = outgoing.before.to_vec();
        outgoing.body.chunks(MAX_PAYLOAD).for_each(|piece| Reply::Body(piece).put(outgoing.id, &mut packet));
        packet.extend_from_slice(outgoing.after);
        assert!(packet.len() <= MAX_PACKET + outgoing.body.len());
        self.0.borrow_mut().push(packet);
        Ok(())
    }

    fn presence(&mut self) -> Presence {
        Presence::Here
    }
}

/// The target of a client's request.
pub struct Target<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub query: &'a str,
    /// The folder in which `path` is a file.
    pub root: &'a str,
}

/// The frame of a client's request to example.org; `more` has its headers, its body and other numbers.
pub fn frame(target: &Target<'_>, more: Request<'_>) -> Frame {
    let Target { method, path, query, root } = target;
    let uri = if query.is_empty() { path.to_string() } else { format!("{path}?{query}") };
    let filename = format!("{root}{path}");
    let mut request = Request { id: 1, server_port: 8080, remote_port: 4000, ..more };
    let fields = [
        (Field::Method, *method),
        (Field::Target, &uri),
        (Field::Protocol, "HTTP/1.1"),
        (Field::Path, path),
        (Field::Query, query),
        (Field::RemoteAddr, "192.0.2.1"),
        (Field::LocalAddr, "192.0.2.2"),
        (Field::ServerName, "example.org"),
        (Field::Filename, &filename),
    ];
    for (field, value) in fields {
        request.fields[field as usize] = value.as_bytes();
    }
    let mut bytes = Vec::new();
    request.encode(&mut bytes);
    Frame::parse(bytes).expect("well formed")
}
