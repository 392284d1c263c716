//! A [`FrontStatus`] on its way to the master: JSON, cut into as many packets as it needs.

use serde::{Deserialize, Serialize};

use crate::Malformed;
use crate::control::FrontStatus;

/// Bytes of a piece: as a string of a message each may need an escape, and still fits a packet.
const PIECE: usize = 48 * 1024;
/// No status is longer: 20,000 workers need a quarter of it.
const LONGEST: usize = 32 * 1024 * 1024;

/// A piece of a status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    text: String,
    last: bool,
}

impl FrontStatus {
    /// The pieces, in the order to send them.
    pub fn pieces(&self) -> Vec<Piece> {
        let text = serde_json::to_string(self).unwrap_or_default();
        let mut rest = text.as_str();
        let mut pieces = Vec::new();
        loop {
            let end = (0..=rest.len().min(PIECE)).rev().find(|end| rest.is_char_boundary(*end)).unwrap_or(0);
            let (piece, after) = rest.split_at(end);
            pieces.push(Piece { text: piece.to_owned(), last: after.is_empty() });
            rest = after;
            if rest.is_empty() {
                return pieces;
            }
        }
    }
}

/// The pieces that have come so far.
#[derive(Debug, Default)]
pub struct Pieces(String);

impl Pieces {
    /// One more; with the last one the status is whole.
    pub fn add(&mut self, piece: &Piece) -> Result<Option<FrontStatus>, Malformed> {
        self.0.push_str(&piece.text);
        if self.0.len() > LONGEST {
            self.0.clear();
            return Err(Malformed("a status without an end"));
        }
        if !piece.last {
            return Ok(None);
        }
        let text = std::mem::take(&mut self.0);
        serde_json::from_str(&text).map(Some).map_err(|_| Malformed("a status that is none"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::{Channel, pair};
    use crate::control::{FromFront, ToFront, WorkerState, WorkerStatus};

    fn status(workers: u32, request: &str) -> FrontStatus {
        let worker = |slot| WorkerStatus {
            slot,
            generation: 1,
            pid: 1,
            state: WorkerState::Busy,
            requests: 0,
            request: request.to_owned(),
            since_ms: 0,
            private_bytes: None,
        };
        FrontStatus { workers: (0..workers).map(worker).collect(), ..FrontStatus::default() }
    }

    #[test]
    fn a_status_of_any_length_arrives_over_packets() {
        let (front, master) = pair().expect("a pair");
        let (front, master) = (Channel::<FromFront, ToFront>::new(front), Channel::<ToFront, FromFront>::new(master));
        for (workers, request) in [(0, ""), (1, "GET /"), (1000, &"\"\\é\u{1}".repeat(60)), (16, &"x".repeat(100_000))]
        {
            let status = status(workers, request);
            let pieces = status.pieces();
            let sends = std::thread::scope(|scope| {
                scope.spawn(|| pieces.iter().try_for_each(|piece| front.send(&FromFront::Status(piece.clone()), &[])));
                let mut come = Pieces::default();
                loop {
                    let Some((FromFront::Status(piece), _)) = master.receive().expect("heard") else { panic!("other") };
                    if let Some(whole) = come.add(&piece).expect("in order") {
                        break whole;
                    }
                }
            });
            assert_eq!(sends.workers, status.workers);
        }
    }

    #[test]
    fn a_status_without_an_end_is_not_kept() {
        let mut come = Pieces::default();
        let piece = Piece { text: "x".repeat(1024 * 1024), last: false };
        assert!((0..40).any(|_| come.add(&piece).is_err()));
    }
}
