//! A configuration under construction, and the current position in the tree.

use std::collections::HashMap;
use std::path::PathBuf;

use wire::control::PoolNumber;

use crate::model::access::Methods;
use crate::model::config::{Config, Facts};
use crate::model::context::{Rank, Scope, SectionContext};
use crate::model::host::{Host, HostAddress};
use crate::model::overrides::HtaccessRules;
use crate::model::pools::DEFAULT;
use crate::model::proxy::balancer::BalancerDraft;
use crate::model::response::setenv::EnvCondition;
use crate::model::scheduling::LimitPlace;
use crate::model::server::{LogTarget, PerlSwitches, PoolSettings};
use crate::model::settings::{PartialSettings, Section};
use crate::model::start_up::warm_up::{WarmUp, WarmUpSource};
use crate::model::start_up::{NamedHandler, StartUp, StartUpStep};
use crate::syntax::pattern::{Budget, Case, Pattern};
use crate::syntax::source::below;
use crate::syntax::tree::{At, ConfigError, Directive};

/// Maximum number of unknown names for which a similar name is searched, which takes much longer than a lookup. A text
/// with more unknown names is most likely no configuration.
const GUESSES: u32 = 100;

/// A configuration under construction, and the current position in the tree.
pub struct Draft {
    pub config: Config,
    /// Inputs besides the text.
    pub facts: Facts,
    pub logs: LogDirectives,
    pub errors: Vec<ConfigError>,
    /// Base of relative document paths.
    pub documents_root: PathBuf,
    /// Position of the current directive.
    pub at: At,
    /// `Port`, which applies if there is no Listen.
    pub port: Option<u16>,
    /// Current section, host, methods and pool.
    pub position: Position,
    counts: u32,
    /// How often a directive of a limit occurs in a host under the same sections.
    limits: HashMap<(u16, String), u32>,
    /// Number of further unknown names for which a similar name is searched.
    pub guesses: u32,
    /// Name of the current directive as written.
    pub name: String,
    /// Limit for regular expressions.
    pub patterns: Budget,
    /// Restrictions, for a `.htaccess` file.
    pub htaccess: Option<HtaccessRules>,
    /// Containers of each host in file order.
    pub containers: Vec<Vec<(Rank, u16)>>,
    /// Positions of the directives of each pool by name, for the final checks.
    pub positions: HashMap<(PoolNumber, &'static str), At>,
    /// Pools that sections choose themselves, by the address of the sections' contents.
    pub section_pools: HashMap<usize, PoolNumber>,
    /// Contents of sections that are read after all others.
    pub postponed: Vec<(Position, Vec<Directive>)>,
    /// Number of pools beyond the maximum.
    pub excess_pools: usize,
    /// Pools of virtual hosts that inherit the main server's PerlSwitches.
    pub inherit_switches: Vec<PoolNumber>,
    /// Whether this is a `.htaccess` file that may apply to places of either API.
    pub may_use_either_api: bool,
    /// Handler names that are not built in, with position and directive. An `Action` may define them.
    pub named_handlers: Vec<(At, String, String)>,
    /// Positions of `SetHandler perl-script` and `modperl`, with the index of the section.
    pub code_handlers: Vec<(At, u16)>,
    /// Facts about balancers.
    pub balancers: BalancerDraft,
    /// `FastCgiIpcDir`: the base of relative names of sockets.
    pub fastcgi_sockets: Option<PathBuf>,
}

/// The context of a directive: its settings belong to this section, host, methods and pool.
#[derive(Clone, Copy)]
pub struct Position {
    pub context: SectionContext,
    pub section: u16,
    /// Index of the host; 0 is the main server.
    pub host: u16,
    /// Methods of the enclosing `<Limit>`.
    pub methods: Methods,
    /// The pool whose mold loads code of this section.
    pub pool: PoolNumber,
}

/// Position for the contents of a section. `None`: the contents have been processed. The error concerns its arguments.
pub type OpenedSection = Result<Option<Position>, String>;

/// `LogFormat`, `CustomLog` and `TransferLog`, resolved when all are read.
#[derive(Default)]
pub struct LogDirectives {
    /// Host, nickname, format; the nickname is empty for TransferLog's format.
    pub formats: Vec<(u16, String, String)>,
    pub access: Vec<CustomLog>,
}

/// `CustomLog`, `TransferLog`
pub struct CustomLog {
    /// Index of the host.
    pub host: u16,
    pub target: LogTarget,
    /// A nickname or a format.
    pub format: String,
    /// Requests that are logged; `None`: all.
    pub condition: Option<EnvCondition>,
    pub at: At,
}

impl Draft {
    pub fn new(facts: &Facts, server_root: PathBuf) -> Self {
        let at = At { file: "defaults".into(), line: 0 };
        Draft {
            documents_root: server_root.clone(),
            config: Config::empty(server_root, facts),
            facts: facts.clone(),
            logs: LogDirectives::default(),
            errors: Vec::new(),
            at,
            port: None,
            position: Position {
                context: SectionContext::Server,
                section: 0,
                host: 0,
                methods: Methods::ALL,
                pool: DEFAULT,
            },
            counts: 0,
            limits: HashMap::new(),
            guesses: GUESSES,
            name: String::new(),
            patterns: Budget::of_the_administrator(),
            htaccess: None,
            containers: vec![Vec::new()],
            positions: HashMap::new(),
            section_pools: HashMap::new(),
            postponed: Vec::new(),
            excess_pools: 0,
            inherit_switches: Vec::new(),
            may_use_either_api: false,
            named_handlers: Vec::new(),
            code_handlers: Vec::new(),
            balancers: BalancerDraft::default(),
            fastcgi_sockets: None,
        }
    }

