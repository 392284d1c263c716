//! How clients are spoken with: connections, protocols, limits, and who they are.

pub(super) mod connections;
pub(super) mod http2;
pub(super) mod limits;
pub(super) mod remote_ip;
pub(super) mod strictness;
pub(super) mod tls;
