//! Accepting connections, and the client's address behind a proxy.

/// System calls that accept a client.
mod cost;
/// `RemoteIPHeader`: a trusted proxy names the client.
mod proxies;
/// The PROXY protocol, versions 1 and 2.
mod proxy_protocol;
/// `RemoteIPProtoHeader`: a proxy terminates TLS.
mod proxy_scheme;
/// Several threads of the front.
mod threads;
