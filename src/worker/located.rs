//! What a place means for a request: its merged settings, with the Perl that they name found. Kept per worker.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use libperl::{Code, Interrupted};
use wire::frame::{Field, Flags, Frame};

use super::place::place;
use super::site::Site;
use super::{overrides, start_up};
use crate::config::{Applied, Handler, Phase, Settings};
use crate::mime;

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
    pub settings: Rc<Settings>,
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
        let settings = Rc::new(settings);
        let logged = self.logged.get(usize::from(key.host)).cloned().unwrap_or_default();
        let place = apache::Place {
            start_env: self.start_env.clone(),
            logged,
            sections: key.sections.clone(),
            types: self.types_of(settings.clone()),
            ..place(&self.config, key.host, &settings)
        };
        let mut located = Located { settings, place: Rc::default(), app, handlers: Default::default() };
        let phases = Phase::ALL.map(|phase| (phase.name(), located.names(phase).to_vec())).to_vec();
        located.place = Rc::new(apache::Place { phases, ..place });
        Ok(located)
    }

    fn types_of(&self, settings: Rc<Settings>) -> apache::TypeOf {
        let config = self.config.clone();
        apache::TypeOf::new(move |name| {
            let path = Path::new(OsStr::from_bytes(name));
            if path.is_dir() { Some(FOLDER.to_owned()) } else { mime::describe(&config, &settings, path).mime }
        })
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

/// httpd's type of folders.
const FOLDER: &str = "httpd/unix-directory";
/// Merged settings that a worker keeps.
const MAX_PLACES: usize = 4096;
