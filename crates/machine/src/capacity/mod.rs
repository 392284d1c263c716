//! Number of workers for which a machine has processor time: CPU time relative to the time that requests occupy
//! workers.
//!
//! `reading` reads the kernel's counters, `law` calculates. `cameleer tune` uses both, for a shadow server or processes
//! of another server.

mod law;
mod reading;

pub use law::{TimeShare, WorkKind};
pub use reading::{CpuTimes, cores};
