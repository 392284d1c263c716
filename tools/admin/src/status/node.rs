//! The server as a node behind a load balancer.

use std::fmt::Write;

use base::printable;
use status::ServerStatus;
use wire::control::{NodeState, NodeStatus};

/// Lines about a drain, a maintenance, and services that are not ready.
pub fn lines(status: &ServerStatus, text: &mut String) {
    let NodeStatus { state, checks, .. } = &status.node;
    match state {
        NodeState::Ready => {}
        NodeState::Draining => text.push_str("draining: load balancers are to send requests elsewhere\n"),
        NodeState::Maintenance => text.push_str("maintenance: load balancers are to send requests elsewhere\n"),
    }
    for check in checks {
        let state = check.failure.as_deref().unwrap_or("ready");
        let _ = writeln!(text, "needs {}: {}", printable::line(&check.name), printable::line(state));
    }
}
