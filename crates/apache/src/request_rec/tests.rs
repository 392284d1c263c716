use wire::frame::Request;

use super::*;

#[path = "../../tests/support/fake_front.rs"]
mod fake_front;

pub use fake_front::FakeFront;
use fake_front::{Target, frame};

pub fn record(place: PlaceConfig, path: &str, headers: &[(&[u8], &[u8])], script_length: Option<u32>) -> RequestRec {
    let target = Target { method: "GET", path, query: "q=1", root: "/www" };
    let incoming = Incoming {
        frame: frame(&target, Request { headers, script_length, ..Default::default() }),
        place: Rc::new(place),
        client: Box::new(FakeFront::default()),
    };
    RequestRec::new(1, incoming, Tables::default(), Output::default())
}
