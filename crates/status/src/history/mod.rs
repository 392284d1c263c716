//! The server's history: one record per second, in a file of fixed size. `cameleer history` and the dashboard read it.

// The record of one second, 80 bytes.
mod second;

// The file: a ring buffer of records.
mod ring;

// Makes a record from two consecutive statuses.
mod recorder;

// Aggregates seconds into one point of a chart or one row of a table.
mod point;

pub use point::{HistoryPoint, points};
pub use recorder::Recorder;
pub use ring::{Damage, HistoryRing, SECONDS_IN_MEMORY, WEEK};
pub use second::Second;
