//! What comes before the first byte of a request counts: who the client is when a proxy stands before us.

/// What it costs to let a client in.
mod cost;
/// `RemoteIPHeader`: a trusted proxy names the client.
mod proxies;
/// The PROXY protocol, versions 1 and 2.
mod proxy_protocol;
/// `RemoteIPProtoHeader`: a proxy that speaks TLS for us.
mod proxy_scheme;
/// Several threads of the front.
mod threads;
