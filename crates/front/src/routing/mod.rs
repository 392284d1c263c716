//! Routing: where requests lead. A route is computed once for a host and path and stored, so that further requests for
//! a path need one table lookup.

mod asked;
mod explained;
mod htaccess;
mod once_read;
pub mod redirect;
mod route;
pub mod server_name;

pub use asked::{Asked, port as port_of};
pub use explained::route_of;
pub use once_read::{NotYet, once_read};
pub use route::{Fields, Memo, Route, bytes};

use std::cell::{Cell, RefCell};
use std::ffi::OsStr;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use http::StatusCode;

use base::cache::BoundedCache;
use base::path::{BadPath, EncodedSlashes, Text, has_encoded_slash, normalise_with, unmerged};
use config::proxy::{BackendUrl, Passed};
use config::{Applied, Config, Handler, Htaccess, Scope, Settings, work};
use files::open::root;
use htaccess::{Chain, HtaccessStore, RECHECK, Unread, log_error};

/// Most stored routes.
const KEPT: usize = 8192;
/// Most stored merged settings.
const KEPT_SETTINGS: usize = 4096;
/// Estimated bytes of merged settings for each byte of their `.htaccess` files.
const SETTINGS_OF_BYTE: usize = 16;
/// Maximum bytes of all merged settings, as estimated. When it is exceeded, all routes are computed anew.
const MOST_SETTINGS: usize = 12 << 20;
/// Most bytes of a stored route's key. Longer paths are probably never requested again.
const LONGEST: usize = 512;

/// The routes of one configuration.
pub struct Routes {
    /// Whether the configuration has `<Files>` sections, so settings depend on the file that is found.
    by_file: bool,
    key: RefCell<Vec<u8>>,
    known: RefCell<BoundedCache<Box<[u8]>, Rc<Route>, KEPT>>,
    /// Merged settings by sections, `ScriptAlias`, `.htaccess` files and `AddHandler`'s handler.
    settings: RefCell<BoundedCache<Sections, Rc<Settings>, KEPT_SETTINGS>>,
    overrides: Option<Rc<HtaccessStore>>,
    /// Estimated size of `settings`, in bytes.
    memory: Cell<usize>,
    /// The version of `overrides` for which the tables are valid.
    state: Cell<u64>,
}

type Sections = (Vec<u16>, bool, Same, Option<Handler>);

/// Texts of `.htaccess` files, compared by address: the same files have the same address.
#[derive(Clone)]
struct Same(Rc<[u8]>);

impl PartialEq for Same {
    fn eq(&self, other: &Same) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || self.0.is_empty() && other.0.is_empty()
    }
}

impl Eq for Same {}

impl Hash for Same {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let address = if self.0.is_empty() { 0 } else { self.0.as_ptr().addr() };
        address.hash(state);
    }
}

impl Routes {
    /// Creates an empty table.
    pub fn new(config: &Arc<Config>) -> Routes {
        Routes {
            by_file: config.sections.iter().any(|section| matches!(section.scope, Scope::Files(_))),
            key: RefCell::default(),
            known: RefCell::default(),
            settings: RefCell::default(),
            overrides: HtaccessStore::new(config),
            memory: Cell::default(),
            state: Cell::default(),
        }
    }

    /// Finds or computes a route.
    pub fn find(&self, config: &Config, asked: Asked<'_>) -> Result<Rc<Route>, NotYet> {
        let mut key = self.key.borrow_mut();
        key.clear();
        for part in [asked.local.ip.as_bytes(), &asked.local.port.to_le_bytes(), asked.host.as_bytes()] {
            key.extend_from_slice(part);
            key.push(0);
        }
        key.extend_from_slice(asked.path.as_bytes());
        self.forget_changed();
        if let Some(route) = self.known.borrow_mut().get(&key[..]).filter(|route| route.is_current()) {
            return Ok(route.clone());
        }
        let route = Rc::new(self.work_out(config, asked)?);
        if key.len() <= LONGEST {
            self.known.borrow_mut().put(key[..].into(), route.clone());
        }
        Ok(route)
    }

    fn forget_changed(&self) {
        let now = self.overrides.as_ref().map_or(0, |overrides| overrides.changes());
        if self.state.replace(now) != now {
            self.forget();
        }
    }

    fn forget(&self) {
        self.known.borrow_mut().clear();
        self.settings.borrow_mut().clear();
        self.memory.set(0);
    }

