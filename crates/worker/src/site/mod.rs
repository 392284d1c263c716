//! The site's Perl, loaded: the interpreter and the PSGI applications, from the start to the end of a process.

mod htaccess_directives;
mod locations;

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ffi::CStr;
use std::rc::Rc;

use libperl::{Code, Interpreter, Interrupted};

use super::error_logs::ErrorLogs;
use super::location::htaccess_cache::HtaccessCache;
use super::location::{LocationKey, ResolvedLocation};
use super::program_kind::Kinds;
use super::{log_context, place, start_up};
use access::Users;
use base::cache::Cache;
use config::{Config, Facts, Phase, PsgiApp};
use files::open::Opener;
use locations::MAX_LOCATIONS;

/// Everything that a worker needs to answer.
pub struct Site {
    /// The interpreter.
    pub perl: Interpreter,
    /// The configuration of this generation.
    pub config: Rc<Config>,
    /// The Apache:: API is loaded.
    pub(super) mod_perl: bool,
    pub(super) apps: RefCell<HashMap<PsgiApp, Rc<Code>>>,
    pub(super) locations: RefCell<Cache<LocationKey, Rc<ResolvedLocation>, MAX_LOCATIONS>>,
    /// `%ENV` as the start-up steps left it: what every request's begins with.
    pub(super) start_env: Rc<[(Vec<u8>, Vec<u8>)]>,
    /// Of each host.
    pub(super) logged: Vec<Rc<apache::Logged>>,
    pub(super) told: RefCell<HashSet<(Vec<u8>, u32)>>,
    /// Descriptor 2, whose log it is.
    pub(super) error_logs: RefCell<ErrorLogs>,
    /// The application asked this worker to leave (`psgix.harakiri.commit`).
    pub(super) leave: Cell<bool>,
    /// Perl has died in a request since this was last asked.
    pub(super) died: Cell<bool>,
    /// Perl code has left or asked for something that is due in a fresh worker.
    concerns_workers: Cell<bool>,
    /// `psgix.cleanup.handlers` wait for the response to be sent.
    pub(super) psgi_cleanup: Cell<bool>,
    /// Whose passwords were right.
    pub(super) users: Users,
    /// How many sections of `.htaccess` files Perl modules have been told of.
    pub(super) told_sections: Cell<u32>,
    /// Opens files that become parts of answers.
    pub(super) opener: Opener,
    /// The `.htaccess` files that requests have come to inside this process.
    pub(super) htaccess_cache: HtaccessCache,
    registry: OnceCell<Code>,
    /// Which files the kernel executes, and no worker compiles.
    pub(super) kinds: Kinds,
    /// Runs the handlers that Perl code pushed.
    pub(super) pushed: Option<Code>,
    /// The places of the subrequests of the current request, by the numbers of their records.
    pub(super) subrequests: RefCell<Vec<(u64, Rc<ResolvedLocation>)>>,
    /// The request whose phase runs, and where.
    pub(super) running: RefCell<Option<(u64, Rc<ResolvedLocation>)>>,
    /// How many phases that Perl code runs itself are in one another.
    pub(super) hooks_under_way: Cell<u8>,
    /// The places that requests' own Perl code has made of theirs, by the numbers of their records.
    pub(super) renewals: RefCell<Vec<(u64, Rc<ResolvedLocation>)>>,
}

