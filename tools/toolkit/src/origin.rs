//! The configuration origin of commands that take a program instead of a file.

use master::configuration::{ConfigInput, ConfigOrigin, OptionText};

use super::conf::facts;
use super::options::Program;

/// A configuration of these directives, which a reload reads again.
pub fn origin(text: Vec<OptionText>, program: &Program) -> anyhow::Result<ConfigOrigin> {
    let mut facts = facts(std::env::current_dir()?);
    let environment = program.environment.clone().or_else(|| std::env::var("PLACK_ENV").ok());
    facts.env.retain(|(name, _)| name != "PLACK_ENV");
    facts.env.push(("PLACK_ENV".to_string(), environment.unwrap_or_else(|| "deployment".to_string())));
    Ok(ConfigOrigin {
        from: ConfigInput::Options(text),
        defines: Vec::new(),
        before: Vec::new(),
        after: Vec::new(),
        facts,
    })
}
