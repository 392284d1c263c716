//! The site's Perl, loaded: the interpreter, the PSGI applications, and what each location means for a request.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use anyhow::anyhow;
use libperl::{Code, Interpreter, Interrupted};
use wire::frame::{Field, Flags, Frame};

use super::error_logs::ErrorLogs;
use super::texts::Texts;
use super::{overrides, start_up};
use crate::access::Users;
use crate::config::access::{Requirement, Satisfy};
use crate::config::{
    Applied, Config, ConfigError, Facts, Handler, Listen, LogTarget, Options, Phase, PsgiApp, Settings,
};
use crate::open::Opener;
use crate::{log, mime};

/// Everything that a worker needs to answer.
pub struct Site {
    /// The interpreter.
    pub perl: Interpreter,
    /// The configuration of this generation.
    pub config: Rc<Config>,
    /// The Apache:: API is loaded.
    pub(super) mod_perl: bool,
    pub(super) apps: RefCell<HashMap<PsgiApp, Rc<Code>>>,
    pub(super) places: RefCell<HashMap<PlaceKey, Rc<Located>>>,
    /// `%ENV` as the start-up steps left it: what every request's begins with.
    pub(super) start_env: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) told: RefCell<HashSet<(Vec<u8>, u32)>>,
    /// Descriptor 2, whose log it is.
    pub(super) error_logs: RefCell<ErrorLogs>,
    /// The application asked this worker to leave (`psgix.harakiri.commit`).
    pub(super) leave: Cell<bool>,
    /// `psgix.cleanup.handlers` wait for the response to be sent.
    pub(super) psgi_cleanup: Cell<bool>,
    /// Whose passwords were right.
    pub(super) users: Users,
    /// Opens files that become parts of answers.
    pub(super) opener: Opener,
    /// The `.htaccess` files that requests have come to inside this process.
    pub(super) texts: Texts,
    registry: OnceCell<Code>,
    /// Runs the handlers that Perl code pushed.
    pub(super) pushed: Option<Code>,
    /// The places of the subrequests of the current request, by the numbers of their records.
    pub(super) subrequests: RefCell<Vec<(u64, Rc<Located>)>>,
}

/// What tells one merged set of settings from another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct PlaceKey {
    pub host: u16,
    pub sections: Vec<u16>,
    pub script: bool,
    /// The `.htaccess` files that apply, as they came.
    pub overrides: Vec<u8>,
    /// What the file's extensions say, where no SetHandler says it.
    pub handler: Option<Handler>,
}

impl PlaceKey {
    /// Of the place that the front has found.
    pub fn of(frame: &Frame) -> PlaceKey {
        PlaceKey {
            host: frame.host(),
            sections: frame.sections().collect(),
            script: frame.flags().has(Flags::SCRIPT),
            overrides: frame.field(Field::Overrides).to_vec(),
            handler: None,
        }
    }
}

/// A location's settings, with the Perl that they name found.
pub(super) struct Located {
    pub settings: Settings,
    pub place: Rc<apache::Place>,
    pub app: Option<Rc<Code>>,
    /// The handlers of each phase, found when they are first needed.
    handlers: [OnceCell<Vec<Code>>; Phase::ALL.len()],
}

impl Located {
    /// The names of a phase's handlers.
    pub fn names(&self, phase: Phase) -> &[String] {
        match phase {
            Phase::Handler => &self.settings.perl_handlers,
            Phase::Cleanup => &self.settings.cleanup_handlers,
            phase => self.settings.phases.of(phase),
        }
    }
}

