//! The key of idle connections: a request may use an idle connection with an equal key.

use std::hash::{Hash, Hasher};
use std::net::IpAddr;
use std::sync::Arc;

use config::proxy::{BackendAddress, BackendParameters};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;

/// Address and TLS settings, which are equal for connections that can replace each other.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub place: Place,
    pub tls: Option<BackendHandshake>,
    /// Whether the connection carries HTTP/2.
    pub is_http2: bool,
    /// The local address; `None`: the kernel chooses one.
    pub source: Option<IpAddr>,
}

impl Key {
    /// Connections to a backend without TLS and HTTP/2.
    pub fn plain(address: &BackendAddress, parameters: &BackendParameters) -> Key {
        Key { place: Place::Backend(address.clone()), tls: None, is_http2: false, source: parameters.source }
    }
}

/// Where the connections lead.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    Backend(BackendAddress),
    /// A worker of this server, by its serial number.
    Worker(u64),
}

/// TLS of a connection to a backend.
#[derive(Clone)]
pub struct BackendHandshake {
    /// Certificates, versions and ciphers.
    pub client: Arc<ClientConfig>,
    /// The name that the backend's certificate must have, and that the handshake sends (SNI).
    pub name: ServerName<'static>,
    /// Whether `name` is the client's Host, so that a failure may be the client's fault.
    pub is_of_client: bool,
}

impl PartialEq for BackendHandshake {
    fn eq(&self, other: &BackendHandshake) -> bool {
        Arc::ptr_eq(&self.client, &other.client) && self.name == other.name
    }
}

impl Eq for BackendHandshake {}

impl Hash for BackendHandshake {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}
