//! What places say about TLS: `SSLOptions`, `SSLRequireSSL`.

use crate::config::model::merge::{keep, settings};
settings! {
    /// `None`: nothing, keep what was.
    #[derive(Clone, Copy, PartialEq, Eq, Default)]
    place struct Ssl {
        /// `SSLOptions +StdEnvVars`: programs are told about the connection; default off.
        pub std_env_vars: Option<bool>, keep;
        /// `SSLRequireSSL`
        pub required: Option<bool>, keep;
    }
}
