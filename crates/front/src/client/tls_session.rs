//! TLS state of a client, for programs and logs: the variables of mod_ssl.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use rustls::{HandshakeKind, ProtocolVersion, ServerConnection};

use config::ReceivePace;
use config::tls::suites::openssl_name;
use tls::names::CertificateVariables;

/// TLS state of a client.
#[derive(Debug, Default)]
pub struct Security {
    session: OnceCell<Session>,
    /// The client uses plain HTTP on a TLS port.
    lost: Cell<bool>,
    /// Minimum pace of the handshake, while it runs.
    handshake: Cell<Option<ReceivePace>>,
}

impl Security {
    /// Notes that a handshake is expected.
    pub fn begin(&self, pace: Option<ReceivePace>) {
        self.handshake.set(pace);
    }

    /// Notes that the first byte is not a handshake's: the client uses plain HTTP.
    pub fn give_up(&self) {
        self.handshake.set(None);
        self.lost.set(true);
    }

    pub fn agree(&self, session: Session) {
        self.handshake.set(None);
        // A connection has one handshake, so the cell is empty.
        let _ = self.session.set(session);
    }

    /// The session, after the handshake.
    pub fn session(&self) -> Option<&Session> {
        self.session.get()
    }

    /// Whether the client uses plain HTTP on a TLS port.
    pub fn is_lost(&self) -> bool {
        self.lost.get()
    }

    /// Minimum pace of the handshake, while it runs.
    pub fn pace(&self) -> Option<ReceivePace> {
        self.handshake.get()
    }
}

#[derive(Debug)]
pub struct Session {
    /// Host name of the client's SNI, in lower case.
    pub name: Option<String>,
    protocol: &'static str,
    cipher: &'static str,
    bits: u16,
    resumed: bool,
    /// Variables of the server's certificate.
    certificate: Option<Arc<CertificateVariables>>,
}

impl Session {
    /// Reads the parameters of a connection after its handshake.
    pub fn of(
        connection: &ServerConnection,
        name: Option<String>,
        certificate: Option<Arc<CertificateVariables>>,
    ) -> Session {
        let protocol = match connection.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => "TLSv1.3",
            _ => "TLSv1.2",
        };
        let suite = connection.negotiated_cipher_suite().and_then(|suite| openssl_name(suite.suite().as_str()?));
        let (cipher, bits) = suite.unwrap_or_default();
        let resumed = connection.handshake_kind() == Some(HandshakeKind::Resumed);
        Session { name, protocol, cipher, bits, resumed, certificate }
    }

    /// The variables of `SSLOptions +StdEnvVars`.
    pub fn variables(&self) -> impl Iterator<Item = (&str, String)> {
        let names = "SSL_PROTOCOL SSL_CIPHER SSL_CIPHER_USEKEYSIZE SSL_CIPHER_ALGKEYSIZE \
            SSL_CIPHER_EXPORT SSL_CLIENT_VERIFY SSL_SECURE_RENEG SSL_COMPRESS_METHOD SSL_SESSION_RESUMED SSL_TLS_SNI \
            SSL_VERSION_INTERFACE";
        let ours = names.split(' ').filter_map(|name| Some((name, self.variable(name)?)));
        ours.chain(self.certificate().iter().map(|(name, value)| (name.as_str(), value.clone())))
    }

    pub fn variable(&self, name: &str) -> Option<String> {
        Some(match name {
            "SSL_PROTOCOL" => self.protocol.to_owned(),
            "SSL_CIPHER" => self.cipher.to_owned(),
            "SSL_CIPHER_USEKEYSIZE" | "SSL_CIPHER_ALGKEYSIZE" => self.bits.to_string(),
            "SSL_CIPHER_EXPORT" => "false".to_owned(),
            "SSL_CLIENT_VERIFY" => "NONE".to_owned(),
            "SSL_SECURE_RENEG" => "true".to_owned(),
            "SSL_COMPRESS_METHOD" => "NULL".to_owned(),
            "SSL_SESSION_RESUMED" => if self.resumed { "Resumed" } else { "Initial" }.to_owned(),
            "SSL_TLS_SNI" => self.name.clone()?,
            "SSL_VERSION_INTERFACE" => format!("Cameleer/{}", env!("CARGO_PKG_VERSION")),
            name => return self.certificate().iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()),
        })
    }

    fn certificate(&self) -> &[(String, String)] {
        self.certificate.as_deref().map_or(&[], Vec::as_slice)
    }
}
