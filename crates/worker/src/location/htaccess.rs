//! The `.htaccess` files of a request, with the same meaning as in the front.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::LocationKey;
use super::htaccess_cache::HtaccessCache;
use base::path::ways;
use config::{Config, ConfigError, Htaccess};

/// Parses the `.htaccess` files that came with a request.
pub fn files(config: &Config, key: &LocationKey) -> Result<Vec<Arc<Htaccess>>, ConfigError> {
    let pairs = wire::overrides::pairs(&key.overrides);
    config.reread(&key.sections, pairs.map(|(folder, text)| (PathBuf::from(OsStr::from_bytes(folder)), text)))
}

/// Encodes the `.htaccess` files that apply to `filename` as the front would, for requests that the front has not
/// seen. An unreadable file is an error, because it might restrict access.
pub fn found(
    config: &Config,
    cache: &HtaccessCache,
    host: u16,
    sections: &[u16],
    filename: &Path,
) -> Result<Vec<u8>, String> {
    let mut pairs = Vec::new();
    if !config.allows_overrides() {
        return Ok(pairs);
    }
    let names = config.access_file_names(host);
    let whole = filename.as_os_str().as_bytes();
    for (above, way) in std::iter::once(&b"/"[..]).chain(ways(whole, 0)).enumerate() {
        let folder = Path::new(OsStr::from_bytes(way));
        if config.overrides(sections, above + 1).is_none() {
            continue;
        }
        let first = names.iter().find_map(|name| cache.read(&folder.join(name)).transpose());
        if let Some(text) = first.transpose()? {
            wire::overrides::put(way, &text, &mut pairs);
        } else if !folder.is_dir() {
            // Below a missing folder there are no files.
            break;
        }
    }
    Ok(pairs)
}
