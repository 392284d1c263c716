//! The machine's memory and processors, their use by processes, and how many workers fit.

#![forbid(unsafe_code)]

pub mod capacity;
pub mod memory;
pub mod sampler;
