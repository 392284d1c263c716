//! Configuration that applies to a path and its file: sections, `.htaccess` files, and whether the path is refused.

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use http::StatusCode;

use super::htaccess::{Chain, RECHECK, Unread, log_error};
use super::protected::may_pass_a_file;
use super::settings::PlaceOfSettings;
use super::{Routes, bytes};
use base::path::Text;
use config::proxy::BackendUrl;
use config::{Config, Htaccess, Settings, work};
use files::open::root;

/// A path, decoded and as sent, and its file.
pub(super) struct PathOnDisk<'a> {
    pub host: u16,
    pub path: &'a Text,
    pub sent: Option<&'a str>,
    pub filename: &'a Path,
    pub script_alias: bool,
}

/// Result of [`Routes::look`].
pub(super) struct Applicable {
    /// Whether a rule about access had no result, so that the request is refused.
    pub is_unknown: bool,
    pub files: Rc<[Arc<Htaccess>]>,
    pub sections: Vec<u16>,
    pub settings: Rc<Settings>,
    pub overrides: Rc<[u8]>,
    pub refusal: Option<StatusCode>,
    pub ambiguous: bool,
    pub until: Option<Instant>,
}

impl Routes {
    /// The settings of a path and its file, from sections and `.htaccess` files.
    pub(super) fn look(&self, config: &Config, place: &PathOnDisk<'_>) -> Result<Applicable, Unread> {
        let &PathOnDisk { host, path, sent, filename, script_alias } = place;
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
        let of = PlaceOfSettings { applied: &merged, script_alias, overrides: &overrides, file: named };
        Ok(Applicable {
            is_unknown,
            files: merged.files.as_slice().into(),
            settings: self.settings(config, of),
            sections: merged.sections,
            overrides,
            refusal: hidden.or(chain.refusal).or(unknown),
            ambiguous,
            until: unknown.map(|_| Instant::now()).or_else(|| chain.brief.then(|| Instant::now() + RECHECK)),
        })
    }

    /// The settings of a path that leads to a backend: no file, and no `.htaccess` file.
    pub(super) fn look_at_backend(&self, config: &Config, place: &PathOnDisk<'_>, url: &BackendUrl) -> Applicable {
        let &PathOnDisk { host, path, sent, .. } = place;
        let chain = Chain::default();
        let (merged, is_unknown) = applied(|| {
            let sections = config.sections_of_backend(host, &path.0, sent, &url.to_string());
            config.apply(sections, chain.files, &path.0, Path::new(""))
        });
        let file = Path::new("");
        let of = PlaceOfSettings { applied: &merged, script_alias: false, overrides: &chain.texts, file };
        let unknown = is_unknown.then_some(StatusCode::INTERNAL_SERVER_ERROR);
        Applicable {
            is_unknown,
            files: merged.files.as_slice().into(),
            settings: self.settings(config, of),
            sections: merged.sections,
            overrides: chain.texts,
            refusal: unknown,
            ambiguous: false,
            until: unknown.map(|_| Instant::now()),
        }
    }
}

/// Applies rules that decide where a route leads. The second value: whether a rule has no result, so that the request
/// must be refused.
pub(super) fn applied<T>(rules: impl FnOnce() -> T) -> (T, bool) {
    let allowance = work::Allowance::default();
    let done = allowance.count(rules);
    let is_unknown = allowance.is_used_up();
    if is_unknown {
        log_error(work::Allowance::message());
    }
    (done, is_unknown)
}
