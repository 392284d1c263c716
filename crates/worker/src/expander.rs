//! The expander: runs the Perl code of a configuration in the order of the file and returns the expanded
//! configuration. It is a separate process because the master has no Perl and must know the whole configuration
//! before it binds. Code loaded by one generation also must not affect the next.
//!
//! The mold runs the same code again for its definitions; directives that it adds then are ignored.

use std::os::fd::{AsRawFd, OwnedFd};

use anyhow::{Context, bail};
use libperl::Interpreter;
use wire::channel::Channel;
use wire::control::{FromExpander, ToExpander};
use wire::transport::{in_memory, read_configuration};

use super::start_up::{self, ModulePosition};
use config::parse::{ConfigReader, ParserSource};
use config::{
    At, Bundle, Config, ConfigError, Directive, Facts, PerlGeneration, StartUp, StartUpStep, in_order_of_mod_perl_2,
    is_elsewhere, pools, table,
};
use sys::privileges;

type Master = Channel<FromExpander, ToExpander>;
type Mistakes = Vec<ConfigError>;

/// Expands the configuration that the master sends, answers, and ends.
pub fn run(control: OwnedFd) -> anyhow::Result<()> {
    libperl::set_title("cameleer: expander");
    let master = Master::new(control);
    let Some((ToExpander::Expand, fds)) = master.receive()? else {
        bail!("the first message of the master was not Expand")
    };
    let memory = fds.into_iter().next().context("the message Expand has no descriptor of the configuration")?;
    let bundle: Bundle = serde_json::from_slice(&read_configuration(memory)?)?;
    let known = Config::sketch(&bundle.tree, &bundle.facts).for_pool(pools::DEFAULT);
    privileges::become_user(known.user.as_deref(), known.group.as_deref())?;
    let perl = start_up::boot(&known, &bundle.facts)?;
    perl.call(c"Cameleer::starting", Some(start_up::reading(false, &bundle.facts)))?;
    perl.call(c"Cameleer::configuration_is", Some("read"))?;
    let facts = Facts { server_root: known.server_root, ..bundle.facts };
    let within = ModulePosition { section: 1, server: 1, ..ModulePosition::default() };
    let waiting = match facts.generation() {
        PerlGeneration::One => Waiting::Never,
        PerlGeneration::Two => Waiting::Steps(Vec::new()),
    };
    let mut expander = Expander {
        master,
        perl,
        facts,
        within,
        sections: 1,
        hosts: 0,
        in_made: false,
        waiting,
        post_config: Vec::new(),
        elsewhere: false,
    };
    let expanded = expander.bundle(bundle.tree);
    let answer = in_memory("expanded configuration", &serde_json::to_vec(&expanded)?)?;
    expander.master.send(&FromExpander::Expanded, &[answer.as_raw_fd()])?;
    expander.perl.end_soon();
    expander.perl.end_objects();
    Ok(())
}

struct Expander {
    master: Master,
    perl: Interpreter,
    /// Facts of the start, with the ServerRoot of the configuration.
    facts: Facts,
    within: ModulePosition,
    /// Number of sections so far; the main server is the first.
    sections: u16,
    /// Number of virtual hosts so far, without those made by Perl.
    hosts: u16,
    /// Whether the current directives were made by Perl. Perl code cannot know a number of their virtual hosts.
    in_made: bool,
    /// Steps that wait until perl is started, as in mod_perl 2.
    waiting: Waiting,
    /// `PerlPostConfigRequire` files, which run at the end of each reading.
    post_config: Vec<StartUp>,
    /// Whether the current directives belong to another pool. The mold of that pool loads their code; they do not
    /// change the configuration.
    elsewhere: bool,
}

/// Waiting steps. mod_perl 2 starts perl at the first directive that needs it, or at the end of the configuration;
/// earlier steps wait.
enum Waiting {
    /// No step waits, because perl is started.
    Never,
    /// Steps before the start of perl.
    Steps(Vec<StartUp>),
}

