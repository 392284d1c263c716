//! TLS state of a client, for programs and logs: the variables of mod_ssl.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use rustls::sign::CertifiedKey;
use rustls::{HandshakeKind, ProtocolVersion, ServerConnection};

use config::ReceivePace;
use config::response::ssl::Ssl;
use config::tls::suites::openssl_name;
use tls::clients::ClientCertificate;
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
    /// Index of the host with whose settings the handshake was made.
    pub host: u16,
    /// Whether the handshake asked for a certificate.
    pub asked: bool,
    /// The client's certificate, if the host asks for one and the client has one.
    pub client: Option<ClientCertificate>,
    protocol: &'static str,
    /// Number of the cipher suite in the registry of TLS.
    pub suite: u16,
    cipher: &'static str,
    bits: u16,
    resumed: bool,
    /// Sent in the handshake.
    certificate: ServerCertificate,
}

/// The certificate that the client got.
#[derive(Debug, Default)]
pub struct ServerCertificate {
    /// The certificate as `SSL_SERVER_…`; `None` if the handshake did not choose one.
    pub variables: Option<Arc<CertificateVariables>>,
    /// The certificate itself.
    pub key: Option<Arc<CertifiedKey>>,
    /// Whether it stands for a certificate that is not there yet.
    pub is_fallback: bool,
}

/// The part of a handshake that concerns the choice of a host and certificates.
#[derive(Debug)]
pub struct HandshakeOutcome {
    /// Host name of the client's SNI, in lower case.
    pub name: Option<String>,
    /// Index of the host with whose settings the handshake was made.
    pub host: u16,
    /// Whether the handshake asked for a certificate.
    pub asked: bool,
    /// Sent by the client, and checked.
    pub client: Option<ClientCertificate>,
    /// Sent by the server.
    pub certificate: ServerCertificate,
}

impl Session {
    /// Reads the parameters of a connection after its handshake.
    pub fn of(connection: &ServerConnection, outcome: HandshakeOutcome) -> Session {
        let protocol = match connection.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => "TLSv1.3",
            _ => "TLSv1.2",
        };
        let suite = connection.negotiated_cipher_suite().map(|suite| suite.suite());
        let (cipher, bits) = suite.and_then(|suite| openssl_name(suite.as_str()?)).unwrap_or_default();
        let suite = suite.map(u16::from).unwrap_or_default();
        let resumed = connection.handshake_kind() == Some(HandshakeKind::Resumed);
        let HandshakeOutcome { name, host, asked, client, certificate } = outcome;
        Session { name, host, asked, client, protocol, suite, cipher, bits, resumed, certificate }
    }

    /// The variables of `SSLOptions +StdEnvVars` at a place.
    pub fn variables(&self, place: &Ssl) -> impl Iterator<Item = (&str, String)> {
        let names = "SSL_PROTOCOL SSL_CIPHER SSL_CIPHER_USEKEYSIZE SSL_CIPHER_ALGKEYSIZE \
            SSL_CIPHER_EXPORT SSL_CLIENT_VERIFY SSL_SECURE_RENEG SSL_COMPRESS_METHOD SSL_SESSION_RESUMED SSL_TLS_SNI \
            SSL_VERSION_INTERFACE";
        let ours = names.split(' ').filter_map(move |name| Some((name, self.variable(name, place)?)));
        let of_server = self.certificate().iter().map(|(name, value)| (name.as_str(), value.clone()));
        ours.chain(of_server).chain(self.seen_at(place).into_iter().flat_map(ClientCertificate::variables))
    }

    /// The client's certificate, unless the place refuses it: the fields of a refused one are unverified.
    fn seen_at(&self, place: &Ssl) -> Option<&ClientCertificate> {
        self.client.as_ref().filter(|client| client.verdict.refused_by(place.verify(), place.depth()).is_none())
    }

    /// The variables of `SSLOptions +ExportCertData` at a place.
    pub fn exported(&self, place: &Ssl) -> impl Iterator<Item = (String, String)> {
        let ours = self.certificate.pem().map(|pem| ("SSL_SERVER_CERT".to_owned(), pem));
        let client = self.seen_at(place);
        // As in httpd, the variable is empty without a certificate of the client.
        let none = client.is_none().then(|| ("SSL_CLIENT_CERT".to_owned(), String::new()));
        ours.into_iter().chain(none).chain(client.into_iter().flat_map(ClientCertificate::exported))
    }

    /// `SSL_CLIENT_VERIFY` at a place.
    fn verdict_at(&self, place: &Ssl) -> String {
        self.client.as_ref().map_or_else(|| "NONE".to_owned(), |client| client.verdict.text_at(place))
    }

    /// The variable `name` of mod_ssl at a place.
    pub fn variable(&self, name: &str, place: &Ssl) -> Option<String> {
        Some(match name {
            "SSL_PROTOCOL" => self.protocol.to_owned(),
            "SSL_CIPHER" => self.cipher.to_owned(),
            "SSL_CIPHER_USEKEYSIZE" | "SSL_CIPHER_ALGKEYSIZE" => self.bits.to_string(),
            "SSL_CIPHER_EXPORT" => "false".to_owned(),
            "SSL_CLIENT_VERIFY" => self.verdict_at(place),
            "SSL_SECURE_RENEG" => "true".to_owned(),
            "SSL_COMPRESS_METHOD" => "NULL".to_owned(),
            "SSL_SESSION_RESUMED" => if self.resumed { "Resumed" } else { "Initial" }.to_owned(),
            "SSL_TLS_SNI" => self.name.clone()?,
            "SSL_VERSION_INTERFACE" => format!("Cameleer/{}", env!("CARGO_PKG_VERSION")),
            "SSL_SERVER_CERT" => self.certificate.pem()?,
            name if name.starts_with("SSL_CLIENT_") => return self.seen_at(place)?.variable(name),
            name => return self.certificate().iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()),
        })
    }

    /// Whether the client got a certificate that stands for one that is not there yet.
    pub fn is_fallback(&self) -> bool {
        self.certificate.is_fallback
    }

    fn certificate(&self) -> &[(String, String)] {
        self.certificate.variables.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl ServerCertificate {
    fn pem(&self) -> Option<String> {
        self.key.as_ref()?.cert.first().map(tls::names::pem)
    }
}
