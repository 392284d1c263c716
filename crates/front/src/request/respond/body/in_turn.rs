//! Runs compression on other threads, with turns shared fairly between folders and then between clients.

use crate::base::blocking;
use crate::base::fair::{Claimant, FairQueue};

static TURNS: FairQueue = FairQueue::of_processors();

/// Runs `work` on another thread at the turn of `claimant`. `None`: `work` has panicked.
pub async fn in_turn<T: Send + 'static>(claimant: Claimant, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let turn = TURNS.turn(claimant, 0).await;
    let done = blocking::compute(move || (work(), turn)).await.ok()?;
    Some(done.0)
}