impl Expander {
    fn bundle(&mut self, tree: Vec<Directive>) -> Result<Bundle, Mistakes> {
        let mut tree = self.all(tree)?;
        let text = self.take_waiting()?;
        let end = At { file: "what start-up code added".into(), line: 0 };
        tree.extend(self.made(&text, &end)?);
        self.learn_all().map_err(|error| vec![ConfigError { at: None, message: error.to_string() }])?;
        self.end_first_reading()?;
        Ok(Bundle { tree, facts: self.facts.clone() })
    }

    /// Runs PerlPostConfigRequire at the end of the first reading. httpd reads its configuration twice at a start and
    /// once at a reload; the mold's reading is the last. Directives from this code come too late, as in httpd.
    fn end_first_reading(&mut self) -> Result<(), Mistakes> {
        let steps = std::mem::take(&mut self.post_config);
        if self.facts.reload {
            return Ok(());
        }
        for step in &steps {
            self.reach_line(&step.at, "PerlPostConfigRequire");
            start_up::load(&self.perl, step).map_err(|error| vec![start_up::mistake(step, &error)])?;
        }
        Ok(())
    }

    fn all(&mut self, tree: Vec<Directive>) -> Result<Vec<Directive>, Mistakes> {
        let mut expanded = Vec::with_capacity(tree.len());
        let mut mistakes = Mistakes::new();
        for directive in tree {
            mistakes.extend(self.one(directive, &mut expanded).err().unwrap_or_default());
        }
        if mistakes.is_empty() { Ok(expanded) } else { Err(mistakes) }
    }

    fn one(&mut self, mut directive: Directive, expanded: &mut Vec<Directive>) -> Result<(), Mistakes> {
        let at = directive.at.clone();
        let outer = self.elsewhere;
        self.elsewhere |= is_elsewhere(&directive);
        let inside = directive.section.take().map(|inside| self.section(&directive, inside)).transpose();
        let is_elsewhere = std::mem::replace(&mut self.elsewhere, outer);
        directive.section = inside?;
        if is_elsewhere {
            expanded.push(directive);
            return Ok(());
        }
        self.learn(&directive.name)
            .map_err(|error| vec![ConfigError { at: Some(at.clone()), message: error.to_string() }])?;
        let mut text = String::new();
        for step in self.steps(&directive) {
            if let Waiting::Steps(waiting) = &mut self.waiting
                && !step.step.starts_perl()
            {
                waiting.push(step);
                continue;
            }
            self.reach(&directive);
            text.push_str(&self.take_waiting()?);
            text.push_str(&self.take(&step).map_err(|error| vec![start_up::mistake(&step, &error)])?);
        }
        expanded.push(directive);
        expanded.extend(self.made(&text, &at)?);
        Ok(())
    }

    /// Parses and expands directives made by Perl.
    fn made(&mut self, text: &str, at: &At) -> Result<Vec<Directive>, Mistakes> {
        let made = self.read(text, at)?;
        let outer = std::mem::replace(&mut self.in_made, true);
        let expanded = self.all(made);
        self.in_made = outer;
        expanded
    }

    fn section(&mut self, directive: &Directive, inside: Vec<Directive>) -> Result<Vec<Directive>, Mistakes> {
        self.sections = self.sections.saturating_add(1);
        let is_host = directive.name.eq_ignore_ascii_case("VirtualHost");
        let server = if is_host { self.sections } else { self.within.server };
        let host = match (is_host, self.in_made) {
            (false, _) => self.within.host,
            (true, true) => 0,
            (true, false) => {
                self.hosts = self.hosts.saturating_add(1);
                self.hosts
            }
        };
        let path = if is_host { String::new() } else { directive.args.last().cloned().unwrap_or_default() };
        let kind = if is_host { String::new() } else { directive.name.clone() };
        let inner = ModulePosition { section: self.sections.into(), server, host, kind, path, allowed: None };
        let outer = std::mem::replace(&mut self.within, inner);
        let expanded = self.all(inside);
        self.within = outer;
        expanded
    }

