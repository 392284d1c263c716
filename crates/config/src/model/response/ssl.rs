//! TLS settings of places: `SSLOptions`, `SSLRequireSSL`, and what certificates of clients must be.

use std::sync::Arc;

use crate::model::merge::{append, keep, settings};
use crate::model::response::expr::Expr;
use crate::model::tls::client_auth::{ClientVerify, USUAL_DEPTH};

settings! {
    /// `None`: not set, the outer value applies.
    #[derive(Clone, PartialEq, Eq, Default)]
    place struct Ssl {
        /// `SSLOptions +StdEnvVars`: programs get variables about the connection; default off.
        pub std_env_vars: Option<bool>, keep;
        /// `SSLOptions +ExportCertData`: programs get the certificates in PEM; default off.
        pub export_cert_data: Option<bool>, keep;
        /// `SSLOptions +FakeBasicAuth`: the subject of the client's certificate is the user of Basic authentication;
        /// default off.
        pub fake_basic_auth: Option<bool>, keep;
        /// `SSLRequireSSL`
        pub required: Option<bool>, keep;
        /// `SSLVerifyClient`; default [`ClientVerify::None`].
        pub verify: Option<ClientVerify>, keep;
        /// `SSLVerifyDepth`
        pub depth: Option<u8>, keep;
        /// `SSLRequire`: conditions that must all be true.
        pub conditions: Vec<Expr>, append;
        /// `SSLUserName`: the variable with the user's name.
        pub user: Option<Arc<str>>, keep;
    }
}

impl Ssl {
    /// `SSLVerifyClient` of the place.
    pub fn verify(&self) -> ClientVerify {
        self.verify.unwrap_or_default()
    }

    /// `SSLVerifyDepth` of the place.
    pub fn depth(&self) -> u8 {
        self.depth.unwrap_or(USUAL_DEPTH)
    }

    /// Whether access depends on the client's connection.
    pub fn restricts(&self) -> bool {
        self.required == Some(true) || self.verify() != ClientVerify::None || !self.conditions.is_empty()
    }
}
