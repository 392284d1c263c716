//! A configuration in the making: what was understood so far, and where in the tree we are.

use std::collections::HashMap;
use std::path::PathBuf;

use wire::control::PoolNumber;

use crate::config::model::access::Methods;
use crate::config::model::config::{Config, Facts};
use crate::config::model::context::{Context, Rank, Scope};
use crate::config::model::host::{Host, HostAddress};
use crate::config::model::overrides::HtaccessRules;
use crate::config::model::pools::DEFAULT;
use crate::config::model::response::setenv::Condition;
use crate::config::model::server::{LogTarget, PerlSwitches, Pool};
use crate::config::model::settings::{PartialSettings, Section};
use crate::config::model::start_up::warm_up::{WarmUp, WarmUpSource};
use crate::config::model::start_up::{StartUp, StartUpStep};
use crate::config::syntax::pattern::{Budget, Case, Pattern};
use crate::config::syntax::source::below;
use crate::config::syntax::tree::{At, ConfigError, Directive};

/// How many names of a configuration are compared with those of the table, which takes much longer than to look for one. What
/// has more names that nobody knows was not meant for us.
const GUESSES: u32 = 100;

/// A configuration in the making, and where in the tree we are.
pub struct Draft {
    /// What is done so far.
    pub config: Config,
    /// See [`Facts`].
    pub facts: Facts,
    /// See [`Logs`].
    pub logs: Logs,
    /// What is wrong so far.
    pub errors: Vec<ConfigError>,
    /// Where relative names of documents start.
    pub documents_root: PathBuf,
    /// The directive at work.
    pub at: At,
    /// `Port`, for a site without Listen.
    pub port: Option<u16>,
    /// Where in the tree we are.
    pub position: Position,
    counts: u32,
    /// How many more names that nobody knows are compared with those of the table.
    pub guesses: u32,
    /// The name of the directive at work, as it was written.
    pub name: String,
    /// What regular expressions may need.
    pub patterns: Budget,
    /// What a `.htaccess` file may say, when one is read.
    pub htaccess: Option<HtaccessRules>,
    /// Each host's containers as they come.
    pub containers: Vec<Vec<(Rank, u16)>>,
    /// Where single directives of the main server stand, for the final checks.
    pub said_at: HashMap<&'static str, At>,
    /// The pools of sections that say so themselves, by where their contents lie.
    pub section_pools: HashMap<usize, PoolNumber>,
    /// Contents of sections that are read when all else was.
    pub postponed: Vec<(Position, Vec<Directive>)>,
    /// How many pools there are beyond those that may be.
    pub pools_left_out: usize,
    /// Virtual hosts that are pools and take the main server's PerlSwitches.
    pub inherit_switches: Vec<PoolNumber>,
    /// A `.htaccess` file is read that may lie in places of either API.
    pub may_speak_any: bool,
    /// Handlers by names that are not the server's own, with the directive and its place: an `Action` may answer for them.
    pub named_handlers: Vec<(At, String, String)>,
}

/// A position in the tree of directives: what is said there belongs to its section, its host and its methods.
#[derive(Clone, Copy)]
pub struct Position {
    /// What kind of section we are in.
    pub context: Context,
    /// The section that takes what is said.
    pub section: u16,
    /// The host whose directives are read; 0 is the main server.
    pub host: u16,
    /// The methods of the `<Limit>` that we are in.
    pub methods: Methods,
    /// The pool whose molds load what is said.
    pub pool: PoolNumber,
}

/// Where the walk goes on in a section; `None`: its contents have been read already. The error is of its arguments.
pub type Opened = Result<Option<Position>, String>;

/// What was said about logs so far.
#[derive(Default)]
pub struct Logs {
    /// Host, nickname, format; the nickname is empty for TransferLog's format.
    pub formats: Vec<(u16, String, String)>,
    /// Every access log.
    pub access: Vec<CustomLog>,
}

