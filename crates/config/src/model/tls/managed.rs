//! Certificates that the server gets from an authority by ACME, and renews (`MDomain`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::model::merge::{keep, settings, unless_empty};
use crate::model::tls::NamedFile;
use crate::model::tls::http_proxy::HttpProxy;
use crate::syntax::tree::At;
pub use wire::control::ChallengeType;

/// The certificates that the server gets by itself, and how.
#[derive(Debug, Clone, Default)]
pub struct ManagedCertificates {
    /// `MDomain` and `<MDomainSet>`: a certificate, or one for each key type, for each of them.
    pub domains: Vec<ManagedDomain>,
    /// Directives outside of `<MDomainSet>`.
    pub defaults: DomainSettings,
    /// `MDStoreDir`; `None`: a folder `md`.
    pub store: Option<PathBuf>,
    /// `MDBaseServer`: whether the main server may be of a managed domain.
    pub base_server: bool,
    /// `MDPortMap`
    pub ports: PortMap,
    /// `MDCACertificateFile`: root certificates for the connection to the ACME server; `None`: the system's.
    pub trust: Option<NamedFile>,
    /// `MDHttpProxy`; `None`: connections to authorities are direct.
    pub proxy: Option<HttpProxy>,
    /// `MDRetryDelay`: the wait after the first failure; it doubles up to a day.
    pub retry_delay: Duration,
    /// `MDRetryFailover`: number of failures after which the next authority is tried.
    pub retry_failover: u32,
}

/// Names with a common certificate.
#[derive(Debug, Clone)]
pub struct ManagedDomain {
    /// Names of the certificate, in lower case. The first names the domain in the store and in messages.
    pub names: Vec<String>,
    /// Position of the directive.
    pub at: At,
    /// Settings of the domain; where its section has none, those outside of `<MDomainSet>`.
    pub settings: DomainSettings,
    /// Challenges that can be answered, in the order in which they are tried.
    pub challenges: Vec<ChallengeType>,
    /// Whether certificates are to be got and renewed.
    pub is_renewed: bool,
}

settings! {
    /// Settings of a managed domain. `None` and empty: the value outside of `<MDomainSet>`.
    #[derive(Clone, Default)]
    host struct DomainSettings {
        /// `MDCertificateAgreement accepted`
        pub agreed: Option<bool>, keep;
        /// `MDCertificateAuthority`: URLs of the directories of authorities, in the order in which they are tried.
        pub authorities: Vec<String>, unless_empty;
        /// `MDContactEmail`
        pub contact: Option<String>, keep;
        /// `MDCAChallenges`; `None`: those that the listeners allow.
        pub challenges: Option<Vec<ChallengeType>>, keep;
        /// `MDRenewMode`
        pub renew_mode: Option<RenewMode>, keep;
        /// `MDRenewWindow`
        pub renew_window: Option<RenewWindow>, keep;
        /// `MDPrivateKeys`: a certificate for each.
        pub keys: Vec<KeyType>, unless_empty;
        /// `MDMembers`: whether the names of virtual hosts are added.
        pub adds_names: Option<bool>, keep;
        /// `MDRequireHttps`
        pub require_https: Option<RequireHttps>, keep;
        /// `MDCertificateFile`
        pub certificates: Vec<NamedFile>, unless_empty;
        /// `MDCertificateKeyFile`
        pub key_files: Vec<NamedFile>, unless_empty;
        /// `MDExternalAccountBinding`
        pub account: Option<AccountBinding>, keep;
    }
}

/// `MDRenewMode`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenewMode {
    /// Certificates are got for domains of virtual hosts with TLS.
    Auto,
    /// Certificates are got for domains that no virtual host uses, too.
    Always,
    /// Certificates are read from the store, and never renewed.
    Manual,
}

/// `MDRenewWindow`: the time before its end at which a certificate is renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenewWindow {
    /// A part of its whole life, in percent.
    Percent(u32),
    /// A time, for certificates that live at least twice as long.
    Time(Duration),
}

impl RenewWindow {
    /// The window of a certificate with this life: at most half of it, so that a new certificate is not due at once.
    pub fn of(self, life: Duration) -> Duration {
        let window = match self {
            RenewWindow::Percent(percent) => life.mul_f64(f64::from(percent) / 100.0),
            RenewWindow::Time(time) => time,
        };
        window.min(life / 2)
    }
}

/// `MDPrivateKeys`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeyType {
    /// ECDSA with the curve P-256.
    P256,
    /// ECDSA with the curve P-384.
    P384,
    /// RSA with a modulus of this many bits.
    Rsa(u32),
}

