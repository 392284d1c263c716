//! The resolved locations of a site, cached per worker.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use apache::AddedLines;
use base::cache::BoundedCache;
use libperl::{Code, Interpreter, Interrupted};
use wire::control::PoolNumber;

use super::htaccess_directives::ModuleSections;
use crate::location::{LocationKey, ResolvedLocation, handler_of_file, htaccess};
use crate::place::{aliases_of, document_roots_of, logged, place, types_of};
use crate::start_up;
use config::{Applied, Config, Handler, Htaccess, Overrides, Phase, PsgiApp, Settings, StartUpStep};

/// Maximum number of merged settings that a worker caches; every edit of a `.htaccess` file makes new ones.
const MAX_LOCATIONS: usize = 4096;

/// The locations, and what they need of the site.
pub struct Locations {
    perl: Rc<Interpreter>,
    config: Rc<Config>,
    /// `%ENV` after the start-up steps, from which every request starts.
    start_env: Rc<[(Vec<u8>, Vec<u8>)]>,
    /// For each host, the values that its access logs need from the worker.
    logged: Vec<Rc<apache::Logged>>,
    apps: RefCell<HashMap<PsgiApp, Rc<Code>>>,
    resolved: RefCell<BoundedCache<LocationKey, Rc<ResolvedLocation>, MAX_LOCATIONS>>,
    sections: ModuleSections,
}

impl Locations {
    pub(super) fn new(
        perl: Rc<Interpreter>,
        config: Rc<Config>,
        start_env: Rc<[(Vec<u8>, Vec<u8>)]>,
        apps: HashMap<PsgiApp, Rc<Code>>,
    ) -> Locations {
        let logged = logged(&config);
        let sections = ModuleSections::new(perl.clone(), config.clone());
        let (apps, resolved) = (RefCell::new(apps), RefCell::default());
        Locations { perl, config, start_env, logged, apps, resolved, sections }
    }

    /// `%ENV` after the start-up steps.
    pub(super) fn start_env(&self) -> &[(Vec<u8>, Vec<u8>)] {
        &self.start_env
    }

    /// The settings for a frame's sections and file, cached per worker.
    pub fn get(&self, key: LocationKey, file: &[u8]) -> Result<Rc<ResolvedLocation>, Interrupted> {
        let location = self.by_key(&key)?;
        match handler_of_file(&self.config, &location.settings, file) {
            Some(handler) => self.by_key(&LocationKey { handler: Some(handler), ..key }),
            None => Ok(location),
        }
    }

    fn by_key(&self, key: &LocationKey) -> Result<Rc<ResolvedLocation>, Interrupted> {
        // Lines added for one request are not cached.
        if !key.added.is_empty() {
            return Ok(Rc::new(self.resolve(key)?));
        }
        if let Some(location) = self.resolved.borrow_mut().get(key) {
            return Ok(location.clone());
        }
        let location = Rc::new(self.resolve(key)?);
        self.resolved.borrow_mut().put(key.clone(), location.clone());
        Ok(location)
    }

    fn resolve(&self, key: &LocationKey) -> Result<ResolvedLocation, Interrupted> {
        let (mut settings, sections) = self.settings(key)?;
        if let Some(handler) = &key.handler {
            settings = settings.with_handler(handler);
        }
        if !key.forced.is_none() {
            settings = settings.forced(&key.forced);
        }
        let app = match settings.handler {
            Handler::Psgi => Some(self.app(&settings)?),
            _ => None,
        };
        let settings = Rc::new(settings);
        let logged = self.logged.get(usize::from(key.host)).cloned().unwrap_or_default();
        let place = apache::PlaceConfig {
            start_env: self.start_env.clone(),
            logged,
            sections,
            types: types_of(self.config.clone(), settings.clone()),
            aliases: aliases_of(self.config.clone(), key.host),
            document_root_in: document_roots_of(self.config.clone(), key.host),
            ..place(&self.config, key.host, &settings)
        };
        let mut location =
            ResolvedLocation { key: key.clone(), settings, place: Rc::default(), app, handlers: Default::default() };
        let phases = Phase::ALL.iter().map(|phase| (directive_of(*phase), location.names(*phase).to_vec())).collect();
        let early_phases = Phase::Handler.before().fold(0, |bits, phase| bits | 1 << phase as u32);
        location.place = Rc::new(apache::PlaceConfig { phases, early_phases, ..place });
        Ok(location)
    }

