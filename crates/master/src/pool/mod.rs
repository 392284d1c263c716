//! The workers of all pools as the master knows them: a register without I/O and without a clock.

pub mod worker;
pub mod workers;