impl KeyType {
    /// The files of certificate and key in the folder of a domain, as mod_md names them.
    pub fn files(self) -> [String; 2] {
        let kind = match self {
            KeyType::P256 => ".secp256r1".to_owned(),
            KeyType::P384 => ".secp384r1".to_owned(),
            KeyType::Rsa(2048) => String::new(),
            KeyType::Rsa(bits) => format!(".rsa{bits}"),
        };
        [format!("pubcert{kind}.pem"), format!("privkey{kind}.pem")]
    }
}

/// `MDRequireHttps`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequireHttps {
    /// Requests over plain HTTP are answered.
    Off,
    /// Requests over plain HTTP are redirected, for now.
    Temporary,
    /// Requests over plain HTTP are redirected, and browsers use TLS alone for half a year.
    Permanent,
}

impl RequireHttps {
    /// Status of the redirect. POST and others keep their method.
    pub fn status(self, method: &str) -> u16 {
        match (self == RequireHttps::Permanent, matches!(method, "GET" | "HEAD")) {
            (true, true) => 301,
            (true, false) => 308,
            (false, true) => 302,
            (false, false) => 307,
        }
    }
}

/// `MDExternalAccountBinding`: an account that exists with the authority.
#[derive(Clone, PartialEq, Eq)]
pub enum AccountBinding {
    /// No binding.
    None,
    /// Key id and key, in base64url.
    Key {
        /// The key's identifier.
        id: String,
        /// The secret, in base64url.
        hmac: String,
    },
    /// A file with both, as JSON.
    File(NamedFile),
}

/// Omits the key, which must not appear in a log.
impl std::fmt::Debug for AccountBinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            AccountBinding::None => f.write_str("None"),
            AccountBinding::Key { id, .. } => f.debug_struct("Key").field("id", id).finish_non_exhaustive(),
            AccountBinding::File(file) => f.debug_tuple("File").field(file).finish(),
        }
    }
}

/// `MDPortMap`: the ports of this machine at which connections to the ports 80 and 443 of a name arrive. `None`: they
/// do not arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortMap {
    /// For port 80.
    pub http: Option<u16>,
    /// For port 443.
    pub https: Option<u16>,
}

impl Default for PortMap {
    fn default() -> PortMap {
        PortMap { http: Some(80), https: Some(443) }
    }
}

impl ManagedDomain {
    /// The name in the store and in messages.
    pub fn name(&self) -> &str {
        self.names.first().map_or("", String::as_str)
    }

    /// The folder of its certificates.
    pub fn folder(&self, store: &Path) -> PathBuf {
        store.join("domains").join(self.name())
    }

    /// The redirect of a request over plain HTTP, once there is a certificate; `None`: none. `requested` is the name in
    /// the request, or empty, `server_name` that of the redirect. As in httpd, other ACME clients answer below
    /// `/.well-known/`.
    pub fn redirect_of(&self, requested: &str, server_name: &str, path: &str) -> Option<RequireHttps> {
        let has = |name: &str| self.names.iter().any(|own| own.eq_ignore_ascii_case(name.trim_end_matches('.')));
        let is_named = || (requested.is_empty() || has(requested)) && has(server_name);
        let redirect = self.settings.require_https.filter(|redirect| *redirect != RequireHttps::Off);
        redirect.filter(|_| !path.starts_with("/.well-known/") && is_named())
    }

    /// Adds names that are not there.
    pub fn add_names(&mut self, names: impl Iterator<Item = String>) {
        let mut known: BTreeSet<String> = self.names.iter().cloned().collect();
        self.names.extend(names.filter(|name| known.insert(name.clone())));
    }
}

/// Whether a name can be in a certificate that is got by `http-01` or `tls-alpn-01`. The error says why not.
pub fn check_name(name: &str) -> Result<(), String> {
    if name.starts_with("*.") {
        return Err(format!(
            "{name}: authorities sign names with * only for dns-01, which is not supported; list the names, or get the \
             certificate with another ACME client and name it with SSLCertificateFile"
        ));
    }
    if name.parse::<std::net::IpAddr>().is_ok() || name.starts_with('[') {
        return Err(format!("{name}: expected a name, got an address"));
    }
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let labels = || name.split('.');
    if name.len() > 253 || labels().any(|label| label.is_empty() || label.len() > 63 || !label.bytes().all(allowed)) {
        return Err(format!("\"{name}\": expected a name of DNS, such as www.example.org"));
    }
    Ok(())
}
