//! The resolved locations of CGI programs, cached per process.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use wire::control::{PoolNumber, ProgramFacts};
use wire::frame::{Field, Frame};

use super::pool_view::PoolView;
use crate::location::{LocationKey, handler_of_file, htaccess};
use crate::place::{aliases_of, document_roots_of, place, types_of};
use base::cache::BoundedCache;
use config::{Applied, Config, Settings};

/// Maximum number of merged settings that a process caches; every edit of a `.htaccess` file makes new ones.
const MAX_SETTINGS: usize = 512;

/// A location's settings, as the API takes them.
pub struct ProgramLocation {
    pub settings: Rc<Settings>,
    pub place: Rc<apache::PlaceConfig>,
    pub view: Rc<PoolView>,
}

pub struct ProgramLocations {
    config: Rc<Config>,
    views: RefCell<BTreeMap<PoolNumber, Rc<PoolView>>>,
    known: RefCell<BoundedCache<LocationKey, Rc<ProgramLocation>, MAX_SETTINGS>>,
}

impl ProgramLocations {
    pub fn new(config: Rc<Config>) -> ProgramLocations {
        ProgramLocations { config, views: RefCell::default(), known: RefCell::default() }
    }

    /// Applies the facts that the code of a pool has set.
    pub fn learn(&self, pool: PoolNumber, facts: ProgramFacts) {
        let view = PoolView::new(&self.config, pool, facts);
        self.views.borrow_mut().insert(pool, Rc::new(view));
        self.known.borrow_mut().clear();
    }

    /// The location of a request, by its sections and its file.
    pub fn of(&self, frame: &Frame) -> Result<Rc<ProgramLocation>, String> {
        let key = LocationKey::of(frame);
        let location = self.by_key(&key)?;
        match handler_of_file(&self.config, &location.settings, frame.field(Field::Filename)) {
            Some(handler) => self.by_key(&LocationKey { handler: Some(handler), ..key }),
            None => Ok(location),
        }
    }

    fn by_key(&self, key: &LocationKey) -> Result<Rc<ProgramLocation>, String> {
        if let Some(location) = self.known.borrow_mut().get(key) {
            return Ok(location.clone());
        }
        let location = Rc::new(self.resolve(key)?);
        self.known.borrow_mut().put(key.clone(), location.clone());
        Ok(location)
    }

    fn resolve(&self, key: &LocationKey) -> Result<ProgramLocation, String> {
        let files = htaccess::files(&self.config, key).map_err(|error| error.to_string())?;
        let applied = Applied { sections: key.sections.clone(), files };
        let view = self.view(self.config.settings_of(&applied, key.script).pool);
        let mut settings = view.config.settings_of(&applied, key.script);
        if let Some(handler) = &key.handler {
            settings = settings.with_handler(handler);
        }
        if !key.forced.is_none() {
            settings = settings.forced(&key.forced);
        }
        let settings = Rc::new(settings);
        apache::speak(view.api);
        let place = apache::PlaceConfig {
            start_env: view.start_env.clone(),
            logged: view.logged.get(usize::from(key.host)).cloned().unwrap_or_default(),
            types: types_of(view.config.clone(), settings.clone()),
            aliases: aliases_of(view.config.clone(), key.host),
            document_root_in: document_roots_of(view.config.clone(), key.host),
            server_software: view.software.clone(),
            ..place(&view.config, key.host, &settings)
        };
        Ok(ProgramLocation { settings, place: Rc::new(place), view })
    }

    fn view(&self, pool: PoolNumber) -> Rc<PoolView> {
        let mut views = self.views.borrow_mut();
        views.entry(pool).or_insert_with(|| Rc::new(PoolView::new(&self.config, pool, ProgramFacts::default()))).clone()
    }
}
