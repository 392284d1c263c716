//! Routes that are made from another one: by a rule, or by the file that was found on disk.

use std::path::Path;
use std::rc::Rc;

use http::StatusCode;

use super::applicable::{PathOnDisk, applied};
use super::htaccess::Unread;
use super::{NotYet, Route, Routes, redirect};
use base::path::Text;
use config::Config;
use config::proxy::Passed;

/// A file that was found on disk.
#[derive(Clone, Copy)]
pub struct FoundFile<'a> {
    /// Path of the file, possibly followed by PATH_INFO.
    pub path: &'a [u8],
    pub filename: &'a Path,
    /// Number of bytes of `path` that name the file.
    pub script_length: usize,
}

impl FoundFile<'_> {
    /// Whether path or file differ from the route's.
    fn is_another(&self, route: &Route) -> bool {
        self.path != route.path || self.filename.as_os_str() != route.filename.as_os_str()
    }
}

/// The new path of a route whose file was chosen, and the path as sent.
struct Moved {
    path: Vec<u8>,
    sent: Option<Rc<str>>,
    /// Whether the file is in a folder of `ScriptAlias`, so that it is executed.
    script_alias: bool,
}

impl Routes {
    /// The route after a rule of the host has named a backend.
    pub fn at_backend(&self, config: &Config, route: &Route, backend: Passed) -> Route {
        let (path, sent) = (&Text::new(&route.path), route.sent.as_deref());
        let place = PathOnDisk { host: route.host, path, sent, filename: &route.filename, script_alias: false };
        self.to_backend(config, route, backend, &place)
    }

    /// The route to a server that the client has named. As in httpd, sections, rules and logs have its whole URL in
    /// place of the path.
    pub fn forwarded(&self, config: &Config, route: &Route, to: Passed) -> Route {
        let url = to.url.to_string();
        let (path, filename) = (&Text(url.clone()), &route.filename);
        let place = PathOnDisk { host: route.host, path, sent: None, filename, script_alias: false };
        let found = self.to_backend(config, route, to, &place);
        Route { path: url.into_bytes(), sent: None, script_length: None, ..found }
    }

    fn to_backend(&self, config: &Config, route: &Route, backend: Passed, place: &PathOnDisk<'_>) -> Route {
        let found = self.look_at_backend(config, place, &backend.url);
        Route {
            redirect: redirect::of_place(&found.settings, &place.path.0),
            sections: found.sections,
            branches: Rc::default(),
            settings: found.settings,
            overrides: found.overrides,
            files: found.files,
            refusal: found.refusal,
            until: found.until,
            ambiguous: found.ambiguous,
            ..route.passed_to(backend)
        }
    }

    /// The route after rules have given a path another file. Sections for the original path apply to its replacement,
    /// too.
    pub fn at_file(
        &self,
        config: &Config,
        route: &Route,
        filename: &Path,
        path: Option<Vec<u8>>,
    ) -> Result<Rc<Route>, NotYet> {
        let sent = path.as_ref().map(|_| Rc::from(Text::new(&route.path).0)).or_else(|| route.sent.clone());
        let path = path.unwrap_or_else(|| route.path.clone());
        self.moved(config, route, filename, Moved { path, sent, script_alias: false })
    }

    /// The route after an `Alias` or `ScriptAlias` with an expression has given a path a file.
    pub fn at_alias(
        &self,
        config: &Config,
        route: &Route,
        filename: &Path,
        script_alias: bool,
    ) -> Result<Rc<Route>, NotYet> {
        self.moved(config, route, filename, Moved { path: route.path.clone(), sent: route.sent.clone(), script_alias })
    }

    /// The route of the file that negotiation has chosen for a path.
    pub fn at_variant(
        &self,
        config: &Config,
        route: &Route,
        filename: &Path,
        path: Vec<u8>,
    ) -> Result<Rc<Route>, NotYet> {
        self.moved(config, route, filename, Moved { path, sent: route.sent.clone(), script_alias: route.script_alias })
    }

    fn moved(&self, config: &Config, route: &Route, filename: &Path, to: Moved) -> Result<Rc<Route>, NotYet> {
        let Moved { path, sent, script_alias } = to;
        let place =
            PathOnDisk { host: route.host, path: &Text::new(&path), sent: sent.as_deref(), filename, script_alias };
        let found = self.look(config, &place)?;
        let (redirect, is_undecided) = applied(|| redirect::of_place(&found.settings, &place.path.0));
        let unknown = is_undecided.then_some(StatusCode::INTERNAL_SERVER_ERROR);
        Ok(Rc::new(Route {
            filename: filename.to_path_buf(),
            by_rules: true,
            script_alias,
            script_length: found.settings.script_length(&path),
            path,
            sent,
            sections: found.sections,
            branches: Rc::default(),
            settings: found.settings,
            redirect,
            backend: None,
            overrides: found.overrides,
            files: found.files,
            refusal: found.refusal.or(unknown),
            until: found.until,
            ambiguous: found.ambiguous,
            ..route.clone()
        }))
    }

    /// The route of a file that was found on disk.
    pub fn refine(&self, config: &Config, route: &Route, found: FoundFile<'_>) -> Result<Rc<Route>, Unread> {
        // With `.htaccess` files, the settings may have changed meanwhile.
        let is_lasting = self.overrides.is_none() || !self.by_file && route.overrides.is_empty();
        if !is_lasting || found.is_another(route) || found.script_length < found.path.len() {
            return self.refined(config, route, found).map(Rc::new);
        }
        let known = &route.memo.itself;
        if let Some(known) = known.get() {
            return Ok(known.clone());
        }
        let refined = Rc::new(self.refined(config, route, found)?);
        match refined.is_current() {
            true => Ok(known.get_or_init(|| refined).clone()),
            false => Ok(refined),
        }
    }

    fn refined(&self, config: &Config, route: &Route, found: FoundFile<'_>) -> Result<Route, Unread> {
        let is_another = found.is_another(route);
        let FoundFile { path, filename, script_length } = found;
        let mut refined = Route { script_length: Some(script_length as u32), resolved: true, ..route.clone() };
        if is_another {
            (refined.path, refined.filename) = (path.to_vec(), filename.to_path_buf());
        }
        if self.by_file || is_another || !route.overrides.is_empty() {
            let (text, sent) = (Text::new(path), route.sent.as_deref());
            let &Route { host, script_alias, .. } = route;
            let applicable = self.look(config, &PathOnDisk { host, path: &text, sent, filename, script_alias })?;
            refined.sections = applicable.sections;
            refined.settings = match &route.forced {
                Some(by) => Rc::new(applicable.settings.forced(by)),
                None => applicable.settings,
            };
            refined.overrides = applicable.overrides;
            refined.files = applicable.files;
            (refined.refusal, refined.until) = (applicable.refusal, applicable.until);
            if !route.branches.is_empty() {
                refined.branches = Rc::default();
                refined = self.branched(config, &refined, route.branches.to_vec());
            }
        }
        Ok(refined)
    }
}
