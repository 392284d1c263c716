//! Functions shared by subrequests and redirects.

use apache::InternalTarget;

use crate::site::Site;
use crate::site::paths::plain;
use base::path::{BadPath, normalise_with};

/// Resolves a URI named by a request, relative to the request's own URI.
pub(super) fn target(site: &Site, from: u64, uri: &[u8]) -> Result<InternalTarget, BadPath> {
    let (path, query) = match uri.iter().position(|byte| *byte == b'?') {
        Some(at) => (&uri[..at], &uri[at + 1..]),
        None => (uri, &[][..]),
    };
    let slashes = site.config.encoded_slashes(apache::requested(from).host).unwrap_or_default();
    let (path, unparsed) = match path.first() {
        Some(b'/') => (normalise_with(path, slashes)?, uri.to_vec()),
        _ => {
            let here = apache::set_by_handlers(from).uri;
            let name = normalise_with(&[b"/", path].concat(), slashes)?;
            let folder = apache::path_encoded(&beside(&here, b""));
            (beside(&here, name.get(1..).unwrap_or_default()), [&folder[..], uri].concat())
        }
    };
    Ok(InternalTarget { path: plain(&path), query: query.to_vec(), unparsed, ..InternalTarget::default() })
}

/// The path of `name` in the folder of `path`.
pub(super) fn beside(path: &[u8], name: &[u8]) -> Vec<u8> {
    let folder = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    [&path[..folder], name].concat()
}

/// Runs `act` with another current request, which has its own environment.
pub(super) fn within<T>(site: &Site, request: u64, act: impl FnOnce() -> T) -> T {
    let before = apache::run(request);
    site.perl.drain_output();
    site.perl.env_enter();
    let result = act();
    site.perl.drain_output();
    site.perl.env_leave();
    apache::run(before);
    result
}

/// Logs that a chain of internal requests is too long.
pub(super) fn too_deep() {
    apache::log_line(apache::Level::Error, "more than 10 nested internal redirects or subrequests; look for a loop");
}
