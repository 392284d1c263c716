//! CGI programs: `CgiMode`, and the resource limits `RLimitCPU`, `RLimitMEM`, `RLimitNPROC`.

use crate::model::merge::{keep, replace, settings};
/// Soft and hard limit. `u64::MAX` means that the server's own limit applies.
pub type Limit = (u64, u64);

/// `CgiMode`: how a Perl script of a cgi-script place runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CgiMode {
    /// Executed by its `#!` line in a process for each request, as under httpd's mod_cgi.
    #[default]
    Program,
    /// Run in a child of the worker, which has compiled the script.
    Fork,
    /// Run in the worker, as with Apache::Registry.
    Persistent,
}

impl CgiMode {
    /// Parses the argument of `CgiMode`, in any case.
    pub fn named(name: &str) -> Option<CgiMode> {
        match name.to_ascii_lowercase().as_str() {
            "program" => Some(CgiMode::Program),
            "fork" => Some(CgiMode::Fork),
            "persistent" => Some(CgiMode::Persistent),
            _ => None,
        }
    }
}

settings! {
    /// Settings of one section. `None`: not set, the outer value applies.
    #[derive(Clone, Default, PartialEq, Eq)]
    section struct PartialProgram {}

    /// Merged settings of a request.
    #[derive(Clone, Copy, Default, PartialEq, Eq)]
    merged struct ProgramLimits {}

    /// `CgiMode`
    mode: Option<CgiMode> => CgiMode, replace;
    /// `CGIPassAuth`
    pass_auth: Option<bool> => bool, replace;
    /// `RLimitCPU` in seconds.
    cpu: Option<Limit> => Option<Limit>, keep;
    /// `RLimitMEM` in bytes.
    memory: Option<Limit> => Option<Limit>, keep;
    /// `RLimitNPROC`
    processes: Option<Limit> => Option<Limit>, keep;
}
