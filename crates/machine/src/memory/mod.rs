//! Memory of processes, and the number of workers that fit. All sizes are in bytes.
//!
//! Sizes are read from `/proc`. The kernel walks all pages of a process for it, so no request may wait for
//! a reading.

mod available;
mod formulas;
mod kernel_file;
mod kinds;
mod machine;
mod sizes;
mod workers;

pub use available::{Available, MemoryBound};
pub use formulas::{max_clients, real_memory_with_largest_share, real_memory_with_parent};
pub use kinds::PrivateKinds;
pub use machine::Machine;
pub use sizes::MemorySizes;
pub use workers::{Measured, growth_per_thousand, more_that_fit, one_more};
