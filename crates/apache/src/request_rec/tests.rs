use std::cell::RefCell;
use std::io::{self, IoSlice};

use wire::frame::Request;
use wire::transport::Presence;

use super::*;

/// Keeps every packet that was sent.
#[derive(Clone, Default)]
pub struct Kept(pub Rc<RefCell<Vec<Vec<u8>>>>);

impl Client for Kept {
    fn send(&mut self, packet: &[IoSlice<'_>]) -> io::Result<()> {
        self.0.borrow_mut().push(packet.iter().flat_map(|part| part.to_vec()).collect());
        Ok(())
    }

    fn presence(&mut self) -> Presence {
        Presence::Here
    }
}

pub fn frame(path: &str, headers: &[(&[u8], &[u8])], script_length: Option<u32>) -> Frame {
    let target = format!("{path}?q=1");
    let filename = format!("/www{path}");
    let mut request =
        Request { id: 1, server_port: 8080, remote_port: 4000, script_length, headers, ..Default::default() };
    let fields = [
        (Field::Method, "GET"),
        (Field::Target, &target),
        (Field::Protocol, "HTTP/1.1"),
        (Field::Path, path),
        (Field::Query, "q=1"),
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

pub fn record(place: Place, path: &str, headers: &[(&[u8], &[u8])], script_length: Option<u32>) -> RequestRec {
    let incoming = Incoming {
        frame: frame(path, headers, script_length),
        place: Rc::new(place),
        client: Box::new(Kept::default()),
    };
    RequestRec::new(1, incoming, Tables::default(), Output::default())
}
