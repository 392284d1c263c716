//! How programs of a CGI folder run: `CgiMode`, and what they may use: `RLimitCPU`, `RLimitMEM`, `RLimitNPROC`.

use super::draft::Draft;

/// `soft [hard]`; `max` is no limit but the server's own.
pub type Limit = (u64, u64);

/// As the kernel writes it.
const NO_LIMIT: u64 = u64::MAX;

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
    pub(super) fn merge(&mut self, said: &Said) {
        self.forks = said.forks.unwrap_or(self.forks);
        self.cpu = said.cpu.or(self.cpu);
        self.memory = said.memory.or(self.memory);
        self.processes = said.processes.or(self.processes);
    }
}

pub(super) fn mode(draft: &mut Draft, word: &str) -> Result<(), String> {
    let forks = match word.to_ascii_lowercase().as_str() {
        "persistent" => false,
        "fork" => true,
        _ => return Err(format!("expected persistent or fork, got \"{word}\"")),
    };
    draft.said().program.forks = Some(forks);
    Ok(())
}

pub(super) fn cpu(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    draft.said().program.cpu = Some(limit(words)?);
    Ok(())
}

pub(super) fn memory(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    draft.said().program.memory = Some(limit(words)?);
    Ok(())
}

pub(super) fn processes(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    draft.said().program.processes = Some(limit(words)?);
    Ok(())
}

/// With one number both limits are it.
fn limit(words: &[String]) -> Result<Limit, String> {
    let number = |word: &String| match word.as_str() {
        word if word.eq_ignore_ascii_case("max") => Ok(NO_LIMIT),
        word => word.parse().map_err(|_| format!("expected a number or max, got \"{word}\"")),
    };
    let soft = number(words.first().ok_or("expected a number or max")?)?;
    let hard = words.get(1).map(number).transpose()?.unwrap_or(soft);
    if soft > hard {
        Err("the first number is the limit, and not above the second".to_owned())
    } else {
        Ok((soft, hard))
    }
}
