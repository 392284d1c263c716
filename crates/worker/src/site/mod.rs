//! The site's loaded Perl: the interpreter and the PSGI applications, from the start to the end of a process.

pub mod handler_calls;
mod htaccess_directives;
pub mod locations;
pub mod paths;
mod psgi_state;
mod request_locations;
mod restoration;

use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::CStr;
use std::rc::Rc;

use libperl::{Code, Interpreter, Interrupted};
use wire::control::ProgramFacts;

use self::handler_calls::HandlerCalls;
use self::locations::Locations;
use self::paths::PathTranslation;
use self::psgi_state::PsgiState;
use self::request_locations::RequestLocations;
use self::restoration::Restoration;
use super::error_logs::StderrLogs;
use super::program::kind::Kinds;
use super::{log_context, start_up};
use access::Users;
use config::{Config, Facts, Phase};
use files::open::Opener;

/// State that a worker needs to answer requests.
pub struct Site {
    /// The interpreter of this process.
    pub perl: Rc<Interpreter>,
    /// The configuration of this generation.
    pub config: Rc<Config>,
    /// Whether the Apache:: API is loaded.
    pub(super) mod_perl: bool,
    /// Maps a location's key to its settings and its Perl code.
    pub(super) locations: Locations,
    /// Maps paths to files and keys of locations.
    pub(super) paths: PathTranslation,
    pub(super) calls: HandlerCalls,
    pub(super) under_way: RequestLocations,
    pub(super) psgi: PsgiState,
    pub(super) restoration: Restoration,
    /// Logs that descriptor 2 switches between.
    pub(super) error_logs: RefCell<StderrLogs>,
    /// Whether start-up code needs a call in each fresh worker.
    concerns_workers: Cell<bool>,
    /// Caches of password files and of verified passwords.
    pub(super) users: Users,
    /// Opens files that become parts of responses.
    pub(super) opener: Opener,
    registry: OnceCell<Code>,
    /// Cache of the files that the kernel executes rather than a worker compiling them.
    pub(super) kinds: Kinds,
}

impl Site {
    /// Boots Perl and runs the configuration's start-up steps, in the order of the file.
    pub fn load(config: Config, facts: &Facts) -> anyhow::Result<Site> {
        let perl = start_up::boot_and_prepare(&config, facts)?;
        Site::load_in(perl, config, facts)
    }

    /// Runs the configuration's start-up steps in a Perl that was booted for this configuration.
    pub fn load_in(perl: Interpreter, mut config: Config, facts: &Facts) -> anyhow::Result<Site> {
        config.apply_log_levels(None);
        let perl = Rc::new(perl);
        let start_up::Loaded { apps, fatal } = start_up::take_all(&perl, &config, facts.check)?;
        let mod_perl = start_up::speaks_mod_perl(&config, facts);
        let calls = HandlerCalls::new(perl.clone(), mod_perl)?;
        let start_env: Rc<[_]> = perl.env_base().into();
        start_up::take_over_env(&mut config, &start_env);
        let config = Rc::new(config);
        let site = Site {
            mod_perl,
            locations: Locations::new(perl.clone(), config.clone(), start_env, apps),
            paths: PathTranslation::new(config.clone()),
            calls,
            under_way: RequestLocations::default(),
            psgi: PsgiState::default(),
            restoration: Restoration::new(perl.clone()),
            error_logs: RefCell::default(),
            concerns_workers: Cell::new(true),
            users: Users::default(),
            opener: Opener::default(),
            registry: OnceCell::new(),
            kinds: Kinds::with_fatal(fatal),
            perl,
            config,
        };
        if apache::api() == apache::Api::Two {
            site.begin_second_generation()?;
        } else if facts.reload {
            site.run_phase(Phase::Restart);
        }
        site.perl.call(c"Cameleer::started", None)?;
        site.perl.call(c"Cameleer::StartUp::end", None)?;
        Ok(site)
    }

    /// The server software as sent to clients.
    pub fn software(&self) -> String {
        self.config.tokens.header(apache::api().mod_perl(), self.mod_perl, &apache::version_components())
    }

    /// Facts of the loaded code for CGI programs.
    pub fn program_facts(&self) -> ProgramFacts {
        start_up::program_facts(&self.config, self.locations.start_env())
    }

    /// The handler of CGI scripts.
    pub(super) fn registry(&self) -> Result<&Code, Interrupted> {
        if let Some(known) = self.registry.get() {
            return Ok(known);
        }
        let registry = match apache::api() {
            apache::Api::One => self.perl.resolve_handler("Apache::Registry")?,
            apache::Api::Two => self.perl.resolve_handler("ModPerl::Registry")?,
        };
        Ok(self.registry.get_or_init(|| registry))
    }

    /// Prepares a process that only forks from now on. Work that would be the same in every worker is done here once:
    /// each sub that a worker calls unshares pages.
    pub fn before_forks(&self) {
        self.remember_master(nix::unistd::getppid().as_raw().cast_unsigned());
        let concerns = self.perl.call_for_text(c"Cameleer::StartUp::concerns_workers", "");
        self.concerns_workers.set(concerns.map_or(true, |names| !names.is_empty()));
        self.perl.before_forks();
    }

