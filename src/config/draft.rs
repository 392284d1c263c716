//! A configuration in the making: every directive goes through its row of [`directives`], and all errors are kept.
//!
//! [`directives`]: super::directives

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::access::{self, Methods};
use super::build::{Facts, below, empty, empty_host};
use super::context::{Context, Rank};
use super::directives::{self, Row, Takes};
use super::foreign::{self, Fate};
use super::logs::Logs;
use super::overrides::Rules;
use super::pattern::{Budget, Case, Pattern};
use super::{
    At, Config, ConfigError, Directive, Host, HostAddress, Said, Scope, Section, StartUp, Step, depth, unknown, value,
    words,
};

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
    /// The host whose directives are read; 0 is the main server.
    pub host: u16,
    /// The methods of the `<Limit>` that we are in.
    pub methods: Methods,
    counts: u32,
    /// See [`unknown::GUESSES`].
    guesses: u32,
    name: String,
    context: Context,
    /// The section that takes what is said.
    section: u16,
    /// What regular expressions may need.
    pub(super) patterns: Budget,
    /// What a `.htaccess` file may say, when one is read.
    pub(super) htaccess: Option<Rules>,
    /// Each host's containers as they come.
    pub(super) containers: Vec<Vec<(Rank, u16)>>,
    /// Where single directives of the main server stand, for the final checks.
    pub(super) said_at: HashMap<&'static str, At>,
}

impl Draft {
    pub(super) fn new(facts: &Facts, server_root: PathBuf) -> Self {
        let at = At { file: "defaults".into(), line: 0 };
        Draft {
            documents_root: server_root.clone(),
            config: empty(server_root, facts),
            facts: facts.clone(),
            logs: Logs::default(),
            errors: Vec::new(),
            at,
            port: None,
            host: 0,
            methods: Methods::ALL,
            counts: 0,
            guesses: unknown::GUESSES,
            name: String::new(),
            context: Context::Server,
            section: 0,
            patterns: Budget::of_the_administrator(),
            htaccess: None,
            containers: vec![Vec::new()],
            said_at: HashMap::new(),
        }
    }

    /// A `.htaccess` file: its section is the first, those in it follow.
    pub(super) fn of_htaccess(
        config: &Config,
        folder: &Path,
        (rules, patterns): (Rules, Budget),
        tree: &[Directive],
    ) -> Self {
        let mut draft = Draft::new(&config.facts, config.server_root.clone());
        draft.config.sections.clear();
        draft.config.perl_access = config.perl_access || access::has_perl_handler(tree);
        draft.htaccess = Some(rules);
        draft.patterns = patterns;
        let rank = Rank::directory(depth(folder));
        let section = draft.add_section(Scope::Directory(folder.to_owned()), None, rank);
        draft.inside(Context::Htaccess, section, 0, tree);
        draft
    }

    /// Applies the table's defaults as if they stood in a file; what they say about settings is section 0.
    pub(super) fn defaults(&mut self) {
        for row in directives::all() {
            let Some(default) = row.default else { continue };
            let applied = words::split(default).and_then(|args| self.call(row, &args, None));
            if let Err(message) = applied {
                self.errors.push(ConfigError::at(&self.at, format!("{}: default: {message}", row.name)));
            }
        }
    }

    /// The section for what stands outside of every container.
    pub(super) fn main_server(&mut self) {
        self.section = self.add_section(Scope::Host, None, Rank::HOST);
        self.config.hosts[0].base = self.section;
    }

    /// Applies the directives of one context.
    pub(super) fn walk(&mut self, tree: &[Directive]) {
        for directive in tree {
            self.at = directive.at.clone();
            self.patterns.line = directive.at.line;
            self.name.clone_from(&directive.name);
            if let Err(message) = self.apply(directive) {
                let bracketed = directive.section.as_ref().map(|_| format!("<{}>", directive.name));
                let name = bracketed.as_deref().unwrap_or(&directive.name);
                self.errors.push(ConfigError::at(&directive.at, format!("{name}: {message}")));
            }
            // The first mistake closes the folder of a .htaccess file: the others, which take time, nobody is told.
            if self.htaccess.is_some() && !self.errors.is_empty() {
                return;
            }
        }
    }

