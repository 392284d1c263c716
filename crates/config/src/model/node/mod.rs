//! The server as a node behind a load balancer: `ShutdownDelay`, `SlowStart`, `ReadinessCheck`, `RetryStatus`,
//! `LoadReport`.

mod check;

use std::time::Duration;

pub use check::{CheckTarget, ReadinessCheck};

/// Directives about the balancer in front of the server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeSettings {
    /// `ShutdownDelay`: time for which the server drains before a graceful stop.
    pub shutdown_delay: Duration,
    /// `SlowStart`: time in which the weight of a new generation climbs.
    pub slow_start: Duration,
    /// `ReadinessCheck`, in file order.
    pub checks: Vec<ReadinessCheck>,
    /// `RetryStatus`: status of a refused request that another server may answer; `None`: 503.
    pub retry_status: Option<u16>,
    /// `LoadReport orca`: whether responses report the load in Envoy's format.
    pub reports_load: bool,
}
