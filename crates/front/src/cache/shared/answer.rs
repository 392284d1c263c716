//! What `fetch.lua` answers.

use std::time::Duration;

use http::header::HeaderName;

use super::PurgesSeen;
use stores::StoreReply;

pub enum FoundState {
    Nothing,
    Response,
    OtherVary,
}

/// The answer of `fetch.lua`.
pub struct StoreAnswer {
    pub state: FoundState,
    pub age: Duration,
    /// The response, or names of Vary headers.
    pub text: Vec<u8>,
    /// Whether this server has the lock.
    pub leads: bool,
    pub seen: PurgesSeen,
    /// When the response was stored.
    pub stored: Vec<u8>,
}

/// Reads the answer of `fetch.lua`.
pub fn found(reply: StoreReply) -> Option<StoreAnswer> {
    let StoreReply::List(parts) = reply else { return None };
    let [state, age, text, leads, epoch, purge, stored] = <[StoreReply; 7]>::try_from(parts).ok()?;
    let state = match state.number()? {
        0 => FoundState::Nothing,
        1 | 2 => FoundState::Response,
        3 => FoundState::OtherVary,
        _ => return None,
    };
    let age = Duration::from_micros(u64::try_from(age.number()?).ok()?);
    let seen = PurgesSeen { epoch: epoch.bytes()?, purge: purge.bytes()? };
    Some(StoreAnswer { state, age, text: text.bytes()?, leads: leads.number()? == 1, seen, stored: stored.bytes()? })
}

/// Names of headers, separated by commas.
pub fn names(text: &[u8]) -> Option<Vec<HeaderName>> {
    let parts = text.split(|byte| *byte == b',').filter(|name| !name.is_empty());
    parts.map(|name| HeaderName::from_bytes(name).ok()).collect()
}
