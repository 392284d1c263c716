//! What the machine has: memory and processors, how much of them processes use, and how many workers fit.

#![forbid(unsafe_code)]

pub mod capacity;
pub mod memory;
pub mod sampler;
