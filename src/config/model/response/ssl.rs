//! What places say about TLS: `SSLOptions`, `SSLRequireSSL`.

/// `None`: nothing, keep what was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ssl {
    /// `SSLOptions +StdEnvVars`: programs are told about the connection; default off.
    pub std_env_vars: Option<bool>,
    /// `SSLRequireSSL`
    pub required: Option<bool>,
}

impl Ssl {
    /// Merges what an inner section says.
    pub fn merge(&mut self, inner: &Ssl) {
        self.std_env_vars = inner.std_env_vars.or(self.std_env_vars);
        self.required = inner.required.or(self.required);
    }
}
