//! The `.htaccess` files of a request, understood as the front has understood them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::rc::Rc;

use super::site::PlaceKey;
use crate::config::{Config, ConfigError, Htaccess};

/// The files whose folders and texts came with a request.
pub fn files(config: &Config, key: &PlaceKey) -> Result<Vec<Rc<Htaccess>>, ConfigError> {
    let pairs = wire::overrides::pairs(&key.overrides);
    config.reread(&key.sections, pairs.map(|(folder, text)| (PathBuf::from(OsStr::from_bytes(folder)), text)))
}