    /// The handler number `at` of a phase, resolved on first use.
    pub fn handler<'a>(
        &self,
        location: &'a ResolvedLocation,
        phase: Phase,
        at: usize,
    ) -> Option<Result<&'a Code, Interrupted>> {
        let names = location.names(phase);
        let known = location.handlers[phase as usize].get_or_init(|| names.iter().map(|_| OnceCell::new()).collect());
        let (name, known) = (names.get(at)?, known.get(at)?);
        if let Some(code) = known.get() {
            return Some(Ok(code));
        }
        let found = match location.settings.phases.dispatch.as_deref() {
            Some(dispatcher) => self.perl.resolve_handler(&format!("{dispatcher}\0{name}")),
            None => self.perl.resolve_handler(name),
        };
        Some(found.map(|code| known.get_or_init(|| code)))
    }

    /// The pool whose workers answer at this location. Loads no code.
    pub fn pool_of(&self, key: &LocationKey) -> Result<PoolNumber, String> {
        Ok(self.config.settings_of(&self.applied(key)?, key.script).pool)
    }

    /// The handler of a file at this location. Loads no code.
    pub fn handler_of(&self, key: &LocationKey, file: &[u8]) -> Result<Handler, String> {
        let settings = self.config.settings_of(&self.applied(key)?, key.script);
        Ok(handler_of_file(&self.config, &settings, file).unwrap_or(settings.handler))
    }

    fn applied(&self, key: &LocationKey) -> Result<Applied, String> {
        let files = htaccess::files(&self.config, key).map_err(|error| error.to_string())?;
        let mut applied = Applied { sections: key.sections.clone(), files };
        for lines in &key.added {
            self.config.add(&mut applied, self.read_added(lines)?);
        }
        Ok(applied)
    }

    /// The merged settings, and the numbers by which Perl code identifies the sections.
    fn settings(&self, key: &LocationKey) -> Result<(Settings, Vec<u32>), Interrupted> {
        let applied = self.applied(key).map_err(Interrupted::Died)?;
        for step in applied.files.iter().flat_map(|file| &file.start_up) {
            if matches!(step.step, StartUpStep::Own { .. }) {
                continue;
            }
            let mut loaded = HashMap::new();
            start_up::take(&self.perl, &self.config, step, &mut loaded)?;
            self.apps.borrow_mut().extend(loaded);
        }
        let sections = self.sections.of(key.host, &applied)?;
        Ok((self.config.settings_of(&applied, key.script), sections))
    }

    /// Parses lines that Perl code added for a request, or returns why they are not allowed.
    pub fn read_added(&self, lines: &AddedLines) -> Result<Htaccess, String> {
        let allowed = Overrides::of_numbers(lines.overrides, lines.options);
        self.config.added(&lines.text, allowed, lines.path.as_deref()).map_err(|error| error.to_string())
    }

    /// The PSGI application of a location, loaded on demand if only Perl code sets `$r->handler('psgi')`.
    pub fn app_of(&self, location: &ResolvedLocation) -> Result<Rc<Code>, Interrupted> {
        location.app.as_ref().map_or_else(|| self.app(&location.settings), |app| Ok(app.clone()))
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

    /// The client request is over. Discards the locations if the modules retain data for too many sections.
    pub fn next_request(&self) {
        if self.sections.forget_many() {
            self.resolved.borrow_mut().clear();
        }
    }
}

/// The directive of a phase, as named by the current API.
fn directive_of(phase: Phase) -> &'static str {
    match (phase, apache::api()) {
        (Phase::Handler, apache::Api::Two) => "PerlResponseHandler",
        _ => phase.name(),
    }
}
