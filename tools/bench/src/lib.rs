//! The load tester: asks any HTTP server, and says how long that took.
//!
//! A `Plan` says what is asked and when; `run` has so many users ask it, on one thread or several, and tallies what came of it. What is printed
//! is `report`'s; the command line is `cli::bench`'s.

#![forbid(unsafe_code)]

mod alarm;
mod answer;
mod connect;
mod failure;
mod http1;
mod http2;
mod interrupt;
pub mod plan;
mod random;
pub mod report;
mod request;
mod run;
mod schedule;
mod tally;
mod target;
mod threads;
mod timeout;
mod times;
mod tls;
mod user;
mod versus;
mod workload;

pub use failure::Cause;
pub use request::{Request, Template};
pub use run::Outcome;
pub use target::Target;
pub use threads::run;
pub use versus::{Ratio, Versus, versus};
pub use workload::Workload;