/// `CustomLog`, `TransferLog`
pub struct CustomLog {
    /// Whose it is.
    pub host: u16,
    /// Where its lines go.
    pub target: LogTarget,
    /// A nickname or a format.
    pub format: String,
    /// Which requests; `None`: all.
    pub condition: Option<Condition>,
    /// Where it is said.
    pub at: At,
}

impl Draft {
    pub fn new(facts: &Facts, server_root: PathBuf) -> Self {
        let at = At { file: "defaults".into(), line: 0 };
        Draft {
            documents_root: server_root.clone(),
            config: Config::empty(server_root, facts),
            facts: facts.clone(),
            logs: Logs::default(),
            errors: Vec::new(),
            at,
            port: None,
            position: Position { context: Context::Server, section: 0, host: 0, methods: Methods::ALL, pool: DEFAULT },
            counts: 0,
            guesses: GUESSES,
            name: String::new(),
            patterns: Budget::of_the_administrator(),
            htaccess: None,
            containers: vec![Vec::new()],
            said_at: HashMap::new(),
            section_pools: HashMap::new(),
            postponed: Vec::new(),
            pools_left_out: 0,
            inherit_switches: Vec::new(),
            may_speak_any: false,
            named_handlers: Vec::new(),
        }
    }

    /// The section for what stands outside of every container.
    pub fn main_server(&mut self) {
        self.position.section = self.add_section(Scope::Host, None, Rank::HOST);
        self.config.hosts[0].base = self.position.section;
    }

    /// Some mistakes are only warnings in a `.htaccess` file, where its rules say so.
    pub fn pass_over(&mut self, may: fn(&HtaccessRules) -> bool, message: String) -> Result<(), String> {
        if !self.htaccess.as_ref().is_some_and(may) {
            return Err(message);
        }
        self.warn(&format!("{message} (this line is ignored)"));
        Ok(())
    }

    /// What `AllowOverride` does not allow: an error, unless that says otherwise.
    pub fn forbidden(&mut self, message: String) -> Result<(), String> {
        self.pass_over(HtaccessRules::passes_over_forbidden, message)
    }

    /// The host at work.
    pub fn host(&mut self) -> &mut Host {
        &mut self.config.hosts[usize::from(self.position.host)]
    }

    /// What the section at work says.
    pub fn said(&mut self) -> &mut PartialSettings {
        &mut self.config.sections[usize::from(self.position.section)].said
    }

    /// Whether a container's contents are read.
    pub fn is_in_container(&self) -> bool {
        !matches!(self.position.context, Context::Server | Context::VirtualHost)
    }

    /// The numbers of the pool at work.
    pub fn pool(&mut self) -> &mut Pool {
        match self.config.more_pools.get_mut(usize::from(self.position.pool).wrapping_sub(1)) {
            Some(named) => &mut named.pool,
            None => &mut self.config.pool,
        }
    }

    /// What the perl of the pool at work is started with.
    pub fn perl(&mut self) -> &mut PerlSwitches {
        match self.config.more_pools.get_mut(usize::from(self.position.pool).wrapping_sub(1)) {
            Some(named) => &mut named.perl,
            None => &mut self.config.perl,
        }
    }

    /// A path, absolute.
    pub fn path(&self, path: &str) -> PathBuf {
        self.config.server_root.join(path)
    }

    /// A path of what is served, absolute.
    pub fn document_path(&self, path: &str) -> PathBuf {
        below(&self.documents_root, path)
    }

    /// A regular expression, or what is wrong with it.
    pub fn pattern(&mut self, source: &str) -> Result<Pattern, String> {
        self.patterns.compile(source, Case::Exact)
    }

    /// What every request below a folder is held against is bounded in number, as its expressions are in size.
    pub fn is_looked_at_always(&mut self) -> Result<(), String> {
        const SIZE: usize = 256;
        self.patterns.spend(SIZE)
    }

    /// Adds a handler that `check` looks for.
    pub fn handler(&mut self, name: &str) {
        self.config.handlers.push((self.position.pool, self.at.clone(), name.to_owned()));
    }