impl Site {
    /// Boots Perl and does the configuration's start-up steps, in the order of the file.
    pub fn load(config: Config, facts: &Facts) -> anyhow::Result<Site> {
        log::set_level(config.log_level);
        let perl = start_up::boot(&config, facts)?;
        let mut apps = HashMap::new();
        for step in &config.start_up {
            start_up::take(&perl, &config, step, &mut apps).map_err(|e| anyhow!(start_up::mistake(step, &e)))?;
        }
        let mod_perl = start_up::speaks_mod_perl(&config, facts);
        let pushed = if mod_perl { Some(perl.resolve_handler("Apache::Phases::run")?) } else { None };
        let start_env = perl.env_base();
        let site = Site {
            perl,
            mod_perl,
            config: Rc::new(config),
            apps: RefCell::new(apps),
            places: RefCell::default(),
            start_env,
            told: Default::default(),
            error_logs: RefCell::default(),
            leave: Cell::new(false),
            psgi_cleanup: Cell::new(false),
            pushed,
            subrequests: RefCell::default(),
            users: Users::default(),
            opener: Opener::default(),
            texts: Texts::default(),
            registry: OnceCell::new(),
        };
        if facts.check {
            site.find_handlers()?;
        }
        if facts.reload {
            site.run_phase(Phase::Restart);
        }
        site.perl.call(c"Cameleer::started", None)?;
        site.perl.call(c"Cameleer::StartUp::end", None)?;
        Ok(site)
    }

    /// Every handler that the configuration names. A dispatcher may have ideas of its own about what names mean.
    fn find_handlers(&self) -> anyhow::Result<()> {
        if self.config.sections.iter().any(|section| section.said.phases.dispatch.is_some()) {
            return Ok(());
        }
        for (at, name) in &self.config.handlers {
            let missing = |error| ConfigError {
                at: Some(at.clone()),
                message: format!("{name}: {error}: correct the name, or add its folder with PerlLib"),
            };
            self.perl.resolve_handler(name).map_err(missing)?;
        }
        Ok(())
    }

    /// What clients are told that the server is.
    pub fn software(&self) -> String {
        self.config.tokens.header(apache::MOD_PERL, &apache::version_components())
    }

    /// Tells Perl code whom the front serves.
    pub fn remember_master(&self, master: u32) {
        if self.mod_perl
            && let Err(error) = self.perl.call(c"Cameleer::set_master", Some(&master.to_string()))
        {
            apache::say(apache::Level::Error, &error.to_string());
        }
    }

    /// A worker of its own: it does not use what the start-up steps left open, which its siblings have too.
    pub fn is_forked(&self) {
        self.perl.after_fork();
        if let Err(error) = self.perl.call(c"Cameleer::StartUp::forked", None) {
            apache::say(apache::Level::Error, &format!("after the fork: {error}"));
        }
    }

    /// Runs what the configuration and the application want done in a fresh worker, or before one ends.
    pub fn run_phase(&self, phase: Phase) {
        let base = self.config.hosts.first().map_or(0, |host| usize::from(host.base));
        let configured = self.config.sections.get(base).map_or(&[][..], |section| section.said.phases.of(phase));
        for name in configured {
            let run = self.perl.resolve_handler(name).and_then(|code| self.perl.call_handler(&code, 0));
            complain(phase, run.map(drop));
        }
        if self.mod_perl {
            complain(phase, self.perl.call(c"Apache::Phases::run_of_process", Some(phase.name())));
        }
    }

    /// The worker ends: its handlers, then END blocks.
    pub fn child_exit(&self) {
        self.run_phase(Phase::ChildExit);
        self.perl.end(false);
    }

    /// The settings for a frame's sections and file, merged and looked up once per worker.
    pub(super) fn located(&self, key: PlaceKey, file: &[u8]) -> Result<Rc<Located>, Interrupted> {
        let located = self.located_by(&key)?;
        match located.settings.handler_of(Path::new(OsStr::from_bytes(file))).cloned() {
            Some(handler) => self.located_by(&PlaceKey { handler: Some(handler), ..key }),
            None => Ok(located),
        }
    }

    fn located_by(&self, key: &PlaceKey) -> Result<Rc<Located>, Interrupted> {
        if let Some(located) = self.places.borrow().get(key) {
            return Ok(located.clone());
        }
        let located = Rc::new(self.locate(key)?);
        let mut places = self.places.borrow_mut();
        // Every edit of a `.htaccess` file makes new places.
        if places.len() >= MAX_PLACES {
            places.clear();
        }
        places.insert(key.clone(), located.clone());
        Ok(located)
    }