    /// Adds the main server's section for settings outside of every container.
    pub fn main_server(&mut self) {
        self.position.section = self.add_section(Scope::Host, None, Rank::HOST);
        self.config.hosts[0].base = self.position.section;
    }

    /// Reports an error, or a warning in a `.htaccess` file whose restrictions permit that.
    pub fn refuse_or_warn(&mut self, may: fn(&HtaccessRules) -> bool, message: String) -> Result<(), String> {
        if !self.htaccess.as_ref().is_some_and(may) {
            return Err(message);
        }
        self.warn(&format!("{message} (this line is ignored)"));
        Ok(())
    }

    /// Reports a directive that `AllowOverride` does not permit.
    pub fn forbidden(&mut self, message: String) -> Result<(), String> {
        self.refuse_or_warn(HtaccessRules::ignores_forbidden, message)
    }

    /// The host of the current section.
    pub fn host(&mut self) -> &mut Host {
        &mut self.config.hosts[usize::from(self.position.host)]
    }

    /// Settings of the current section.
    pub fn settings(&mut self) -> &mut PartialSettings {
        &mut self.config.sections[usize::from(self.position.section)].own
    }

    /// Whether the current section is a container.
    pub fn is_in_container(&self) -> bool {
        !matches!(self.position.context, SectionContext::Server | SectionContext::VirtualHost)
    }

    /// Settings of the pool whose section is open; outside of sections, of the default pool.
    pub fn pool(&mut self) -> &mut PoolSettings {
        self.config.pool_mut(self.position.pool)
    }

    /// Perl's switches of the current pool.
    pub fn perl(&mut self) -> &mut PerlSwitches {
        match self.config.more_pools.get_mut(usize::from(self.position.pool).wrapping_sub(1)) {
            Some(named) => &mut named.perl,
            None => &mut self.config.perl,
        }
    }

    /// Absolute form of a path.
    pub fn path(&self, path: &str) -> PathBuf {
        self.config.server_root.join(path)
    }

    /// Absolute form of a document path.
    pub fn document_path(&self, path: &str) -> PathBuf {
        below(&self.documents_root, path)
    }

    pub fn pattern(&mut self, source: &str) -> Result<Pattern, String> {
        self.patterns.compile(source, Case::Exact)
    }

    /// Charges a rule that every request evaluates. Its number is limited for `.htaccess` files, as the size of
    /// expressions is.
    pub fn charge_rule(&mut self) -> Result<(), String> {
        const SIZE: usize = 256;
        self.patterns.spend(SIZE)
    }

    /// Registers a handler for `check`.
    pub fn handler(&mut self, name: &str) {
        let (at, directive) = (self.at.clone(), self.name.clone());
        self.config.handlers.push(NamedHandler { at, pool: self.position.pool, directive, name: name.to_owned() });
    }

    pub fn start_up(&mut self, step: StartUpStep) {
        self.config.start_up.push(StartUp { at: self.at.clone(), pool: self.position.pool, step });
    }

    pub fn warm_up(&mut self, source: WarmUpSource) {
        let (at, host) = (self.at.clone(), self.position.host);
        self.config.warm_up.push(WarmUp { at, host, source });
    }

    /// Whether the current section is a `<DirectoryMatch>`, and not a `<Directory>` with wildcards.
    pub fn is_in_regex(&self) -> bool {
        self.config.sections[usize::from(self.position.section)].rank == Rank::DIRECTORY_MATCH
    }

