//! `cameleer run`: a program and a few options, put into directives and served.

use super::conf::facts;
use super::options::{Program, Run};
use super::{daemon, directives, print, ready};
use crate::master::configuration::{ConfigOrigin, From, OptionText};
use crate::master::{self, Options};

impl Run {
    pub fn run(self) -> anyhow::Result<()> {
        let text = directives::of(&self, &directives::Surroundings::ours()?)?;
        if self.show_config {
            return text.iter().try_for_each(|said| print(&said.directives));
        }
        let name = self.program.name();
        let mut origin = origin(text, &self.program)?;
        if self.daemonize {
            origin.before.extend(daemon::error_log());
        }
        let serve = |in_background: ready::Then| {
            let on_ready = ready::announce(name, in_background);
            master::run(Options { origin, on_ready, in_background: self.daemonize })
        };
        if self.daemonize { daemon::run(serve) } else { serve(Box::new(|| ())) }
    }
}

/// Where `text` comes from, for now and every reload.
pub fn origin(text: Vec<OptionText>, program: &Program) -> anyhow::Result<ConfigOrigin> {
    let mut facts = facts(std::env::current_dir()?);
    let environment = program.environment.clone().or_else(|| std::env::var("PLACK_ENV").ok());
    facts.env.retain(|(name, _)| name != "PLACK_ENV");
    facts.env.push(("PLACK_ENV".to_string(), environment.unwrap_or_else(|| "deployment".to_string())));
    Ok(ConfigOrigin { from: From::Options(text), defines: Vec::new(), before: Vec::new(), after: Vec::new(), facts })
}