    /// Sets the master's pid for Perl code.
    pub fn remember_master(&self, master: u32) {
        if self.mod_perl
            && let Err(error) = self.perl.call(c"Cameleer::set_master", Some(&master.to_string()))
        {
            apache::log_line(apache::Level::Error, &error.to_string());
        }
    }

    /// Prepares a forked worker. Connections opened by start-up steps are shared with its siblings, so the worker
    /// must not use them.
    pub fn is_forked(&self) {
        self.perl.after_fork();
        if self.concerns_workers.get() {
            call_start_up(&self.perl, c"Cameleer::StartUp::forked", "after the fork");
        }
    }

    /// Prepares this process to answer requests: log context, API engine and deadline signal.
    pub fn answers_here(self: &Rc<Self>) {
        log_context::begin();
        apache::engine_is(self.clone());
        libperl::deadline_signal(sys::deadline_signal());
    }

    /// Called before the warm-up's requests.
    pub fn begin_warm_up(&self) {
        call_start_up(&self.perl, c"Cameleer::StartUp::begin_warm_up", "before the warm-up");
    }

    /// Called after the warm-up's requests: connections that they opened are not for the workers.
    pub fn end_warm_up(&self) {
        call_start_up(&self.perl, c"Cameleer::StartUp::end_warm_up", "after the warm-up");
        self.calls.take_died();
        self.perl.before_promotion();
        self.perl.is_promoted();
    }

    /// Runs the handlers of a process phase, in a fresh worker or before its end.
    pub fn run_phase(&self, phase: Phase) {
        if apache::api() == apache::Api::Two {
            return log_error(phase, self.run_with_pools(phase));
        }
        let main = self.config.bases().find(|(host, _)| *host == 0).map(|(_, base)| usize::from(base));
        let main = main.and_then(|base| self.config.sections.get(base));
        let configured = main.map_or(&[][..], |section| section.own.phases.of(phase));
        for name in configured {
            let run = self.perl.resolve_handler(name).and_then(|code| self.perl.call_handler(&code, 0));
            log_error(phase, run.map(drop));
        }
        let is_due = phase != Phase::ChildInit || self.concerns_workers.get() || !configured.is_empty();
        if self.mod_perl && is_due {
            log_error(phase, self.perl.call(c"Apache::Phases::run_of_process", Some(phase.name())));
        }
    }

    /// Runs process handlers of mod_perl 2, which get pools and the server as arguments.
    fn run_with_pools(&self, phase: Phase) -> Result<(), Interrupted> {
        let mut words = phase.name().to_owned();
        for (number, base) in self.config.bases() {
            let Some(section) = self.config.sections.get(usize::from(base)) else { continue };
            section.own.phases.of(phase).iter().for_each(|name| words.push_str(&format!("\0{number}\0{name}")));
        }
        self.perl.call(c"Cameleer::ModPerl2::run_of_process", Some(&words))
    }

    /// Runs mod_perl 2's start-up phases. A failure ends the start.
    fn begin_second_generation(&self) -> Result<(), Interrupted> {
        [Phase::OpenLogs, Phase::PostConfig].into_iter().try_for_each(|phase| self.run_with_pools(phase))?;
        self.check_filters()
    }

    /// Loads filters before the fork. A filter that cannot be loaded or is of the wrong kind ends the start.
    fn check_filters(&self) -> Result<(), Interrupted> {
        let ours = self.config.sections.iter().filter(|section| section.pool == self.config.own_pool);
        for filters in ours.map(|section| &section.own.perl_filters) {
            for (way, names) in [("output", &filters.output), ("input", &filters.input)] {
                if !names.is_empty() {
                    let words = format!("{way}\0{}", names.join("\0"));
                    self.perl.call(c"Cameleer::ModPerl2::check_filters", Some(&words))?;
                }
            }
        }
        Ok(())
    }

    /// Ends a worker: ChildExit handlers, END blocks, database connections, then objects.
    pub fn child_exit(&self) {
        self.run_phase(Phase::ChildExit);
        self.perl.end(false);
        self.end_objects();
    }

    /// Ends a mold: its objects are destroyed in the process that ran the start-up code.
    pub fn end_of_mold(&self) {
        self.perl.end_soon();
        self.end_objects();
    }

    fn end_objects(&self) {
        call_start_up(&self.perl, c"Cameleer::StartUp::leave", "at the end");
        self.perl.end_objects();
    }
}

/// Calls start-up code, and logs its error.
fn call_start_up(perl: &Interpreter, sub: &'static CStr, when: &str) {
    if let Err(error) = perl.call(sub, None) {
        apache::log_line(apache::Level::Error, &format!("{when}: {error}"));
    }
}

fn log_error(phase: Phase, result: Result<(), Interrupted>) {
    if let Err(error) = result {
        apache::log_line(apache::Level::Error, &format!("{}: {error}", phase.name()));
    }
}
