//! How many workers a machine has work for: processor time against the time that requests hold their workers.
//!
//! `reading` asks the kernel, `law` calculates. Who asks is `cameleer tune`, about a shadow or about processes of a foreign
//! server.

mod law;
mod reading;

pub use law::{Kind, Share};
pub use reading::{CpuTimes, cores};
