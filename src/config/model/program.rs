//! How programs of a CGI folder run: `CgiMode`, and what they may use: `RLimitCPU`, `RLimitMEM`, `RLimitNPROC`.

use crate::config::model::merge::{keep, replace, settings};
/// `soft [hard]`; `max` is no limit but the server's own.
pub type Limit = (u64, u64);

/// `CgiMode`: what runs a Perl script of a CGI folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CgiMode {
    /// The kernel, by the file's `#!` line: a process of its own for each request, as under httpd's mod_cgi.
    #[default]
    Program,
    /// A child of the worker, which has the script compiled.
    Fork,
    /// The worker, as Apache::Registry.
    Persistent,
}

impl CgiMode {
    /// By its name.
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
    /// What one section says; `None`: nothing, keep what was.
    #[derive(Clone, Default, PartialEq, Eq)]
    said struct PartialProgram {}

    /// What all sections of a request say together.
    #[derive(Clone, Copy, Default, PartialEq, Eq)]
    merged struct ProgramLimits {}

    /// `CgiMode`
    mode: Option<CgiMode> => CgiMode, replace;
    /// `RLimitCPU` in seconds.
    cpu: Option<Limit> => Option<Limit>, keep;
    /// `RLimitMEM` in bytes.
    memory: Option<Limit> => Option<Limit>, keep;
    /// `RLimitNPROC`
    processes: Option<Limit> => Option<Limit>, keep;
}
