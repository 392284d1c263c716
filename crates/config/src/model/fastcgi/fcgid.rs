//! FastCGI programs that this server starts: httpd's mod_fcgid.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::model::fastcgi::guards::FcgidGuards;
use crate::model::fastcgi::servers::StaticServer;
use crate::model::merge::{append, keep, settings};

settings! {
    /// Settings of FastCGI programs. `None` and empty: not set, the outer value or mod_fcgid's default applies.
    #[derive(Clone, Default)]
    place struct FcgidRules {
        /// `FcgidWrapper`
        pub wrappers: Vec<FcgidWrapper>, append;
        /// `FcgidInitialEnv`: name and value.
        pub initial_env: Vec<(String, String)>, append;
        /// `FcgidPassHeader`: names of header fields in lower case.
        pub pass_headers: Vec<String>, append;
        /// `FcgidMaxProcesses`; default 1000.
        pub most: Option<u64>, keep;
        /// `FcgidMaxProcessesPerClass`; default 100.
        pub most_of_class: Option<u64>, keep;
        /// `FcgidMinProcessesPerClass`; default 3.
        pub least_of_class: Option<u64>, keep;
        /// `FcgidIdleTimeout`; default 300 s.
        pub idle: Option<Duration>, keep;
        /// `FcgidProcessLifeTime`; default an hour.
        pub lifetime: Option<Duration>, keep;
        /// `FcgidMaxRequestsPerProcess`; default 0, unlimited.
        pub most_requests: Option<u64>, keep;
        /// `FcgidIOTimeout`; default 40 s.
        pub io: Option<Duration>, keep;
        /// `FcgidConnectTimeout`: wait for a process; default 3 s, but at least as long as a start takes.
        pub connect: Option<Duration>, keep;
        /// `FcgidBusyTimeout`; default `RequestTimeout`.
        pub busy: Option<Duration>, keep;
        /// `FcgidMaxRequestLen` in bytes; default `LimitRequestBody`.
        pub most_bytes: Option<u64>, keep;
        /// `FcgidAuthenticator`, `FcgidAuthorizer`, `FcgidAccessChecker`
        pub guards: FcgidGuards, FcgidGuards::merge;
        /// `FastCgiServer`: processes of this program run from the start on.
        pub server: Option<Arc<StaticServer>>, keep;
        /// `-pass-header` of mod_fastcgi: names of header fields as written, which are also names of variables.
        pub plain_headers: Vec<String>, append;
    }
}

/// `FcgidWrapper command [suffix] [virtual]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FcgidWrapper {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The end of the names of the scripts; `None`: all.
    pub suffix: Option<String>,
    /// Whether the scripts need not exist.
    pub is_virtual: bool,
}

impl FcgidRules {
    /// The wrapper for a script: one for its suffix comes before one for all.
    pub fn wrapper(&self, script: &Path) -> Option<&FcgidWrapper> {
        let name = script.file_name().unwrap_or_default().to_string_lossy();
        let has_suffix = |wrapper: &&FcgidWrapper| wrapper.suffix.as_ref().is_some_and(|end| name.ends_with(&**end));
        let mut last_first = self.wrappers.iter().rev();
        last_first.clone().find(has_suffix).or_else(|| last_first.find(|wrapper| wrapper.suffix.is_none()))
    }
}
