//! Limits on connections, and those that several servers share. Limits on requests are in the scheduler:
//! `workers/scheduler/concurrency.rs` and `workers/scheduler/rate/`.

pub mod connections;
pub mod pace;
pub mod turns;