    fn locate(&self, key: &PlaceKey) -> Result<Located, Interrupted> {
        let mut settings = self.settings(key)?;
        if let Some(handler) = &key.handler {
            settings = settings.with_handler(handler);
        }
        let app = match settings.handler {
            Handler::Psgi => Some(self.app(&settings)?),
            _ => None,
        };
        let start_env = self.start_env.clone();
        let place = apache::Place {
            start_env,
            sections: key.sections.clone(),
            types: self.types_of(&settings),
            ..place(&self.config, key.host, &settings)
        };
        let mut located = Located { settings, place: Rc::default(), app, handlers: Default::default() };
        let phases = Phase::ALL.map(|phase| (phase.name(), located.names(phase).to_vec())).to_vec();
        located.place = Rc::new(apache::Place { phases, ..place });
        Ok(located)
    }

    fn types_of(&self, settings: &Settings) -> apache::TypeOf {
        let (config, settings) = (self.config.clone(), settings.clone());
        apache::TypeOf::new(move |name| mime::describe(&config, &settings, Path::new(OsStr::from_bytes(name))).mime)
    }

    /// The handlers of a phase.
    pub(super) fn handlers<'a>(&self, located: &'a Located, phase: Phase) -> Result<&'a [Code], Interrupted> {
        let known = &located.handlers[phase as usize];
        if let Some(handlers) = known.get() {
            return Ok(handlers);
        }
        let dispatcher = located.settings.phases.dispatch.as_deref();
        let resolve = |name: &String| match dispatcher {
            Some(dispatcher) => self.perl.resolve_handler(&format!("{dispatcher}\0{name}")),
            None => self.perl.resolve_handler(name),
        };
        let handlers = located.names(phase).iter().map(resolve).collect::<Result<_, _>>()?;
        Ok(known.get_or_init(|| handlers))
    }

    /// Who answers for CGI scripts.
    pub(super) fn registry(&self) -> Result<&Code, Interrupted> {
        if let Some(known) = self.registry.get() {
            return Ok(known);
        }
        let registry = self.perl.resolve_handler("Apache::Registry")?;
        Ok(self.registry.get_or_init(|| registry))
    }

    fn settings(&self, key: &PlaceKey) -> Result<Settings, Interrupted> {
        let files = overrides::files(&self.config, key).map_err(|error| Interrupted::Died(error.to_string()))?;
        for step in files.iter().flat_map(|file| &file.start_up) {
            let mut loaded = HashMap::new();
            start_up::take(&self.perl, &self.config, step, &mut loaded)?;
            self.apps.borrow_mut().extend(loaded);
        }
        Ok(self.config.settings_of(&Applied { sections: key.sections.clone(), files }, key.script))
    }

    /// The application of a place, also of one where only Perl code says `$r->handler('psgi')`.
    pub(super) fn app_of(&self, located: &Located) -> Result<Rc<Code>, Interrupted> {
        located.app.as_ref().map_or_else(|| self.app(&located.settings), |app| Ok(app.clone()))
    }

    fn app(&self, settings: &Settings) -> Result<Rc<Code>, Interrupted> {
        let Some(app) = &settings.psgi_app else {
            return Err(Interrupted::Died("SetHandler psgi without a PsgiApp".into()));
        };
        if let Some(code) = self.apps.borrow().get(app) {
            return Ok(code.clone());
        }
        let code = Rc::new(start_up::load_app(&self.perl, app)?);
        self.apps.borrow_mut().insert(app.clone(), code.clone());
        Ok(code)
    }
}

fn complain(phase: Phase, result: Result<(), Interrupted>) {
    if let Err(error) = result {
        apache::say(apache::Level::Error, &format!("{}: {error}", phase.name()));
    }
}

/// Merged settings that a worker keeps.
const MAX_PLACES: usize = 4096;

/// What `Apache::Server` shows of a host, whatever the location.
pub(super) fn server(config: &Config, host: u16) -> apache::Place {
    let bases: Vec<u16> =
        [0, usize::from(host)].iter().filter_map(|at| config.hosts.get(*at)).map(|h| h.base).collect();
    place(config, host, &config.settings(if host == 0 { &bases[..1] } else { &bases }, false))
}

