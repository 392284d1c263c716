//! A route: virtual host, file, sections, settings.

use std::cell::{OnceCell, RefCell};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use http::{HeaderName, HeaderValue, StatusCode};

use super::htaccess::log_error;
use crate::base::refusal::Refusal;
use base::stamp::Stamp;
use config::proxy::Passed;
use config::response::redirect::RedirectResponse;
use config::response::rewrite::{ForcedByRule, Rewritten, RuleInput};
use config::{Handler, Htaccess, ServedName, Settings};

/// The result of routing a request.
#[derive(Debug, Clone)]
pub struct Route {
    /// Index of the virtual host.
    pub host: u16,
    /// Name of the server in links to itself: see `server_name`.
    pub server_name: Rc<str>,
    /// Port of the server in links to itself.
    pub server_port: u16,
    /// The name after which the host's folders are named: see `VirtualDocumentRoot`.
    pub served: Option<Rc<ServedName>>,
    /// Decoded and normalised path.
    pub path: Vec<u8>,
    /// The path with its repeated slashes, where they count: see `MergeSlashes`.
    pub sent: Option<Rc<str>>,
    /// File or folder of the path, including extra segments unless `script_length` is shorter than the path.
    pub filename: PathBuf,
    /// Whether rewrite rules or negotiation have chosen the file.
    pub by_rules: bool,
    /// Whether `ScriptAlias` has mapped the path.
    pub script_alias: bool,
    /// Handler and media type by rewrite rules, which `settings` contain.
    pub forced: Option<Rc<ForcedByRule>>,
    /// Indices of the sections that apply, in merge order.
    pub sections: Vec<u16>,
    /// The last of `sections`: `<If>` sections whose conditions are true for the request.
    pub branches: Rc<[u16]>,
    /// Merged settings of the sections.
    pub settings: Rc<Settings>,
    /// Redirection of the path, if any.
    pub redirect: Option<RedirectResponse>,
    /// The backend that gets the request: see `ProxyPass`.
    pub backend: Option<Rc<Passed>>,
    /// Number of bytes of the path that name the script, if known.
    pub script_length: Option<u32>,
    /// Whether `filename` was found on disk.
    pub resolved: bool,
    /// Folders and texts of the `.htaccess` files, encoded for a worker.
    pub overrides: Rc<[u8]>,
    /// The `.htaccess` files that apply, outermost folder first.
    pub files: Rc<[Arc<Htaccess>]>,
    /// Status of a refusal: a `.htaccess` file is invalid, or was requested itself.
    pub refusal: Option<StatusCode>,
    /// When the route expires, because a folder of it cannot be watched.
    pub(super) until: Option<Instant>,
    /// Whether a name within `filename` may be a file with its own rules rather than a folder; only the file system
    /// decides.
    pub ambiguous: bool,
    /// See `Memo`.
    pub memo: Memo,
}

pub type Fields = Vec<(HeaderName, HeaderValue)>;

/// Facts about a route and its file, valid as long as the route.
#[derive(Debug, Default)]
pub struct Memo {
    /// The route of the file itself, if its name is the whole path.
    pub(super) itself: OnceCell<Rc<Route>>,
    /// Whether a pattern of the sections has named groups.
    pub has_named_groups: OnceCell<bool>,
    /// Header fields derived from the file name.
    pub described: OnceCell<Fields>,
    /// `Last-Modified` and `ETag`, with the file state that they describe.
    pub validators: RefCell<Option<(Stamp, Fields)>>,
    /// The last result of the host's rewrite rules, if it depends on its input alone.
    pub rewritten_by_host: RefCell<Option<StoredRewrite>>,
    /// As `rewritten_by_host`, for the rules of the folder.
    pub rewritten_in_folder: RefCell<Option<StoredRewrite>>,
}

/// A result of rewrite rules, with their input.
#[derive(Debug)]
pub struct StoredRewrite {
    pub start: RuleInput,
    pub made: Rewritten,
}

impl Clone for Memo {
    /// A clone is made in order to change it, so the memo starts empty.
    fn clone(&self) -> Memo {
        Memo::default()
    }
}

impl AsRef<[u8]> for Route {
    /// The path, for logs and tables.
    fn as_ref(&self) -> &[u8] {
        &self.path
    }
}

impl Route {
    pub(super) fn is_current(&self) -> bool {
        self.until.is_none_or(|until| Instant::now() < until) && self.in_time().is_ok()
    }

    /// The sections without those of `<If>`.
    pub fn plain_sections(&self) -> &[u16] {
        self.sections.get(..self.sections.len() - self.branches.len()).unwrap_or_default()
    }

    /// The route with another server name.
    pub fn named(&self, server_name: Rc<str>) -> Route {
        Route { server_name, ..self.clone() }
    }

    /// The same route, with the name that Perl handlers see in place of a file: the URL of a backend.
    pub fn with_filename(&self, filename: String) -> Route {
        Route { filename: filename.into(), ..self.clone() }
    }

    /// The route with a handler and a media type by rewrite rules.
    pub fn forced(&self, by: ForcedByRule) -> Route {
        let settings = Rc::new(self.settings.forced(&by));
        Route { settings, forced: Some(Rc::new(by)), ..self.clone() }
    }

    /// The route with a backend that a rule of its folder has named.
    pub fn passed_to(&self, backend: Passed) -> Route {
        Route { backend: Some(Rc::new(backend)), ..self.clone() }
    }

    /// An error if the request must be refused.
    pub fn refused(&self) -> Result<(), Refusal> {
        self.refusal.map_or(Ok(()), |status| Err(Refusal::new(status)))?;
        self.in_time()
    }

    /// An error if expressions of a `.htaccess` file have used up their time, so their results are unknown.
    pub fn in_time(&self) -> Result<(), Refusal> {
        for file in &*self.files {
            if file.meter.is_used_up() {
                file.meter.unlogged().into_iter().for_each(log_error);
                return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR));
            }
        }
        Ok(())
    }

    /// Whether a worker's program may look for `filename`.
    pub fn looks_for_a_file(&self) -> bool {
        !matches!(self.settings.handler, Handler::Psgi) && !self.settings.handler.is_page()
    }

    /// Whether the front itself looks for a file.
    pub fn is_static(&self) -> bool {
        self.settings.handler.is_about_a_file()
    }
}

/// The bytes of a path, which need not be UTF-8.
pub fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}
