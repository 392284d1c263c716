//! The expander: runs the Perl of a configuration in the order of the file, and says what the whole has become. It is a
//! process of its own, because the master has no Perl and must know everything before it binds, and because what a
//! generation loads must not stand in the way of the next.
//!
//! The mold runs the same code again for what it defines; what it says as configuration is not asked a second time.

use std::os::fd::{AsRawFd, OwnedFd};

use anyhow::{Context, bail};
use libperl::Interpreter;
use wire::channel::Channel;
use wire::control::{FromExpander, ToExpander};
use wire::transport::{in_memory, read_all};

use super::start_up;
use crate::config::parse::{Reader, Source};
use crate::config::{At, Bundle, Config, ConfigError, Directive, Expanded, Facts, StartUp, Step};
use crate::sys;

type Master = Channel<FromExpander, ToExpander>;
type Mistakes = Vec<ConfigError>;

/// Expands what the master sends, answers, ends.
pub fn run(control: OwnedFd) -> anyhow::Result<()> {
    libperl::set_title("cameleer: expander");
    let master = Master::new(control);
    let Some((ToExpander::Expand, fds)) = master.receive()? else { bail!("the master sent nothing to expand") };
    let memory = fds.into_iter().next().context("the configuration came without its text")?;
    let bundle: Bundle = serde_json::from_slice(&read_all(memory)?)?;
    let known = Config::sketch(&bundle.tree, &bundle.facts);
    sys::drop_privileges(&known)?;
    let mut perl = start_up::boot(&known, &bundle.facts)?;
    perl.call(c"Cameleer::starting", Some(if bundle.facts.reload { "ReStarting" } else { "Starting" }))?;
    perl.call(c"Cameleer::configuration_is", Some("read"))?;
    let facts = Facts { server_root: known.server_root, ..bundle.facts };
    let mut expander = Expander { perl, facts };
    let expanded = expander.bundle(bundle.tree);
    let answer = in_memory("expanded configuration", &serde_json::to_vec(&expanded)?)?;
    master.send(&FromExpander::Expanded, &[answer.as_raw_fd()])?;
    expander.perl.end(false);
    Ok(())
}

struct Expander {
    perl: Interpreter,
    /// ServerRoot is the one that the configuration says.
    facts: Facts,
}

impl Expander {
    fn bundle(&mut self, tree: Vec<Directive>) -> Result<Bundle, Mistakes> {
        let tree = self.all(tree)?;
        Ok(Bundle { tree, facts: Facts { expanded: Some(Expanded::default()), ..self.facts.clone() } })
    }

    fn all(&mut self, tree: Vec<Directive>) -> Result<Vec<Directive>, Mistakes> {
        let mut expanded = Vec::with_capacity(tree.len());
        for directive in tree {
            self.one(directive, &mut expanded)?;
        }
        Ok(expanded)
    }

    fn one(&mut self, mut directive: Directive, expanded: &mut Vec<Directive>) -> Result<(), Mistakes> {
        let at = directive.at.clone();
        directive.section = match directive.section.take() {
            Some(inside) => Some(self.all(inside)?),
            None => None,
        };
        let mut said = String::new();
        for step in self.steps(&directive) {
            said.push_str(&self.take(&step).map_err(|error| vec![start_up::mistake(&step, &error)])?);
        }
        expanded.push(directive);
        let made = self.read(&said, &at)?;
        expanded.extend(self.all(made)?);
        Ok(())
    }

    /// What a directive wants done at the start. A section's contents have had their turn.
    fn steps(&self, directive: &Directive) -> Vec<StartUp> {
        let section = directive.section.as_ref().map(|_| Vec::new());
        let alone = Directive { section, ..directive.clone() };
        Config::sketch(&[alone], &self.facts).start_up
    }

    /// Does it; the directives that it says.
    fn take(&mut self, step: &StartUp) -> libperl::Result<String> {
        if let Step::Section(code) = &step.step {
            return start_up::section(&mut self.perl, code, &step.at);
        }
        start_up::load(&mut self.perl, step)?;
        self.perl.ask(c"Cameleer::said", "")
    }

    fn read(&self, said: &str, at: &At) -> Result<Vec<Directive>, Mistakes> {
        if said.is_empty() {
            return Ok(Vec::new());
        }
        let env = |name: &str| self.facts.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let source = Source::disk(&self.facts.server_root, &env);
        let mut reader = Reader::new(&source);
        reader.define(&self.facts.defined);
        reader.made(said, at);
        reader.finish()
    }
}
