//! How programs of a CGI folder run: `CgiMode`, and what they may use: `RLimitCPU`, `RLimitMEM`, `RLimitNPROC`.

use crate::config::model::merge::{keep, replace, settings};
/// `soft [hard]`; `max` is no limit but the server's own.
pub type Limit = (u64, u64);

settings! {
    /// What one section says; `None`: nothing, keep what was.
    #[derive(Clone, Default, PartialEq, Eq)]
    said struct PartialProgram {}

    /// What all sections of a request say together.
    #[derive(Clone, Copy, Default, PartialEq, Eq)]
    merged struct ProgramLimits {}

    /// `CgiMode fork`
    forks: Option<bool> => bool, replace;
    /// `RLimitCPU` in seconds.
    cpu: Option<Limit> => Option<Limit>, keep;
    /// `RLimitMEM` in bytes.
    memory: Option<Limit> => Option<Limit>, keep;
    /// `RLimitNPROC`
    processes: Option<Limit> => Option<Limit>, keep;
}
