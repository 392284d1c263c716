//! Directives about clients: connections, protocols, TLS, limits, stores that servers share, clients behind proxies,
//! and a load balancer.

pub(super) mod client_certificates;
pub(super) mod connections;
pub(super) mod http2;
pub(super) mod limits;
pub(super) mod managed;
mod managed_settings;
pub(super) mod node;
pub(super) mod remote_ip;
pub(super) mod stores;
pub(super) mod strictness;
pub(in crate::table) mod tls;