    fn apply(&mut self, directive: &Directive) -> Result<(), String> {
        let row = match directives::find(&directive.name) {
            Some(row) => row,
            None if self.is_own(&directive.name) => return self.own(directive),
            None => return self.foreign(directive),
        };
        row.check_form(directive)?;
        if let Some(rules) = self.htaccess
            && let Err(message) = rules.check(row, directive)
        {
            return self.forbidden(message);
        }
        if self.context != Context::Htaccess {
            row.check_context(self.context)?;
        }
        if self.methods != Methods::ALL && !row.per_method() {
            self.warn("stands in <Limit>, but holds for all methods, as in httpd: move it out");
        }
        if self.context == Context::Server {
            self.said_at.insert(row.name, directive.at.clone());
        }
        self.call(row, &directive.args, directive.section.as_deref())
    }

    /// Whether a Perl module of the site defines it.
    fn is_own(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        self.facts.expanded.as_ref().is_some_and(|expanded| expanded.own.contains(&name))
    }

    /// Its module is told at the start; here it is only noted where.
    fn own(&mut self, directive: &Directive) -> Result<(), String> {
        let [args, inside @ ..] = directive.args.as_slice() else { return Ok(()) };
        self.start_up(Step::Own {
            name: directive.name.clone(),
            args: args.clone(),
            inside: inside.first().cloned(),
            section: self.section,
            host: self.host,
        });
        Ok(())
    }

    /// httpd's directives that we do not have are passed over when nothing depends on them.
    fn foreign(&mut self, directive: &Directive) -> Result<(), String> {
        match foreign::find(&directive.name, &directive.args) {
            Some((Fate::Ignored, message)) => {
                self.warn(&message);
                Ok(())
            }
            Some((Fate::Refused, message)) => self.unknown(message),
            None => {
                let message = unknown::message(&directive.name, &mut self.guesses);
                self.unknown(message)
            }
        }
    }

    /// What `AllowOverride` does not allow: an error, unless that says otherwise.
    pub fn forbidden(&mut self, message: String) -> Result<(), String> {
        self.pass_over(Rules::passes_over_forbidden, message)
    }

    fn unknown(&mut self, message: String) -> Result<(), String> {
        self.pass_over(Rules::passes_over_unknown, message)
    }

    fn pass_over(&mut self, may: fn(&Rules) -> bool, message: String) -> Result<(), String> {
        if !self.htaccess.as_ref().is_some_and(may) {
            return Err(message);
        }
        self.warn(&format!("{message} (this line is ignored)"));
        Ok(())
    }

    fn call(&mut self, row: &Row, args: &[String], inside: Option<&[Directive]>) -> Result<(), String> {
        let count = args.len();
        if !row.takes.count().contains(&count) {
            return Err(directives::wrong_count(row, args));
        }
        match &row.takes {
            Takes::Flag(set) => set(self, value::flag(&args[0])?),
            Takes::Number(bounds, set) => set(self, value::number(&args[0], bounds)?),
            Takes::Size(set) => set(self, value::size(&args[0])?),
            Takes::Duration(set) => set(self, value::duration(&args[0])?),
            Takes::Path(set) => set(self, self.path(&args[0])),
            Takes::Word(_, set) => set(self, &args[0])?,
            Takes::Words(_, _, set) => set(self, args)?,
            Takes::Section(_, _, enter) => enter(self, args, inside.unwrap_or_default())?,
            Takes::Reading(..) => {}
        }
        Ok(())
    }

    /// The host at work.
    pub fn host(&mut self) -> &mut Host {
        &mut self.config.hosts[usize::from(self.host)]
    }

    /// What the section at work says.
    pub fn said(&mut self) -> &mut Said {
        &mut self.config.sections[usize::from(self.section)].said
    }