    fn work_out(&self, config: &Config, asked: Asked<'_>) -> Result<Route, NotYet> {
        let host = config.host(asked.local.socket, asked.host);
        let said = config.encoded_slashes(host);
        let is_for_psgi = said.is_none() && has_encoded_slash(asked.path.as_bytes());
        let slashes = if is_for_psgi { EncodedSlashes::Decoded } else { said.unwrap_or_default() };
        let path = normalise_with(asked.path.as_bytes(), slashes);
        let path = path.map_err(|bad| if is_for_psgi { BadPath::Impossible } else { bad })?;
        let text = Text::new(&path);
        let (mapping, is_unmapped) = applied(|| config.translate(host, &text.0));
        let filename = Text::bytes_of(mapping.filename);
        let (sent, script_alias) = (sent(config, host, asked.path, slashes), mapping.script_alias);
        let place = Place { host, path: &text, sent: sent.as_deref(), filename: &filename, script_alias };
        let mut found = self.look(config, &place)?;
        let (backend, is_unpassed) = applied(|| found.settings.proxy.backend(&text.0, asked.path));
        let is_unplaced = found.is_unknown;
        if let Some(to) = &backend {
            found = self.look_at_backend(config, &place, &to.url);
        }
        let settings = found.settings;
        // Only the settings show whether a PSGI program answers.
        if is_for_psgi && !settings.is_psgi() {
            return Err(BadPath::Impossible.into());
        }
        let (redirect, is_undecided) = applied(|| match &backend {
            // As in httpd, ProxyPass comes before the redirects of the host.
            Some(_) => redirect::of_place(&settings, &text.0),
            None => redirect::find(&config.hosts[host as usize], &settings, &text.0),
        });
        let is_unknown = is_unmapped || is_undecided || is_unpassed || is_unplaced;
        let unknown = is_unknown.then_some(StatusCode::INTERNAL_SERVER_ERROR);
        let script_length = settings.script_length(&path);
        let (server_name, server_port) = server_name::of(&config.hosts[host as usize], &settings, &asked);
        Ok(Route {
            host,
            server_name,
            server_port,
            filename,
            path,
            sent,
            by_rules: false,
            script_alias,
            forced: None,
            sections: found.sections,
            settings,
            redirect,
            backend: backend.map(Rc::new),
            script_length,
            resolved: false,
            overrides: found.overrides,
            files: found.files,
            refusal: found.refusal.or(unknown),
            until: unknown.map(|_| Instant::now()).or(found.until),
            ambiguous: found.ambiguous,
            memo: Memo::default(),
        })
    }

    /// The settings of a path and its file, from sections and `.htaccess` files.
    fn look(&self, config: &Config, place: &Place<'_>) -> Result<Applicable, Unread> {
        let &Place { host, path, sent, filename, script_alias } = place;
        let text = Text::new(bytes(filename)).0;
        let named = Path::new(&text);
        let (sections, is_unknown) = applied(|| match sent {
            Some(sent) => config.sections_as_sent(host, &path.0, sent, named),
            None => config.sections(host, &path.0, named),
        });
        let chain = match &self.overrides {
            Some(store) => store.chain(host, &sections, filename)?,
            None => Chain::default(),
        };
        let hidden = config.hides(host, filename).then_some(StatusCode::FORBIDDEN);
        let ((ambiguous, merged), is_undecided) = applied(|| {
            let ambiguous = may_pass_a_file(config, &chain.files, host, root(config, host, filename), &text);
            (ambiguous, config.apply(sections, chain.files, &path.0, named))
        });
        let is_unknown = is_unknown || is_undecided;
        let unknown = is_unknown.then_some(StatusCode::INTERNAL_SERVER_ERROR);
        let overrides = chain.texts;
        Ok(Applicable {
            is_unknown,
            files: merged.files.as_slice().into(),
            settings: self.settings(config, &merged, script_alias, &overrides, named),
            sections: merged.sections,
            overrides,
            refusal: hidden.or(chain.refusal).or(unknown),
            ambiguous,
            until: unknown.map(|_| Instant::now()).or_else(|| chain.brief.then(|| Instant::now() + RECHECK)),
        })
    }

    /// The settings of a path that leads to a backend: no file, and no `.htaccess` file.
    fn look_at_backend(&self, config: &Config, place: &Place<'_>, url: &BackendUrl) -> Applicable {
        let &Place { host, path, sent, .. } = place;
        let chain = Chain::default();
        let (merged, is_unknown) = applied(|| {
            let sections = config.sections_of_backend(host, &path.0, sent, &url.to_string());
            config.apply(sections, chain.files, &path.0, Path::new(""))
        });
        let unknown = is_unknown.then_some(StatusCode::INTERNAL_SERVER_ERROR);
        Applicable {
            is_unknown,
            files: merged.files.as_slice().into(),
            settings: self.settings(config, &merged, false, &chain.texts, Path::new("")),
            sections: merged.sections,
            overrides: chain.texts,
            refusal: unknown,
            ambiguous: false,
            until: unknown.map(|_| Instant::now()),
        }
    }

    /// The route after a rule of the host has named a backend.
    pub fn at_backend(&self, config: &Config, route: &Route, backend: Passed) -> Route {
        let (path, sent) = (Text::new(&route.path), route.sent.as_deref());
        let place = Place { host: route.host, path: &path, sent, filename: &route.filename, script_alias: false };
        let found = self.look_at_backend(config, &place, &backend.url);
        Route {
            redirect: redirect::of_place(&found.settings, &path.0),
            sections: found.sections,
            settings: found.settings,
            overrides: found.overrides,
            files: found.files,
            refusal: found.refusal,
            until: found.until,
            ambiguous: found.ambiguous,
            ..route.passed_to(backend)
        }
    }

