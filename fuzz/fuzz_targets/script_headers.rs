//! Output of scripts: one complete response in the order of messages, whose headers cannot break out of their
//! lines, and whose body is the end of the output. The division into pieces does not matter.
#![no_main]

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use apache::{ResponseReceiver, Incoming, HandlerOutcome, PlaceConfig};
use libfuzzer_sys::fuzz_target;
use wire::frame::{Frame, Request};
use wire::reply::{Head, MAX_PAYLOAD, Outgoing, PacketMessages, Reply};
use wire::transport::Presence;

#[derive(Clone, Default)]
struct Kept(Rc<RefCell<Vec<u8>>>);

impl ResponseReceiver for Kept {
    fn send(&mut self, message: &Outgoing<'_>) -> io::Result<()> {
        let mut kept = self.0.borrow_mut();
        kept.extend_from_slice(message.before);
        message.body.chunks(MAX_PAYLOAD).for_each(|piece| Reply::Body(piece).put(message.id, &mut kept));
        kept.extend_from_slice(message.after);
        Ok(())
    }

    fn presence(&mut self) -> Presence {
        Presence::Here
    }
}

#[derive(Debug, PartialEq)]
enum Response {
    Error(u16),
    Elsewhere(Vec<u8>, Head),
    Page(Head, Vec<u8>),
}

fuzz_target!(|asked: (u8, &[u8])| {
    let (size, printed) = asked;
    slope::watch(printed, |printed| drop(answered(printed, 8192)));
    let whole = answered(printed, printed.len());
    assert_eq!(answered(printed, usize::from(size)), whole);
    match whole {
        Response::Error(status) => assert_eq!(status, 500),
        Response::Elsewhere(path, head) => {
            assert!(path.starts_with(b"/") && !path.starts_with(b"//"));
            assert!(stays_in_its_lines(&head));
        }
        Response::Page(head, body) => {
            assert!((100..600).contains(&head.status));
            assert!(printed.ends_with(&body));
            assert!(stays_in_its_lines(&head));
        }
    }
});

fn stays_in_its_lines(head: &Head) -> bool {
    let breaks = |byte: &u8| matches!(byte, b'\r' | b'\n' | 0);
    head.headers.iter().all(|(name, value)| name.iter().all(u8::is_ascii_graphic) && !value.iter().any(breaks))
}

/// The messages that the worker sends for a script with this output.
fn answered(printed: &[u8], size: usize) -> Response {
    let kept = Kept::default();
    let place = PlaceConfig { send_header: true, ..PlaceConfig::default() };
    let request = apache::begin(Incoming { frame: frame(), place: Rc::new(place), client: Box::new(kept.clone()) });
    printed.chunks(size.max(1)).for_each(apache::output);
    let outcome = apache::outcome(request, 0);
    if outcome == HandlerOutcome::Answered {
        apache::finish();
    }
    apache::end();
    match outcome {
        HandlerOutcome::Error(status) => Response::Error(status),
        HandlerOutcome::File(file) => panic!("no file was asked for: {file:?}"),
        HandlerOutcome::Answered => read(&kept.0.borrow()),
    }
}

fn frame() -> Frame {
    let mut bytes = Vec::new();
    Request { id: 1, ..Request::default() }.encode(&mut bytes);
    Frame::parse(bytes).expect("our own")
}

fn read(sent: &[u8]) -> Response {
    let replies: Vec<Reply<'_>> = PacketMessages::new(sent).map(|message| message.expect("our own").1).collect();
    match &replies[..] {
        [Reply::Elsewhere(path), Reply::End(_)] => Response::Elsewhere(path.to_vec(), Head::default()),
        [Reply::Head(head), Reply::Elsewhere(path), Reply::End(_)] => Response::Elsewhere(path.to_vec(), head.clone()),
        [Reply::Head(head), bodies @ .., Reply::End(_)] => {
            let pieces = bodies.iter().map(|reply| if let Reply::Body(piece) = reply { *piece } else { panic!("{reply:?}") });
            Response::Page(head.clone(), pieces.collect::<Vec<_>>().concat())
        }
        other => panic!("{other:?}"),
    }
}
