//! The load tester: sends requests to any HTTP server and measures response times.
//!
//! A `RunPlan` has the requests and their times. `run` sends them by a number of users, on one thread or several,
//! and tallies the results. `report` formats them; the command line is in `cli::bench`.
//!
//! Start at [`run()`], then `user`: one user sends its requests one after the other.

#![forbid(unsafe_code)]

mod alarm;
mod connect;
mod failure;
mod http1;
mod http2;
mod interrupt;
pub mod plan;
mod random;
pub mod report;
mod request;
mod response;
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

pub use connect::{ClientStream, Connector};
pub use failure::{FailedRequest, FailureCause};
pub use request::{EncodedRequest, RequestTemplate};
pub use run::RunOutcome;
pub use target::RequestTarget;
pub use threads::run;
pub use versus::{Ratio, Versus, versus};
pub use workload::Workload;
