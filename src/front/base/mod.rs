//! What every part of the front may use, and what uses no part of it.

pub mod blocking;
pub mod failure;
pub mod refusal;
