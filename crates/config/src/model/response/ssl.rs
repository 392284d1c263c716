//! TLS settings of places: `SSLOptions`, `SSLRequireSSL`.

use crate::model::merge::{keep, settings};
settings! {
    /// `None`: not set, the outer value applies.
    #[derive(Clone, Copy, PartialEq, Eq, Default)]
    place struct Ssl {
        /// `SSLOptions +StdEnvVars`: programs get variables about the connection; default off.
        pub std_env_vars: Option<bool>, keep;
        /// `SSLRequireSSL`
        pub required: Option<bool>, keep;
    }
}