    /// Merged settings of a list of sections; merged once for each list and handler.
    fn settings(
        &self,
        config: &Config,
        applied: &Applied,
        script_alias: bool,
        overrides: &Rc<[u8]>,
        file: &Path,
    ) -> Rc<Settings> {
        let size = overrides.len() * SETTINGS_OF_BYTE;
        if self.memory.get() + 2 * size > MOST_SETTINGS {
            self.forget();
        }
        let made = |settings| {
            self.memory.update(|memory| memory + size);
            Rc::new(settings)
        };
        let mut merged = self.settings.borrow_mut();
        let overrides = Same(overrides.clone());
        let key = (applied.sections.clone(), script_alias, overrides.clone(), None);
        let settings = merged.get_or_put(key, || made(config.settings_of(applied, script_alias)));
        // `x.pl/` may be a folder, or a script with PATH_INFO; only the disk decides.
        let is_folder = bytes(file).ends_with(b"/");
        let Some(handler) = settings.handler_of(file).filter(|_| !is_folder) else { return settings };
        let key = (applied.sections.clone(), script_alias, overrides, Some(handler.clone()));
        merged.get_or_put(key, || made(settings.with_handler(handler)))
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
        let place =
            Place { host: route.host, path: &Text::new(&path), sent: sent.as_deref(), filename, script_alias: false };
        let found = self.look(config, &place)?;
        let (redirect, is_undecided) = applied(|| redirect::of_place(&found.settings, &place.path.0));
        let unknown = is_undecided.then_some(StatusCode::INTERNAL_SERVER_ERROR);
        Ok(Rc::new(Route {
            filename: filename.to_path_buf(),
            by_rules: true,
            script_alias: false,
            script_length: found.settings.script_length(&path),
            path,
            sent,
            sections: found.sections,
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
            let applicable = self.look(config, &Place { host, path: &text, sent, filename, script_alias })?;
            refined.sections = applicable.sections;
            refined.settings = match &route.forced {
                Some(by) => Rc::new(applicable.settings.forced(by)),
                None => applicable.settings,
            };
            refined.overrides = applicable.overrides;
            refined.files = applicable.files;
            (refined.refusal, refined.until) = (applicable.refusal, applicable.until);
        }
        Ok(refined)
    }
}

/// Applies rules that decide where a route leads. The second value: whether a rule has no result, so that the request must be
/// refused.
fn applied<T>(rules: impl FnOnce() -> T) -> (T, bool) {
    let allowance = work::Allowance::default();
    let done = allowance.count(rules);
    let is_unknown = allowance.is_used_up();
    if is_unknown {
        log_error(work::Allowance::message());
    }
    (done, is_unknown)
}

/// The path with its repeated slashes; `None` where `MergeSlashes` is on or there are none.
fn sent(config: &Config, host: u16, path: &str, slashes: EncodedSlashes) -> Option<Rc<str>> {
    let merges = config.hosts.get(usize::from(host)).is_none_or(|host| host.strictness.merge_slashes != Some(false));
    let sent = unmerged(path.as_bytes(), slashes).filter(|_| !merges)?;
    Some(Text::new(&sent).0.into())
}

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

/// A path, decoded and as sent, and its file.
struct Place<'a> {
    host: u16,
    path: &'a Text,
    sent: Option<&'a str>,
    filename: &'a Path,
    script_alias: bool,
}

/// Result of [`Routes::look`].
struct Applicable {
    /// Whether a rule that decides about it had no result, so the request is refused.
    is_unknown: bool,
    files: Rc<[Arc<Htaccess>]>,
    sections: Vec<u16>,
    settings: Rc<Settings>,
    overrides: Rc<[u8]>,
    refusal: Option<StatusCode>,
    ambiguous: bool,
    until: Option<Instant>,
}

/// Whether a name within `filename`, from its root on, is protected by `<Files>` or is hidden. If it is a file and the
/// rest is PATH_INFO, it must stay protected. Each name is tested once, because a client may send thousands.
fn may_pass_a_file(config: &Config, files: &[Arc<Htaccess>], host: u16, root: &Path, filename: &str) -> bool {
    // The root's own name is tested, but not the names of its ancestors.
    let above = root.parent().map_or(0, |above| above.iter().count().saturating_sub(1));
    let ruled = config.names_with_rules(files);
    let mut names = filename.split('/').filter(|name| !name.is_empty()).skip(above).peekable();
    let is_folder = filename.ends_with('/');
    while let Some(name) = names.next() {
        let on_the_way = is_folder || names.peek().is_some();
        let has_rules = || ruled.iter().any(|regex| regex.is_match(name));
        if config.hides_name(host, OsStr::new(name)) || on_the_way && has_rules() {
            return true;
        }
    }
    false
}
