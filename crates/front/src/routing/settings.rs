//! Merged settings of routes. Many routes have the same sections and `.htaccess` files, and share their settings.

use std::hash::{Hash, Hasher};
use std::path::Path;
use std::rc::Rc;

use config::{Applied, Config, Handler, Settings};
use files::mime;

use super::{Routes, bytes};

/// Maximum number of stored merged settings.
pub(super) const KEPT_SETTINGS: usize = 4096;
/// Estimated bytes of merged settings for each byte of their `.htaccess` files.
const SETTINGS_OF_BYTE: usize = 16;
/// Maximum bytes of all merged settings, as estimated. When it is exceeded, all routes are computed anew.
const MAX_SETTINGS_BYTES: usize = 12 << 20;

/// The key of merged settings: sections, `ScriptAlias`, `.htaccess` files and `AddHandler`'s handler.
pub(super) type Sections = (Vec<u16>, bool, HtaccessTexts, Option<Handler>);

/// Texts of `.htaccess` files, compared by address: the same files have the same address.
#[derive(Clone)]
pub(super) struct HtaccessTexts(Rc<[u8]>);

impl PartialEq for HtaccessTexts {
    fn eq(&self, other: &HtaccessTexts) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || self.0.is_empty() && other.0.is_empty()
    }
}

impl Eq for HtaccessTexts {}

impl Hash for HtaccessTexts {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let address = if self.0.is_empty() { 0 } else { self.0.as_ptr().addr() };
        address.hash(state);
    }
}

/// The origin of a place's settings.
pub(super) struct PlaceOfSettings<'a> {
    pub applied: &'a Applied,
    pub script_alias: bool,
    /// Texts of the `.htaccess` files.
    pub overrides: &'a Rc<[u8]>,
    pub file: &'a Path,
}

impl Routes {
    /// Merged settings of a list of sections; merged once for each list and handler.
    pub(super) fn settings(&self, config: &Config, place: PlaceOfSettings<'_>) -> Rc<Settings> {
        let PlaceOfSettings { applied, script_alias, overrides, file } = place;
        let size = overrides.len() * SETTINGS_OF_BYTE;
        if self.memory.get() + 2 * size > MAX_SETTINGS_BYTES {
            self.forget();
        }
        let made = |settings| {
            self.memory.update(|memory| memory + size);
            Rc::new(settings)
        };
        let mut merged = self.settings.borrow_mut();
        let overrides = HtaccessTexts(overrides.clone());
        let key = (applied.sections.clone(), script_alias, overrides.clone(), None);
        let settings = merged.get_or_put(key, || made(config.settings_of(applied, script_alias)));
        // `x.pl/` may be a folder, or a script with PATH_INFO; only the disk decides.
        let is_folder = bytes(file).ends_with(b"/");
        let Some(handler) = mime::handler(config, &settings, file).filter(|_| !is_folder) else { return settings };
        let key = (applied.sections.clone(), script_alias, overrides, Some(handler.clone()));
        merged.get_or_put(key, || made(settings.with_handler(handler)))
    }
}
