//! Where a request leads: virtual host, file, sections, settings.

use std::cell::{OnceCell, RefCell};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use http::{HeaderName, HeaderValue, StatusCode};

use super::htaccess::complain;
use crate::base::refusal::Refusal;
use base::stamp::Stamp;
use config::response::redirect::RedirectResponse;
use config::{Handler, Htaccess, Settings};

/// Where a request leads.
#[derive(Debug, Clone)]
pub struct Route {
    /// Index of the virtual host.
    pub host: u16,
    /// What we are called in links to ourselves: see [`server_name`].
    pub server_name: Rc<str>,
    /// The port that goes with it.
    pub server_port: u16,
    /// Decoded and normalised.
    pub path: Vec<u8>,
    /// The same as it was sent, where repeated slashes count: see `MergeSlashes`.
    pub sent: Option<Rc<str>>,
    /// The file or folder that the path stands for; extra segments included unless `script_length` says otherwise.
    pub filename: PathBuf,
    /// Whether rules have named that file, and not the path.
    pub by_rules: bool,
    /// Whether `ScriptAlias` led there.
    pub script_alias: bool,
    /// The sections that apply, in merge order.
    pub sections: Vec<u16>,
    /// The merged settings of those sections.
    pub settings: Rc<Settings>,
    /// `Redirect`: the client is sent elsewhere.
    pub redirect: Option<RedirectResponse>,
    /// How many bytes of the path name the script, when that is known.
    pub script_length: Option<u32>,
    /// Whether `filename` was found on disk.
    pub resolved: bool,
    /// The folders and texts of the `.htaccess` files that apply, as a worker gets them.
    pub overrides: Rc<[u8]>,
    /// The `.htaccess` files that apply.
    pub files: Rc<[Arc<Htaccess>]>,
    /// Why nothing is answered: a `.htaccess` file is broken, or was asked for itself.
    pub refusal: Option<StatusCode>,
    /// Until when a folder that cannot be watched is believed to be as it was.
    pub(super) until: Option<Instant>,
    /// A name within `filename` may be a file with rules of its own and not a folder: only the disk knows.
    pub ambiguous: bool,
    /// See [`Memo`].
    pub memo: Memo,
}

/// Fields of a head.
pub type Fields = Vec<(HeaderName, HeaderValue)>;

/// What was found out about a route's file once, and holds as long as the route does.
#[derive(Debug, Default)]
pub struct Memo {
    /// The route of the file itself, when its name on disk is all of the path.
    pub(super) itself: OnceCell<Rc<Route>>,
    /// The headers that its name stands for.
    pub described: OnceCell<Fields>,
    /// `Last-Modified` and `ETag`, and the state of the file that they are about.
    pub validators: RefCell<Option<(Stamp, Fields)>>,
}

impl Clone for Memo {
    /// Who clones a route changes it.
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

    /// The same route with another name of the server.
    pub fn named(&self, server_name: Rc<str>) -> Route {
        Route { server_name, ..self.clone() }
    }

    /// An error when it must not be answered.
    pub fn refused(&self) -> Result<(), Refusal> {
        self.refusal.map_or(Ok(()), |status| Err(Refusal::new(status)))?;
        self.in_time()
    }

    /// An error when the expressions of a `.htaccess` file take too long: what they were to find is not known.
    pub fn in_time(&self) -> Result<(), Refusal> {
        for file in &*self.files {
            if file.meter.is_used_up() {
                file.meter.untold().into_iter().for_each(complain);
                return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR));
            }
        }
        Ok(())
    }

    /// Whether a worker's program may look for `filename`.
    pub fn looks_for_a_file(&self) -> bool {
        !matches!(self.settings.handler, Handler::Psgi) && !self.settings.handler.is_page()
    }

    /// Whether the front looks for a file.
    pub fn is_static(&self) -> bool {
        self.settings.handler.is_about_a_file()
    }
}

/// The bytes of a path, which need not be UTF-8.
pub fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}
