//! The machine's memory and processors, their use by processes, and how many workers fit.
//!
//! Start at [`memory`], which reads; [`sampler`] is the process that does so for the master; [`capacity`] has the
//! formulas.

#![forbid(unsafe_code)]

pub mod capacity;
pub mod memory;
pub mod sampler;