    /// Adds a warning about the current directive.
    pub fn warn(&mut self, message: &str) {
        let warning = ConfigError::at(&self.at, format!("{}: {message}", self.name));
        self.config.warnings.push(warning);
    }

    /// Adds a warning about the current directive, without which nothing changes.
    pub fn without_effect(&mut self, message: &str) {
        self.warn(message);
        self.config.without_effect.push(self.at.clone());
    }

    /// Rank of `<Files>`. Within `<Directory>` it follows `<Files>` outside, in the order of the directories.
    pub fn files_rank(&self) -> Rank {
        match self.position.context {
            SectionContext::Directory | SectionContext::Htaccess => {
                Rank(1, self.config.sections[usize::from(self.position.section)].rank.1)
            }
            _ => Rank(1, 0),
        }
    }

    /// Opens a container of the current host.
    pub fn container(&mut self, context: SectionContext, scope: Scope, rank: Rank) -> OpenedSection {
        let outer = matches!(self.position.context, SectionContext::Directory | SectionContext::Htaccess)
            .then_some(self.position.section);
        let section = self.new_section(scope, outer, rank)?;
        self.containers[usize::from(self.position.host)].push((rank, section));
        Ok(Some(Position { context, section, ..self.position }))
    }

    /// Opens a `<Limit>`, whose settings are those of the current section for fewer methods.
    pub fn limited(&self, methods: Methods) -> OpenedSection {
        match self.position.methods == Methods::ALL {
            true => Ok(Some(Position { methods, ..self.position })),
            false => Err("is not allowed in another such section; list all methods in one".to_owned()),
        }
    }

    pub fn virtual_host(&mut self, addresses: Vec<HostAddress>) -> OpenedSection {
        let base = self.new_section(Scope::Host, None, Rank::HOST)?;
        let host = u16::try_from(self.config.hosts.len())
            .map_err(|_| "there are more than 65535 virtual hosts; merge some by ServerAlias")?;
        if self.position.pool != DEFAULT {
            self.config.sections[usize::from(base)].own.pool = Some(self.position.pool);
        }
        self.config.hosts.push(Host { addresses, base, ..Host::default() });
        self.containers.push(Vec::new());
        Ok(Some(Position { context: SectionContext::VirtualHost, section: base, host, ..self.position }))
    }

    /// A unique number for a directive that counts its requests.
    pub fn next_count(&mut self) -> u32 {
        self.counts += 1;
        self.counts
    }

    /// Name of the current section for the status page.
    pub fn section_name(&self) -> String {
        let section = &self.config.sections[usize::from(self.position.section)];
        match &section.scope {
            Scope::Host => format!("{} {}", self.position.context.name(), self.at),
            scope => format!("<{} {}>", scope.name(), scope.argument()),
        }
    }

    /// The place of the current directive under a name that does not depend on files: the current section after those
    /// around it, and a number if the directive was there before, perhaps in another section of the same name.
    pub fn limit_place(&mut self) -> LimitPlace {
        let mut names = Vec::new();
        let mut next = Some(self.position.section);
        while let Some(section) = next.and_then(|at| self.config.sections.get(usize::from(at))) {
            if !matches!(section.scope, Scope::Host) {
                names.push(format!("<{} {}>", section.scope.name(), section.scope.argument()));
            }
            next = section.inside;
        }
        names.reverse();
        let (host, mut section) = (self.position.host, names.concat());
        let count = self.limits.entry((host, format!("{} {section}", self.name.to_ascii_lowercase()))).or_default();
        *count += 1;
        if *count > 1 {
            section.push_str(&format!("#{count}"));
        }
        LimitPlace { host, section: section.into() }
    }

    pub fn new_section(&mut self, scope: Scope, inside: Option<u16>, rank: Rank) -> Result<u16, String> {
        match self.config.sections.len() < usize::from(u16::MAX) {
            true => Ok(self.add_section(scope, inside, rank)),
            false => Err(
                "there are more than 65535 sections; merge some, for example by <DirectoryMatch> or <LocationMatch>"
                    .to_owned(),
            ),
        }
    }

    pub fn add_section(&mut self, scope: Scope, inside: Option<u16>, rank: Rank) -> u16 {
        self.config.sections.push(Section {
            scope,
            inside,
            branches: Vec::new(),
            own: PartialSettings::default(),
            rank,
            pool: self.position.pool,
            at: self.at.clone(),
        });
        (self.config.sections.len() - 1) as u16
    }
}
