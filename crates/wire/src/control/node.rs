//! The server as a node behind a load balancer.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Whether a load balancer is to send requests to this server, as its administrator has decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeState {
    /// Requests are welcome while the server is ready.
    #[default]
    Ready,
    /// Requests are to be sent elsewhere: the server stops soon.
    Draining,
    /// Requests are to be sent elsewhere, until the administrator ends that.
    Maintenance,
}

/// State of the node, and of the services that it depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeStatus {
    /// The administrator's decision.
    pub state: NodeState,
    /// Time since the state began, in milliseconds.
    pub state_ms: u64,
    /// Time since the serving generation began to serve, in milliseconds.
    pub serving_ms: u64,
    /// `SlowStart`, in milliseconds.
    pub slow_start_ms: u64,
    /// One entry per `ReadinessCheck`.
    pub checks: Vec<DependencyStatus>,
}

impl NodeStatus {
    /// The status after some time in which nothing has changed.
    pub fn after(&self, elapsed: Duration) -> NodeStatus {
        let elapsed = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        NodeStatus {
            state_ms: self.state_ms.saturating_add(elapsed),
            serving_ms: self.serving_ms.saturating_add(elapsed),
            ..self.clone()
        }
    }
}

/// A service that the server depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DependencyStatus {
    /// Name of the `ReadinessCheck`.
    pub name: String,
    /// Why the server is not ready; `None`: the check succeeds.
    pub failure: Option<String>,
}