impl Site {
    /// Boots Perl and does the configuration's start-up steps, in the order of the file.
    pub fn load(mut config: Config, facts: &Facts) -> anyhow::Result<Site> {
        config.apply_log_levels(None);
        let perl = start_up::boot(&config, facts)?;
        let start_up::Loaded { apps, fatal } = start_up::take_all(&perl, &config, facts.check)?;
        let mod_perl = start_up::speaks_mod_perl(&config, facts);
        let pushed = if mod_perl { Some(perl.resolve_handler("Apache::Phases::run")?) } else { None };
        let start_env: Rc<[_]> = perl.env_base().into();
        start_up::take_over_env(&mut config, &start_env);
        let site = Site {
            perl,
            mod_perl,
            logged: place::logged(&config),
            config: Rc::new(config),
            apps: RefCell::new(apps),
            locations: RefCell::default(),
            start_env,
            told: Default::default(),
            error_logs: RefCell::default(),
            leave: Cell::new(false),
            died: Cell::new(false),
            concerns_workers: Cell::new(true),
            psgi_cleanup: Cell::new(false),
            pushed,
            subrequests: RefCell::default(),
            running: RefCell::default(),
            hooks_under_way: Cell::new(0),
            renewals: RefCell::default(),
            told_sections: Cell::new(0),
            users: Users::default(),
            opener: Opener::default(),
            htaccess_cache: HtaccessCache::default(),
            registry: OnceCell::new(),
            kinds: Kinds::with_fatal(fatal),
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

    /// What clients are told that the server is.
    pub fn software(&self) -> String {
        self.config.tokens.header(apache::api().mod_perl(), self.mod_perl, &apache::version_components())
    }

    /// Who answers for CGI scripts.
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

    /// In a process that only forks from now on. What each worker would find out, and say to Perl, in the same words is done here once: every
    /// sub that a worker calls makes pages its own.
    pub fn before_forks(&self) {
        self.remember_master(nix::unistd::getppid().as_raw().cast_unsigned());
        let concerns = self.perl.ask(c"Cameleer::StartUp::concerns_workers", "");
        self.concerns_workers.set(concerns.map_or(true, |said| !said.is_empty()));
        self.perl.before_forks();
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
        if self.concerns_workers.get() {
            self.call_start_up(c"Cameleer::StartUp::forked", "after the fork");
        }
    }

    /// From now on this process answers requests; whose they are, the log says.
    pub fn answers_here(self: &Rc<Self>) {
        log_context::begin();
        apache::engine_is(self.clone());
        libperl::deadline_signal(sys::deadline_signal());
    }

    /// The requests of a warm-up are about to be answered.
    pub fn begin_warm_up(&self) {
        self.call_start_up(c"Cameleer::StartUp::begin_warm_up", "before the warm-up");
    }

    /// It has: what they have connected is not for the workers.
    pub fn end_warm_up(&self) {
        self.call_start_up(c"Cameleer::StartUp::end_warm_up", "after the warm-up");
        self.died.set(false);
        self.perl.before_promotion();
        self.perl.is_promoted();
    }

    fn call_start_up(&self, sub: &'static CStr, when: &str) {
        if let Err(error) = self.perl.call(sub, None) {
            apache::say(apache::Level::Error, &format!("{when}: {error}"));
        }
    }

    /// Runs what the configuration and the application want done in a fresh worker, or before one ends.
    pub fn run_phase(&self, phase: Phase) {
        if apache::api() == apache::Api::Two {
            return complain(phase, self.run_with_pools(phase));
        }
        let main = self.config.bases().find(|(host, _)| *host == 0).map(|(_, base)| usize::from(base));
        let main = main.and_then(|base| self.config.sections.get(base));
        let configured = main.map_or(&[][..], |section| section.said.phases.of(phase));
        for name in configured {
            let run = self.perl.resolve_handler(name).and_then(|code| self.perl.call_handler(&code, 0));
            complain(phase, run.map(drop));
        }
        let is_due = phase != Phase::ChildInit || self.concerns_workers.get() || !configured.is_empty();
        if self.mod_perl && is_due {
            complain(phase, self.perl.call(c"Apache::Phases::run_of_process", Some(phase.name())));
        }
    }

    /// mod_perl 2 hands such handlers pools and the server.
    fn run_with_pools(&self, phase: Phase) -> Result<(), Interrupted> {
        let mut words = phase.name().to_owned();
        for (number, base) in self.config.bases() {
            let Some(section) = self.config.sections.get(usize::from(base)) else { continue };
            section.said.phases.of(phase).iter().for_each(|name| words.push_str(&format!("\0{number}\0{name}")));
        }
        self.perl.call(c"Cameleer::ModPerl2::run_of_process", Some(&words))
    }

    /// mod_perl 2's phases of the start: one that fails ends it.
    fn begin_second_generation(&self) -> Result<(), Interrupted> {
        [Phase::OpenLogs, Phase::PostConfig].into_iter().try_for_each(|phase| self.run_with_pools(phase))?;
        self.check_filters()
    }

    /// Filters are loaded before the fork; one that cannot be had, or is of another kind, ends the start.
    fn check_filters(&self) -> Result<(), Interrupted> {
        let ours = self.config.sections.iter().filter(|section| section.pool == self.config.own_pool);
        for filters in ours.map(|section| &section.said.perl_filters) {
            for (way, names) in [("output", &filters.output), ("input", &filters.input)] {
                if !names.is_empty() {
                    let words = format!("{way}\0{}", names.join("\0"));
                    self.perl.call(c"Cameleer::ModPerl2::check_filters", Some(&words))?;
                }
            }
        }
        Ok(())
    }

    /// The worker ends: its handlers, then END blocks, then its connections to databases, then its objects.
    pub fn child_exit(&self) {
        self.run_phase(Phase::ChildExit);
        self.perl.end(false);
        self.end_objects();
    }

    /// The mold ends: what start-up code has made goes with the process that ran it.
    pub fn end_of_mold(&self) {
        self.perl.end_soon();
        self.end_objects();
    }

    fn end_objects(&self) {
        self.call_start_up(c"Cameleer::StartUp::leave", "at the end");
        self.perl.end_objects();
    }
}

fn complain(phase: Phase, result: Result<(), Interrupted>) {
    if let Err(error) = result {
        apache::say(apache::Level::Error, &format!("{}: {error}", phase.name()));
    }
}