    /// Reports the current line to the master, so that it can name the line if this code ends the process or never
    /// returns.
    fn reach(&self, directive: &Directive) {
        let name = if directive.name.eq_ignore_ascii_case("Perl") { "<Perl>" } else { &directive.name };
        self.reach_line(&directive.at, name);
    }

    fn reach_line(&self, At { file, line }: &At, name: &str) {
        // A failure is noticed later, when the answer is sent.
        let _ = self
            .master
            .send(&FromExpander::Reached { file: file.to_string(), line: *line, name: name.to_owned() }, &[]);
    }

    /// Asks Perl whether a loaded module defines this directive.
    fn learn(&mut self, name: &str) -> libperl::Result {
        if !table::is_known(name) && !self.perl.call_for_text(c"Cameleer::defines_directive", name)?.is_empty() {
            let own = &mut self.facts.expanded.get_or_insert_default().own;
            own.push(name.to_ascii_lowercase());
        }
        Ok(())
    }

    /// Collects the directives of all modules loaded so far.
    fn learn_all(&mut self) -> libperl::Result {
        let names = self.perl.call_for_text(c"Cameleer::defined_directives", "")?;
        self.facts.expanded.get_or_insert_default().defined = names.lines().map(str::to_owned).collect();
        Ok(())
    }

    /// Start-up steps of a directive. For a section without its contents, which were handled before.
    fn steps(&self, directive: &Directive) -> Vec<StartUp> {
        let section = directive.section.as_ref().map(|_| Vec::new());
        let alone = Directive { section, ..directive.clone() };
        let mut steps = Config::sketch(&[alone], &self.facts).start_up;
        // The sketch sees the line alone, so a SetEnv in a container appears to be outside.
        steps.retain(|it| self.within.section == 1 || !matches!(it.step, StartUpStep::SetEnv { .. }));
        steps
    }

    /// Runs the waiting steps after perl is started. Returns the directives that they add.
    fn take_waiting(&mut self) -> Result<String, Mistakes> {
        let mut text = String::new();
        let Waiting::Steps(mut steps) = std::mem::replace(&mut self.waiting, Waiting::Never) else { return Ok(text) };
        in_order_of_mod_perl_2(&mut steps);
        for step in steps {
            text.push_str(&self.take(&step).map_err(|error| vec![start_up::mistake(&step, &error)])?);
        }
        Ok(text)
    }

    /// Runs one step. Returns the directives that it adds.
    fn take(&mut self, step: &StartUp) -> libperl::Result<String> {
        if let StartUpStep::Section { code, .. } = &step.step {
            let api = match self.facts.generation() {
                PerlGeneration::One => apache::Api::One,
                PerlGeneration::Two => apache::Api::Two,
            };
            return start_up::section(&self.perl, code, &step.at, self.within.host, api);
        }
        if let StartUpStep::PostConfigRequire(_) = &step.step {
            self.post_config.push(step.clone()); // runs when the configuration is complete
            return Ok(String::new());
        }
        if let StartUpStep::Own { .. } = &step.step {
            start_up::own(&self.perl, step, &self.within)?;
        }
        start_up::load(&self.perl, step)?;
        self.perl.call_for_text(c"Cameleer::handed_directives", "")
    }

    fn read(&self, text: &str, at: &At) -> Result<Vec<Directive>, Mistakes> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let env = |name: &str| self.facts.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let mut source = ParserSource::disk(&self.facts.server_root, &env);
        source.started_in.clone_from(&self.facts.started_in);
        let mut reader = ConfigReader::new(&source);
        reader.define(&self.facts.defined);
        reader.made(text, at);
        reader.finish()
    }
}