pub(super) fn place(config: &Config, host: u16, settings: &Settings) -> apache::Place {
    let server = config.hosts.get(usize::from(host)).or(config.hosts.first());
    apache::Place {
        document_root: server.map(|h| h.document_root.to_string_lossy().into_owned()).unwrap_or_default(),
        server_root: config.server_root.to_string_lossy().into_owned(),
        server_name: server.and_then(|h| h.server_name.clone()).unwrap_or_default(),
        server_admin: server.and_then(|h| h.server_admin.clone()).unwrap_or_default(),
        set_vars: settings.set_vars.clone(),
        set_env: settings.set_env.clone(),
        send_header: settings.send_header || settings.handler == Handler::CgiScript,
        setup_env: settings.setup_env,
        options: option_bits(&settings.options),
        timeout: config.timeouts.client.as_secs() as u32,
        names: server.map(|h| h.server_aliases.clone()).unwrap_or_default(),
        error_log: error_log(config),
        log_level: apache::Level::from_number(config.log_level as u32),
        location: settings.mount.clone(),
        handler: match settings.handler {
            Handler::Default => None,
            Handler::PerlScript => Some("perl-script"),
            Handler::CgiScript => Some("cgi-script"),
            Handler::Psgi => Some("psgi"),
        },
        dispatcher: settings.phases.dispatch.clone(),
        server_software: config.tokens.software(apache::MOD_PERL, &apache::version_components()),
        names_components: config.tokens.names_components(),
        server_port: server.and_then(|h| h.server_port),
        listen_port: listen_port(config),
        host,
        is_virtual: host != 0,
        auth_type: settings.access.auth_type.clone(),
        auth_name: settings.access.auth_name.clone(),
        satisfies: match settings.access.satisfy {
            None => apache::Satisfies::NoSpec,
            Some(Satisfy::All) => apache::Satisfies::All,
            Some(Satisfy::Any) => apache::Satisfies::Any,
        },
        requires: settings.access.requires.iter().map(requirement).collect(),
        default_type: settings.default_type.clone().unwrap_or_else(|| "text/html".into()),
        log_cpu: logged(config, host, 'x').iter().any(|name| name.ends_with("cpu_us")),
        log_notes: logged(config, host, 'n'),
        log_env: logged(config, host, 'e'),
        ..Default::default()
    }
}

/// `$r->allow_options`, with httpd's numbers.
fn option_bits(options: &Options) -> i64 {
    let bits = [
        (options.indexes, 1),
        (options.follow_sym_links, 4),
        (options.exec_cgi, apache::OPT_EXECCGI),
        (options.sym_links_if_owner_match, 64),
    ];
    bits.into_iter().map(|(is_on, bit)| i64::from(is_on) * bit).sum()
}

fn error_log(config: &Config) -> String {
    match &config.error_log {
        LogTarget::Standard => String::new(),
        LogTarget::File(file) => file.to_string_lossy().into_owned(),
        LogTarget::Pipe(command) => format!("|{command}"),
    }
}

fn requirement(line: &Requirement) -> apache::Requirement {
    apache::Requirement {
        method_mask: line.methods.mask(),
        text: line.text.clone(),
        of_user: crate::access::is_about_users(&line.what),
    }
}

fn listen_port(config: &Config) -> u16 {
    let tcp = config.listen.iter().find_map(|listen| match listen {
        Listen::Tcp(address) => Some(address.port()),
        Listen::Unix(_) => None,
    });
    tcp.unwrap_or(80)
}

/// The names in `%{…}n`, `%{…}e` or `%{…}x` of the host's access logs: what only the worker knows and the front writes.
fn logged(config: &Config, host: u16, letter: char) -> Vec<String> {
    let item = regex::Regex::new(r"%[!0-9,<>]*\{([^}]*)\}([a-zA-Z])");
    let formats = config.hosts.get(usize::from(host)).map_or(&[][..], |host| &host.access_logs);
    let (Ok(item), true) = (item, !formats.is_empty()) else { return Vec::new() };
    let items = formats.iter().flat_map(|log| item.captures_iter(&log.format));
    let mut names: Vec<String> =
        items.filter(|found| found[2].starts_with(letter)).map(|found| found[1].to_owned()).collect();
    names.sort();
    names.dedup();
    names
}
