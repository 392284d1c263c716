//! What the server did, second by second, in a file of fixed size: `cameleer history` and the dashboard answer from it what happened at
//! 03:12.

// One second: what is written of it, in 80 bytes.
mod second;

// The file, a ring of seconds.
mod ring;

// What became of the counters since the last second.
mod recorder;

// Several seconds as one point of a chart, or a line of a table.
mod point;

pub use point::{Point, points};
pub use recorder::Recorder;
pub use ring::{Damage, Ring, SECONDS_IN_MEMORY, WEEK};
pub use second::Second;
