//! Certificates of clients: the files that decide about them, and where they are asked for.

use crate::model::merge::{apart, keep, settings};
use crate::model::tls::NamedFile;
use crate::syntax::tree::At;

/// Greatest `SSLVerifyDepth`: the verifier follows at most six intermediate certificates.
pub const MAX_DEPTH: u8 = 7;
/// `SSLVerifyDepth` where it is not set, as in httpd: an authority of the host has signed the certificate itself.
pub const USUAL_DEPTH: u8 = 1;

settings! {
    /// Settings of a host about certificates of clients. `None`: the main server's value.
    #[derive(Clone, Default, PartialEq, Eq)]
    place struct ClientAuth {
        /// `SSLCACertificateFile`
        pub authorities: Option<NamedFile>, keep;
        /// `SSLCACertificatePath`
        pub authorities_folder: Option<NamedFile>, keep;
        /// `SSLCADNRequestFile`
        pub named: Option<NamedFile>, keep;
        /// `SSLCADNRequestPath`
        pub named_folder: Option<NamedFile>, keep;
        /// `SSLCARevocationFile`
        pub revoked: Option<NamedFile>, keep;
        /// `SSLCARevocationPath`
        pub revoked_folder: Option<NamedFile>, keep;
        /// `SSLCARevocationCheck` and its position; default [`RevocationDepth::None`].
        pub check: Option<(At, RevocationCheck)>, keep;
        /// How the handshake asks for a certificate; `None`: it does not. Computed from `SSLVerifyClient` of the host
        /// and its places.
        pub asked: Option<AskedCertificate>, apart;
    }
}

impl ClientAuth {
    /// Whether the other host asks for the same certificates; both may ask for none.
    pub fn asks_like(&self, other: &ClientAuth) -> bool {
        let files = |it: &ClientAuth| it.files().map(|file| (file.directive, file.path.clone())).collect::<Vec<_>>();
        match (self.asked, other.asked) {
            (None, None) => true,
            (ours, theirs) => {
                ours == theirs && self.revocation_check() == other.revocation_check() && files(self) == files(other)
            }
        }
    }

    /// `SSLCARevocationCheck`
    pub fn revocation_check(&self) -> RevocationCheck {
        self.check.as_ref().map(|(_, check)| *check).unwrap_or_default()
    }

    /// All named files and folders.
    pub fn files(&self) -> impl Iterator<Item = &NamedFile> {
        self.of_authorities().chain(self.of_names()).chain(self.of_revoked())
    }

    /// The files and folders with trusted certificates.
    pub fn of_authorities(&self) -> impl Iterator<Item = &NamedFile> {
        self.authorities.iter().chain(&self.authorities_folder)
    }

    /// The files and folders with certificates whose names are sent to clients.
    pub fn of_names(&self) -> impl Iterator<Item = &NamedFile> {
        self.named.iter().chain(&self.named_folder)
    }

    /// The files and folders with lists of revoked certificates.
    pub fn of_revoked(&self) -> impl Iterator<Item = &NamedFile> {
        self.revoked.iter().chain(&self.revoked_folder)
    }
}

/// How a host asks for certificates in the TLS handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedCertificate {
    /// The setting that the handshake enforces. [`ClientVerify::None`]: only places of the host use the certificate,
    /// and no certificate fails the handshake.
    pub enforced: ClientVerify,
    /// Greatest `SSLVerifyDepth` of the host and its places.
    pub depth: u8,
}

/// `SSLVerifyClient`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClientVerify {
    /// A certificate is not asked for.
    #[default]
    None,
    /// A certificate is asked for, and must be valid if there is one.
    Optional,
    /// A valid certificate is needed.
    Require,
    /// A certificate is asked for, and may be of an unknown authority.
    OptionalNoCa,
}

impl ClientVerify {
    /// Parses the argument of `SSLVerifyClient`.
    pub fn parse(word: &str) -> Result<ClientVerify, String> {
        match word.to_ascii_lowercase().as_str() {
            "none" | "0" => Ok(ClientVerify::None),
            "optional" | "1" => Ok(ClientVerify::Optional),
            "require" | "2" => Ok(ClientVerify::Require),
            "optional_no_ca" | "3" => Ok(ClientVerify::OptionalNoCa),
            _ => Err(format!("expected none, optional, require or optional_no_ca, got \"{word}\"")),
        }
    }
}

/// `SSLCARevocationCheck`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RevocationCheck {
    /// The certificates that are looked up.
    pub depth: RevocationDepth,
    /// `no_crl_for_cert_ok`: a certificate whose authority has no list is valid.
    pub list_may_be_missing: bool,
}

/// The certificates of a chain that are looked up in lists of revoked certificates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RevocationDepth {
    /// No certificate.
    #[default]
    None,
    /// The client's certificate.
    Leaf,
    /// The client's certificate and the intermediate ones.
    Chain,
}
