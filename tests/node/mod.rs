//! A node behind a load balancer: drained, checked, weighed, and what it passes on.

mod agent;
mod balanced;
mod checks;
mod drain;
mod identity;
mod load_report;
mod refused;
mod tlv;
