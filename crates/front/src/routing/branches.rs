//! Routes with `<If>` sections, which depend on more than the path.

use std::path::Path;
use std::rc::Rc;

use http::StatusCode;

use super::applicable::applied;
use super::settings::PlaceOfSettings;
use super::{Route, Routes, bytes, redirect};
use base::path::Text;
use config::{Applied, Config};

impl Routes {
    /// The route with these `<If>` sections in place of those that it has.
    pub fn with_branches(&self, config: &Config, route: &Route, branches: Vec<u16>) -> Rc<Route> {
        Rc::new(self.branched(config, route, branches))
    }

    pub(super) fn branched(&self, config: &Config, route: &Route, branches: Vec<u16>) -> Route {
        let sections = [route.plain_sections(), &branches].concat();
        let merged = Applied { sections, files: route.files.to_vec() };
        let (text, path) = (Text::new(bytes(&route.filename)).0, Text::new(&route.path).0);
        let ((settings, redirect), is_unknown) = applied(|| {
            let (script_alias, overrides, file) = (route.script_alias, &route.overrides, Path::new(&text));
            let settings = self.settings(config, PlaceOfSettings { applied: &merged, script_alias, overrides, file });
            let settings = route.forced.as_ref().map_or(settings.clone(), |by| Rc::new(settings.forced(by)));
            let of_host = route.redirect.clone().filter(|answer| answer.of_host);
            let redirect = of_host.or_else(|| redirect::of_place(&settings, &path));
            (settings, redirect)
        });
        let unknown = is_unknown.then_some(StatusCode::INTERNAL_SERVER_ERROR);
        let script_length = if route.resolved { route.script_length } else { settings.script_length(&route.path) };
        Route {
            sections: merged.sections,
            branches: branches.into(),
            settings,
            redirect,
            script_length,
            refusal: route.refusal.or(unknown),
            ..route.clone()
        }
    }
}
