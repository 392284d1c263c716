//! The `.htaccess` files of a request, understood as the front has understood them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::site::PlaceKey;
use crate::config::{Config, ConfigError, Htaccess, depth};

/// The files whose folders and texts came with a request.
pub fn files(config: &Config, key: &PlaceKey) -> Result<Vec<Rc<Htaccess>>, ConfigError> {
    let pairs = wire::overrides::pairs(&key.overrides);
    config.reread(&key.sections, pairs.map(|(folder, text)| (PathBuf::from(OsStr::from_bytes(folder)), text)))
}

/// The files around `filename`, as the front would send them: for requests that it has not seen.
pub fn found(config: &Config, host: u16, sections: &[u16], filename: &Path) -> Vec<u8> {
    let mut texts = Vec::new();
    if !config.allows_overrides() {
        return texts;
    }
    let mut folders: Vec<&Path> = filename.ancestors().skip(1).collect();
    folders.reverse();
    for folder in folders.into_iter().filter(|folder| !config.overrides(sections, depth(folder)).is_none()) {
        let read = |name: &String| std::fs::read_to_string(folder.join(name)).ok();
        if let Some(text) = config.access_file_names(host).iter().find_map(read).filter(|text| !text.contains('\0')) {
            wire::overrides::put(folder.as_os_str().as_bytes(), &text, &mut texts);
        }
    }
    texts
}
