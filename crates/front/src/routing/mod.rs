//! Routing: where requests lead. A route is computed once for a host and path and stored, so that further requests for
//! a path need one table lookup.

mod applicable;
mod branches;
mod explained;
mod htaccess;
mod key;
mod moved;
mod once_read;
mod protected;
pub mod redirect;
mod route;
pub mod server_name;
mod settings;

pub use explained::{route_of, with_branches};
pub use key::{RouteKey, port as port_of};
pub use moved::FoundFile;
pub use once_read::{NotYet, once_read};
pub use route::{Fields, Memo, Route, StoredRewrite, bytes};

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use http::StatusCode;

use applicable::{Applicable, PathOnDisk, applied};
use base::cache::BoundedCache;
use base::path::{BadPath, EncodedSlashes, Text, has_encoded_slash, normalise_with, unmerged};
use config::proxy::Passed;
use config::{Config, Scope, Settings};
use htaccess::HtaccessStore;
use settings::{KEPT_SETTINGS, Sections};

/// Maximum number of stored routes.
const KEPT: usize = 8192;
/// Maximum number of bytes of a stored route's key. Longer paths are probably never requested again.
const MAX_BYTES: usize = 512;

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

    pub fn find(&self, config: &Config, asked: RouteKey<'_>) -> Result<Rc<Route>, NotYet> {
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
        let route =
            Rc::new(self.work_out(config, asked, |found, path| found.settings.proxy.backend(path, asked.path))?);
        if key.len() <= MAX_BYTES {
            self.known.borrow_mut().put(key[..].into(), route.clone());
        }
        Ok(route)
    }

    /// The route of a path without its backend, for requests with the variable `no-proxy`.
    pub fn without_backend(&self, config: &Config, key: RouteKey<'_>) -> Result<Rc<Route>, NotYet> {
        self.work_out(config, key, |_, _| None).map(Rc::new)
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

    fn work_out(
        &self,
        config: &Config,
        requested: RouteKey<'_>,
        backend_of: impl Fn(&Applicable, &str) -> Option<Passed>,
    ) -> Result<Route, NotYet> {
        let host = config.host(requested.local.socket, requested.host);
        let configured = config.encoded_slashes(host);
        let is_for_psgi = configured.is_none() && has_encoded_slash(requested.path.as_bytes());
        let slashes = if is_for_psgi { EncodedSlashes::Decoded } else { configured.unwrap_or_default() };
        let path = normalise_with(requested.path.as_bytes(), slashes);
        let path = path.map_err(|bad| if is_for_psgi { BadPath::Impossible } else { bad })?;
        let text = Text::new(&path);
        let served = config.has_virtual_folders(host).then(|| {
            let usual = if config.speaks_tls(requested.local.socket) { 443 } else { 80 };
            Rc::new(config.served_name(host, requested.host, usual, &requested.local.ip))
        });
        let (mapping, is_unmapped) = applied(|| config.translate(host, &text.0, served.as_deref()));
        let filename = Text::bytes_of(mapping.filename);
        let (sent, script_alias) = (sent(config, host, requested.path, slashes), mapping.script_alias);
        let place = PathOnDisk { host, path: &text, sent: sent.as_deref(), filename: &filename, script_alias };
        let mut found = self.look(config, &place)?;
        let (backend, is_unpassed) = applied(|| backend_of(&found, &text.0));
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
        let (server_name, server_port) = server_name::of(&config.hosts[host as usize], &settings, &requested);
        Ok(Route {
            host,
            server_name,
            server_port,
            served,
            filename,
            path,
            sent,
            by_rules: false,
            script_alias,
            forced: None,
            sections: found.sections,
            branches: Rc::default(),
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
}

/// The path with its repeated slashes; `None` where `MergeSlashes` is on or there are none.
fn sent(config: &Config, host: u16, path: &str, slashes: EncodedSlashes) -> Option<Rc<str>> {
    let merges = config.hosts.get(usize::from(host)).is_none_or(|host| host.strictness.merge_slashes != Some(false));
    let sent = unmerged(path.as_bytes(), slashes).filter(|_| !merges)?;
    Some(Text::new(&sent).0.into())
}