    /// Adds a step of the mold.
    pub fn start_up(&mut self, step: StartUpStep) {
        self.config.start_up.push(StartUp { at: self.at.clone(), pool: self.position.pool, step });
    }

    /// Adds what the mold asks of itself.
    pub fn warm_up(&mut self, source: WarmUpSource) {
        let (at, host) = (self.at.clone(), self.position.host);
        self.config.warm_up.push(WarmUp { at, host, source });
    }

    /// Whether what is said is said of a whole host.
    pub fn is_outside_containers(&self) -> bool {
        matches!(self.position.context, Context::Server | Context::VirtualHost)
    }

    /// Whether the section at work is a `<DirectoryMatch>`; paths with wildcards are none.
    pub fn is_in_regex(&self) -> bool {
        self.config.sections[usize::from(self.position.section)].rank == Rank::DIRECTORY_MATCH
    }

    /// Reports what does not prevent the start.
    pub fn warn(&mut self, message: &str) {
        let warning = ConfigError::at(&self.at, format!("{}: {message}", self.name));
        self.config.warnings.push(warning);
    }

    /// `<Files>` in a `<Directory>` comes after those outside, and in the order of the directories.
    pub fn files_rank(&self) -> Rank {
        match self.position.context {
            Context::Directory | Context::Htaccess => {
                Rank(1, self.config.sections[usize::from(self.position.section)].rank.1)
            }
            _ => Rank(1, 0),
        }
    }

    /// Opens a container of the host at work.
    pub fn container(&mut self, context: Context, scope: Scope, rank: Rank) -> Opened {
        let outer =
            matches!(self.position.context, Context::Directory | Context::Htaccess).then_some(self.position.section);
        let section = self.new_section(scope, outer, rank)?;
        self.containers[usize::from(self.position.host)].push((rank, section));
        Ok(Some(Position { context, section, ..self.position }))
    }

    /// Opens a `<Limit>`: the same place, for fewer methods.
    pub fn limited(&self, methods: Methods) -> Opened {
        match self.position.methods == Methods::ALL {
            true => Ok(Some(Position { methods, ..self.position })),
            false => Err("stands in another such section: name the methods in one".to_owned()),
        }
    }

    /// Opens a virtual host.
    pub fn virtual_host(&mut self, addresses: Vec<HostAddress>) -> Opened {
        let base = self.new_section(Scope::Host, None, Rank::HOST)?;
        let host = u16::try_from(self.config.hosts.len()).map_err(|_| "there are more than 65535 virtual hosts")?;
        if self.position.pool != DEFAULT {
            self.config.sections[usize::from(base)].said.pool = Some(self.position.pool);
        }
        self.config.hosts.push(Host { addresses, base, ..Host::default() });
        self.containers.push(Vec::new());
        Ok(Some(Position { context: Context::VirtualHost, section: base, host, ..self.position }))
    }

    /// A number for a directive that counts its own requests; no other has it.
    pub fn next_count(&mut self) -> u32 {
        self.counts += 1;
        self.counts
    }

    /// The section at work, for those who read a status.
    pub fn section_name(&self) -> String {
        let section = &self.config.sections[usize::from(self.position.section)];
        match &section.scope {
            Scope::Host => format!("{} {}", self.position.context.name(), self.at),
            scope => format!("<{} {}>", scope.name(), scope.argument()),
        }
    }

    pub fn new_section(&mut self, scope: Scope, inside: Option<u16>, rank: Rank) -> Result<u16, String> {
        match self.config.sections.len() < usize::from(u16::MAX) {
            true => Ok(self.add_section(scope, inside, rank)),
            false => Err("there are more than 65535 sections".to_owned()),
        }
    }

    pub fn add_section(&mut self, scope: Scope, inside: Option<u16>, rank: Rank) -> u16 {
        self.config.sections.push(Section {
            scope,
            inside,
            said: PartialSettings::default(),
            rank,
            pool: self.position.pool,
            at: self.at.clone(),
        });
        (self.config.sections.len() - 1) as u16
    }
}
