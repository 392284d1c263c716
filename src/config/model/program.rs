//! How programs of a CGI folder run: `CgiMode`, and what they may use: `RLimitCPU`, `RLimitMEM`, `RLimitNPROC`.

/// `soft [hard]`; `max` is no limit but the server's own.
pub type Limit = (u64, u64);

/// What one section says; `None`: nothing, keep what was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// `CgiMode fork`
    pub forks: Option<bool>,
    /// `RLimitCPU` in seconds.
    pub cpu: Option<Limit>,
    /// `RLimitMEM` in bytes.
    pub memory: Option<Limit>,
    /// `RLimitNPROC`
    pub processes: Option<Limit>,
}

/// What all sections of a request say together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits {
    /// Each request for a Perl script has a process of its own.
    pub forks: bool,
    /// `RLimitCPU`
    pub cpu: Option<Limit>,
    /// `RLimitMEM`
    pub memory: Option<Limit>,
    /// `RLimitNPROC`
    pub processes: Option<Limit>,
}

impl Limits {
    /// Merges what an inner section says.
    pub fn merge(&mut self, said: &Said) {
        self.forks = said.forks.unwrap_or(self.forks);
        self.cpu = said.cpu.or(self.cpu);
        self.memory = said.memory.or(self.memory);
        self.processes = said.processes.or(self.processes);
    }
}
