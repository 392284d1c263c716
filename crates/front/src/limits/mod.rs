//! Limits on connections. Limits on requests are in the scheduler: `workers/scheduler/concurrency.rs` and
//! `workers/scheduler/rate/`.

pub mod connections;