    /// Whether a container's contents are read.
    pub fn is_in_container(&self) -> bool {
        !matches!(self.context, Context::Server | Context::VirtualHost)
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
        self.config.handlers.push((self.at.clone(), name.to_owned()));
    }

    /// Adds a step of the mold.
    pub fn start_up(&mut self, step: Step) {
        self.config.start_up.push(StartUp { at: self.at.clone(), step });
    }

    /// Whether what is said is said of a whole host.
    pub fn is_outside_containers(&self) -> bool {
        matches!(self.context, Context::Server | Context::VirtualHost)
    }

    /// Whether the section at work is a `<DirectoryMatch>`; paths with wildcards are none.
    pub fn is_in_regex(&self) -> bool {
        self.config.sections[usize::from(self.section)].rank == Rank::DIRECTORY_MATCH
    }

    /// Reports what does not prevent the start.
    pub fn warn(&mut self, message: &str) {
        let warning = ConfigError::at(&self.at, format!("{}: {message}", self.name));
        self.config.warnings.push(warning);
    }

    /// `<Files>` in a `<Directory>` comes after those outside, and in the order of the directories.
    pub fn files_rank(&self) -> Rank {
        match self.context {
            Context::Directory | Context::Htaccess => Rank(1, self.config.sections[usize::from(self.section)].rank.1),
            _ => Rank(1, 0),
        }
    }

    /// Walks a container of the host at work.
    pub fn within(&mut self, context: Context, scope: Scope, rank: Rank, inside: &[Directive]) -> Result<(), String> {
        let outer = matches!(self.context, Context::Directory | Context::Htaccess).then_some(self.section);
        let section = self.new_section(scope, outer, rank)?;
        self.containers[usize::from(self.host)].push((rank, section));
        self.inside(context, section, self.host, inside);
        Ok(())
    }

    /// Walks a `<Limit>`: the same place, for fewer methods.
    pub fn for_methods(&mut self, methods: Methods, inside: &[Directive]) -> Result<(), String> {
        if self.methods != Methods::ALL {
            return Err("stands in another such section: name the methods in one".to_owned());
        }
        self.methods = methods;
        self.walk(inside);
        self.methods = Methods::ALL;
        Ok(())
    }

    /// A number for a directive that counts its own requests; no other has it.
    pub fn next_count(&mut self) -> u32 {
        self.counts += 1;
        self.counts
    }

    /// The section at work, for those who read a status.
    pub fn place(&self) -> String {
        let section = &self.config.sections[usize::from(self.section)];
        match &section.scope {
            Scope::Host => format!("{} {}", self.context.name(), self.at),
            scope => format!("<{} {}>", scope.name(), scope.argument()),
        }
    }

    /// Walks a virtual host.
    pub fn within_host(&mut self, addresses: Vec<HostAddress>, inside: &[Directive]) -> Result<(), String> {
        let base = self.new_section(Scope::Host, None, Rank::HOST)?;
        let host = u16::try_from(self.config.hosts.len()).map_err(|_| "there are more than 65535 virtual hosts")?;
        self.config.hosts.push(Host { addresses, base, ..empty_host() });
        self.containers.push(Vec::new());
        self.inside(Context::VirtualHost, base, host, inside);
        Ok(())
    }

    fn inside(&mut self, context: Context, section: u16, host: u16, inside: &[Directive]) {
        let outer = (self.context, self.section, self.host);
        (self.context, self.section, self.host) = (context, section, host);
        self.walk(inside);
        (self.context, self.section, self.host) = outer;
    }

    fn new_section(&mut self, scope: Scope, inside: Option<u16>, rank: Rank) -> Result<u16, String> {
        match self.config.sections.len() < usize::from(u16::MAX) {
            true => Ok(self.add_section(scope, inside, rank)),
            false => Err("there are more than 65535 sections".to_owned()),
        }
    }

    fn add_section(&mut self, scope: Scope, inside: Option<u16>, rank: Rank) -> u16 {
        self.config.sections.push(Section { scope, inside, said: Said::default(), rank });
        (self.config.sections.len() - 1) as u16
    }
}
