//! The master's register of the workers of all pools, without I/O and without a clock.

pub mod worker;
pub mod workers;
