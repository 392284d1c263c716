//! A request's body, received whole before a worker is taken: a slow client never holds one.

pub mod inflate;
pub mod source;

use std::fs::File;
use std::io::{Seek, Write};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::StatusCode;
use http_body::Body as _;
use http_body_util::BodyExt;
use tokio::time::timeout_at;

use crate::base::refusal::Refusal;
use crate::workers::spool;
use base::log;
use config::{Pace, Spooling};
use files::open::is_shortage;
use source::Source;

/// Longer bodies go to a file without a name.
pub const IN_MEMORY: usize = 64 * 1024;

/// A whole body.
#[derive(Debug)]
pub enum Body {
    /// It travels in the frame.
    Memory(Bytes),
    /// It travels as a descriptor, positioned at its start.
    File(File, u64),
}

impl Body {
    /// How long it is.
    pub fn len(&self) -> u64 {
        match self {
            Body::Memory(bytes) => bytes.len() as u64,
            Body::File(_, length) => *length,
        }
    }
}

/// How long a body is waited for.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// `Timeout`: for its next piece.
    pub piece: Duration,
    /// `RequestReadTimeout body=`: for all of it.
    pub whole: Pace,
}

impl Patience {
    fn deadline(&self, begun: Instant, received: u64) -> Instant {
        let piece = Instant::now() + self.piece;
        self.whole.deadline(begun, received).map_or(piece, |whole| whole.min(piece))
    }
}

/// Receives all of `incoming`, at most `limit` bytes, as long as `patience` lasts, and keeps it as `rules` say.
pub async fn receive(mut incoming: Source, limit: u64, patience: Patience, rules: &Spooling) -> Result<Body, Refusal> {
    if incoming.is_end_stream() {
        return Ok(Body::Memory(Bytes::new()));
    }
    // Refused before the first byte is read, so that a client that asked (100-continue) does not send it.
    if incoming.size_hint().lower() > limit {
        return Err(Refusal::closing(StatusCode::PAYLOAD_TOO_LARGE));
    }
    let (mut store, begun) = (Store::default(), Instant::now());
    loop {
        let by = patience.deadline(begun, store.length()).into();
        let Some(frame) = timeout_at(by, incoming.frame()).await.map_err(|_| late())? else { break };
        let Ok(piece) = frame.map_err(|_| broken())?.into_data() else { continue };
        if store.length() + piece.len() as u64 > limit {
            return Err(Refusal::closing(StatusCode::PAYLOAD_TOO_LARGE));
        }
        store.add(&piece, rules).map_err(|error| full(error, rules))?;
    }
    store.close().map_err(|error| full(error, rules))
}

fn late() -> Refusal {
    Refusal::closing(StatusCode::REQUEST_TIMEOUT)
}

fn broken() -> Refusal {
    Refusal::closing(StatusCode::BAD_REQUEST)
}

/// The disk has no room for the body.
pub fn full(error: std::io::Error, rules: &Spooling) -> Refusal {
    let folder = spool::folder(rules);
    log::error("front", format_args!("cannot store a request's body in {}: {error}", folder.display()));
    match is_shortage(&error) {
        true => Refusal { close: true, ..Refusal::busy() },
        false => Refusal::closing(StatusCode::INSUFFICIENT_STORAGE),
    }
}

/// What has come so far.
#[derive(Default)]
pub struct Store {
    memory: Vec<u8>,
    file: Option<(File, u64)>,
}

impl Store {
    /// How long it is.
    pub fn length(&self) -> u64 {
        self.file.as_ref().map_or(self.memory.len() as u64, |(_, length)| *length)
    }

    /// Keeps `piece` behind the others.
    pub fn add(&mut self, piece: &[u8], rules: &Spooling) -> std::io::Result<()> {
        if let Some((file, length)) = &mut self.file {
            file.write_all(piece)?;
            *length += piece.len() as u64;
            return Ok(());
        }
        self.memory.extend_from_slice(piece);
        if self.memory.len() > IN_MEMORY {
            let mut file = spool::file(rules)?;
            file.write_all(&self.memory)?;
            self.file = Some((file, self.memory.len() as u64));
            self.memory = Vec::new();
        }
        Ok(())
    }

    /// The body is whole.
    pub fn close(self) -> std::io::Result<Body> {
        match self.file {
            None => Ok(Body::Memory(self.memory.into())),
            Some((mut file, length)) => {
                file.rewind()?;
                Ok(Body::File(file, length))
            }
        }
    }
}
