//! What processes have of the machine's memory, and how many workers fit into it. All sizes are bytes.
//!
//! It is read from `/proc`, rarely and by whoever wants to know: the kernel walks all pages of a process for it, so nothing here
//! belongs on the way of a request.

mod available;
mod formulas;
mod machine;
mod sizes;
mod told;
mod workers;

pub use available::{Available, Bound};
pub use formulas::{max_clients, real_memory_with_largest_share, real_memory_with_parent};
pub use machine::Machine;
pub use sizes::Sizes;
pub use workers::{Measured, growth_per_thousand, more_that_fit, one_more};
