//! Responses that stay open without a byte leave hyper: its buffers would be most of such a connection's memory.
//!
//! ```text
//!   hyper ── head, output of the program ──▶ client     Parking: the body waits, and all bytes are written
//!   held  ── a chunk for each message ─────▶ client     hyper and its buffers are freed
//! ```

use std::cell::Cell;

/// A body that may wait for long.
pub trait MayWait {
    /// Whether the body now waits for something that may never come.
    fn waits(&self) -> bool;
}

/// The way of a body out of hyper.
pub struct Parking<B> {
    stage: Cell<Stage>,
    body: Cell<Option<B>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    /// The body waits for messages; hyper may still hold bytes.
    Offered,
    /// The body leaves at its next poll.
    Wanted,
}

impl<B> Default for Parking<B> {
    fn default() -> Self {
        Parking { stage: Cell::new(Stage::Running), body: Cell::new(None) }
    }
}

impl<B> Parking<B> {
    /// Notes that the body has had a piece.
    pub fn goes_on(&self) {
        self.stage.set(Stage::Running);
    }

    /// Offers a body that waits, or takes it if it is wanted.
    pub fn offer(&self, body: &mut Option<B>) {
        match self.stage.get() {
            Stage::Wanted => self.body.set(body.take()),
            Stage::Running | Stage::Offered => self.stage.set(Stage::Offered),
        }
    }

    /// Whether a body waits.
    pub fn is_offered(&self) -> bool {
        self.stage.get() == Stage::Offered
    }

    /// Lets the body leave hyper at its next poll.
    pub fn want(&self) {
        self.stage.set(Stage::Wanted);
    }

    /// The body that has left hyper.
    pub fn take(&self) -> Option<B> {
        self.body.take()
    }
}
