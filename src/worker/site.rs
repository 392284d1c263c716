//! The site's Perl, loaded: the interpreter, the PSGI applications, and what each location means for a request.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, anyhow};
use libperl::{Code, Hooks, Interpreter, Interrupted};

use super::overrides;
use crate::config::{
    Applied, Config, Handler, Listen, LogTarget, Options, PerlHtaccess, PsgiApp, Settings, StartUp, Step,
};
use crate::log;

/// What `$ENV{MOD_PERL}` says to modules that ask which generation of the API they have.
const MOD_PERL: &str = "mod_perl/1.31";

/// Everything that a worker needs to answer.
pub struct Site {
    /// The interpreter.
    pub perl: Interpreter,
    /// The configuration of this generation.
    pub config: Rc<Config>,
    /// The Apache:: API is loaded.
    pub(super) mod_perl: bool,
    pub(super) apps: HashMap<PsgiApp, Rc<Code>>,
    pub(super) places: HashMap<PlaceKey, Rc<Located>>,
    /// `%ENV` as the start-up steps left it: what every request's begins with.
    pub(super) start_env: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) told: std::collections::HashSet<(Vec<u8>, u32)>,
    /// The application asked this worker to leave (`psgix.harakiri.commit`).
    pub(super) leave: bool,
    /// `psgix.cleanup.handlers` wait for the response to be sent.
    pub(super) psgi_cleanup: bool,
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

/// A location's settings, with the Perl that they name found.
pub(super) struct Located {
    pub settings: Settings,
    pub place: Rc<apache::Place>,
    pub handlers: Vec<Rc<Code>>,
    pub cleanup_handlers: Vec<Rc<Code>>,
    pub app: Option<Rc<Code>>,
}

impl Site {
    /// Boots Perl and does the configuration's start-up steps, in the order of the file.
    pub fn load(config: Config) -> anyhow::Result<Site> {
        log::set_level(config.log_level);
        let hooks: Hooks = apache::hooks();
        let mut perl = Interpreter::boot(&hooks, Some(apache::xs_init())).map_err(|e| anyhow!(e))?;
        apache::servers((0..config.hosts.len() as u16).map(|host| Rc::new(server(&config, host))).collect());
        let library = perl_library()?;
        prepare(&mut perl, &library, &config)?;
        let mut apps = HashMap::new();
        for step in &config.start_up {
            take(&mut perl, step, &mut apps).map_err(|e| anyhow!("{}: {e}", step.at))?;
        }
        if speaks_mod_perl(&config) {
            perl.call(c"Apache::Server::started", None)?;
        }
        let start_env = perl.env_base();
        Ok(Site {
            perl,
            mod_perl: speaks_mod_perl(&config),
            config: Rc::new(config),
            apps,
            places: HashMap::new(),
            start_env,
            told: Default::default(),
            leave: false,
            psgi_cleanup: false,
        })
    }

    /// Runs what the application wants done in a fresh worker, or before one ends.
    pub fn run_phase(&mut self, phase: &str) {
        if self.mod_perl
            && let Err(error) = self.perl.call(c"Apache::run_handlers", Some(phase))
        {
            apache::say(apache::Level::Error, &format!("{phase}: {error}"));
        }
    }

    /// The worker ends: its handlers, then END blocks.
    pub fn child_exit(mut self) {
        self.run_phase("PerlChildExitHandler");
        self.perl.end(false);
    }

    /// The settings for a frame's sections and file, merged and looked up once per worker.
    pub(super) fn located(&mut self, key: PlaceKey, file: &[u8]) -> Result<Rc<Located>, Interrupted> {
        let located = self.located_by(key.clone())?;
        match located.settings.handler_of(Path::new(OsStr::from_bytes(file))).cloned() {
            Some(handler) => self.located_by(PlaceKey { handler: Some(handler), ..key }),
            None => Ok(located),
        }
    }

    fn located_by(&mut self, key: PlaceKey) -> Result<Rc<Located>, Interrupted> {
        if let Some(located) = self.places.get(&key) {
            return Ok(located.clone());
        }
        // Every edit of a `.htaccess` file makes new places.
        if self.places.len() >= MAX_PLACES {
            self.places.clear();
        }
        let located = Rc::new(self.locate(&key)?);
        self.places.insert(key, located.clone());
        Ok(located)
    }

    fn locate(&mut self, key: &PlaceKey) -> Result<Located, Interrupted> {
        let mut settings = self.settings(key)?;
        if let Some(handler) = &key.handler {
            settings = settings.with_handler(handler);
        }
        let app = match (&settings.handler, &settings.psgi_app) {
            (Handler::Psgi, Some(app)) => Some(self.app(app)?),
            (Handler::Psgi, None) => return Err(Interrupted::Died("SetHandler psgi without a PsgiApp".into())),
            _ => None,
        };
        let names: Vec<String> = match settings.handler {
            Handler::CgiScript => vec!["Apache::Registry".into()],
            Handler::PerlScript => settings.perl_handlers.clone(),
            Handler::Default | Handler::Psgi => Vec::new(),
        };
        let handlers = self.resolve(&names)?;
        let cleanup_handlers = self.resolve(&settings.cleanup_handlers)?;
        let start_env = self.start_env.clone();
        let server_software = apache::server_software();
        let place = apache::Place { start_env, server_software, ..place(&self.config, key.host, &settings) };
        let place = Rc::new(place);
        Ok(Located { settings, place, handlers, cleanup_handlers, app })
    }

