//! The environment of programs, for any request: no header poses as another one or as a variable of the server,
//! and no frame, even a damaged one, stops the worker.
#![no_main]

use std::collections::HashSet;
use std::io;
use std::rc::Rc;

use apache::{ResponseReceiver, Incoming, PlaceConfig};
use libfuzzer_sys::fuzz_target;
use wire::frame::{Field, Flags, Frame, Request};
use wire::reply::Outgoing;
use wire::transport::Presence;

const FIELDS: [Field; 9] = [
    Field::Method,
    Field::Target,
    Field::Path,
    Field::Query,
    Field::RemoteAddr,
    Field::ServerName,
    Field::RemoteHost,
    Field::User,
    Field::AuthType,
];

struct Nobody;

impl ResponseReceiver for Nobody {
    fn send(&mut self, _: &Outgoing<'_>) -> io::Result<()> {
        Ok(())
    }

    fn presence(&mut self) -> Presence {
        Presence::Here
    }
}

fuzz_target!(|bytes: &[u8]| {
    slope::watch(bytes, |bytes| drop((of_program(parsed(&request(bytes).0)), of_psgi(parsed(&request(bytes).0)))));
    // A damaged frame must not stop the worker.
    if let Ok(frame) = Frame::parse(bytes.to_vec()) {
        drop((of_program(frame), Frame::parse(bytes.to_vec()).map(of_psgi)));
        return;
    }
    let (made, path) = request(bytes);
    let (program, psgi) = (of_program(parsed(&made)), of_psgi(parsed(&made)));
    for environment in [&program, &psgi] {
        let found = |key: &[u8]| environment.iter().rfind(|(name, _)| name == key).map(|(_, value)| &value[..]);
        let from_headers: Vec<_> = environment.iter().map(|(key, _)| key).filter(|key| key.starts_with(b"HTTP_")).collect();
        assert_eq!(from_headers.len(), from_headers.iter().collect::<HashSet<_>>().len(), "a header passed for another");
        assert_eq!(found(b"HTTP_PROXY"), None);
        assert_eq!(found(b"SERVER_PORT"), Some(&b"80"[..]));
        assert!(found(b"CONTENT_LENGTH").is_none_or(|length| length == b"0"));
        assert!(found(b"CONTENT_LENGTH").is_none() || parsed(&made).header(b"content-length").is_some());
    }
    assert!(program.iter().all(|(key, _)| key != b"HTTP_AUTHORIZATION"));
    let of = |wanted: &[u8]| program.iter().rfind(|(key, _)| key == wanted).map_or(Vec::new(), |(_, value)| value.clone());
    // Programs see repeated slashes, which the front's path lacks.
    assert_eq!(merged([of(b"SCRIPT_NAME"), of(b"PATH_INFO")].concat()), merged(path));
});

fn merged(mut path: Vec<u8>) -> Vec<u8> {
    path.dedup_by(|next, before| *next == b'/' && *before == b'/');
    path
}

type Environment = Vec<(Vec<u8>, Vec<u8>)>;

fn of_program(frame: Frame) -> Environment {
    collected(frame, || apache::cgi_env().into_iter().collect())
}

fn of_psgi(frame: Frame) -> Environment {
    collected(frame, || {
        let mut pairs = Vec::new();
        apache::psgi_env(&mut |key: &[u8], value: &[u8]| pairs.push((key.to_vec(), value.to_vec())));
        pairs
    })
}

fn collected(frame: Frame, environment: fn() -> Environment) -> Environment {
    let place = PlaceConfig { location: "/app".into(), ..PlaceConfig::default() };
    apache::begin(Incoming { frame, place: Rc::new(place), client: Box::new(Nobody) });
    let pairs = environment();
    apache::end();
    pairs
}

fn parsed(bytes: &[u8]) -> Frame {
    Frame::parse(bytes.to_vec()).expect("our own")
}

/// Makes a frame as the front does, from the input's lines: fields first, then headers, whose names are
/// lower-case tokens, as checked by hyper. Also returns its path.
fn request(bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let mut request = Request { id: 1, server_port: 80, ..Request::default() };
    for (field, line) in FIELDS.iter().zip(&mut lines) {
        request.fields[*field as usize] = line;
    }
    let token = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(byte);
    let headers: Vec<(&[u8], &[u8])> = lines
        .filter_map(|line| line.split_at_checked(line.iter().position(|byte| *byte == b':')?))
        .filter(|(name, _)| !name.is_empty() && name.iter().all(token))
        .map(|(name, value)| (name, &value[1..]))
        .collect();
    request.headers = &headers;
    request.flags = Flags(0);
    let path = request.fields[Field::Path as usize].to_vec();
    let mut frame = Vec::new();
    request.encode(&mut frame);
    (frame, path)
}