    fn settings(&mut self, key: &PlaceKey) -> Result<Settings, Interrupted> {
        let files = overrides::files(&self.config, key).map_err(|error| Interrupted::Died(error.to_string()))?;
        for step in files.iter().flat_map(|file| &file.start_up) {
            take(&mut self.perl, step, &mut self.apps)?;
        }
        Ok(self.config.settings_of(&Applied { sections: key.sections.clone(), files }, key.script))
    }

    fn resolve(&mut self, names: &[String]) -> Result<Vec<Rc<Code>>, Interrupted> {
        names.iter().map(|name| self.perl.resolve_handler(name).map(Rc::new)).collect()
    }

    fn app(&mut self, app: &PsgiApp) -> Result<Rc<Code>, Interrupted> {
        if let Some(code) = self.apps.get(app) {
            return Ok(code.clone());
        }
        let code = Rc::new(load_app(&mut self.perl, app)?);
        self.apps.insert(app.clone(), code.clone());
        Ok(code)
    }
}

/// Merged settings that a worker keeps.
const MAX_PLACES: usize = 4096;

/// What `Apache::Server` shows of a host, whatever the location.
fn server(config: &Config, host: u16) -> apache::Place {
    let bases: Vec<u16> =
        [0, usize::from(host)].iter().filter_map(|at| config.hosts.get(*at)).map(|h| h.base).collect();
    place(config, host, &config.settings(if host == 0 { &bases[..1] } else { &bases }, false))
}

fn place(config: &Config, host: u16, settings: &Settings) -> apache::Place {
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
        server_software: format!("Cameleer/{} {MOD_PERL}", env!("CARGO_PKG_VERSION")),
        server_port: server.and_then(|h| h.server_port),
        listen_port: listen_port(config),
        host,
        is_virtual: host != 0,
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

/// What every start-up step may rely on: our library in `@INC`, `MOD_PERL` set before the first module asks.
fn prepare(perl: &mut Interpreter, library: &Path, config: &Config) -> anyhow::Result<()> {
    let library = library.to_str().context("the Perl library's path is not UTF-8")?.replace(['\\', '\''], "");
    perl.eval(&format!("unshift @INC, '{library}'; require Cameleer; require Cameleer::PSGI;"), file!(), line!())?;
    if speaks_mod_perl(config) {
        perl.call(c"Cameleer::start_mod_perl", Some(MOD_PERL))?;
        for name in &config.defines {
            perl.call(c"Apache::is_defined", Some(name))?;
        }
    } else {
        perl.eval("$ENV{PLACK_SERVER} = 'Cameleer'", file!(), line!())?;
    }
    for (name, value) in main_server_env(config) {
        perl.call(c"Cameleer::set_env", Some(&format!("{name}={value}")))?;
    }
    Ok(())
}

/// `PerlSetEnv` and `PerlPassEnv` outside any container: start-up code sees them too.
fn main_server_env(config: &Config) -> &[(String, String)] {
    let base = config.hosts.first().map_or(0, |host| usize::from(host.base));
    config.sections.get(base).map_or(&[], |section| &section.said.set_env)
}

/// A site without a mod_perl handler is a plain PSGI one: its modules must not believe that they run under mod_perl.
fn speaks_mod_perl(config: &Config) -> bool {
    let by_handler = config.sections.iter().filter_map(|s| s.said.handler.as_ref());
    let overrides = config.allows_overrides() && config.perl_htaccess >= PerlHtaccess::Handlers;
    let scripts = config.hosts.iter().flat_map(|h| &h.aliases).any(|a| a.script);
    let by_extension =
        config.sections.iter().flat_map(|s| s.said.rules.types.handlers()).any(|h| *h != Handler::Default);
    let named = by_handler.into_iter().any(|h| matches!(h, Handler::PerlScript | Handler::CgiScript));
    overrides || scripts || by_extension || named
}

fn take(perl: &mut Interpreter, step: &StartUp, apps: &mut HashMap<PsgiApp, Rc<Code>>) -> Result<(), Interrupted> {
    match &step.step {
        Step::Module(name) => perl.require_module(name),
        Step::Require(file) => perl.require(&file.to_string_lossy()),
        Step::Eval(code) => perl.eval(code, &step.at.file, step.at.line),
        Step::Lib(folder) => perl.call(c"Cameleer::add_library", Some(&folder.to_string_lossy())),
        Step::Psgi(app) => {
            let code = load_app(perl, app)?;
            apps.insert(app.clone(), Rc::new(code));
            Ok(())
        }
        Step::Registry { file, uri } => {
            let both = format!("{uri}\0{}", file.to_string_lossy());
            perl.call(c"Cameleer::preload_script", Some(&both))
        }
    }
}

fn load_app(perl: &mut Interpreter, app: &PsgiApp) -> Result<Code, Interrupted> {
    match app {
        PsgiApp::File(file) => perl.load_psgi(&file.to_string_lossy(), true),
        PsgiApp::Code(code) => perl.load_psgi(code, false),
    }
}

/// Our Perl modules: installed beside the program, or in the source tree that it was built in.
fn perl_library() -> anyhow::Result<PathBuf> {
    let program = std::env::current_exe().context("where this program is")?;
    program
        .ancestors()
        .skip(1)
        .flat_map(|folder| [folder.join("share/cameleer/perl"), folder.join("perl/lib")])
        .find(|folder| folder.join("Cameleer.pm").is_file())
        .with_context(|| {
            format!("no share/cameleer/perl near {}: install the program with its library", program.display())
        })
}
