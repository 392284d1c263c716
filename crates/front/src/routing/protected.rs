//! `<Files>` and hidden names for the folders of a path: a file in the middle of a path has PATH_INFO behind it.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use config::{Config, Htaccess};

/// Whether a name within `filename`, from its root on, is protected by `<Files>` or is hidden. If it is a file and the
/// rest is PATH_INFO, it must stay protected. Each name is tested once, because a client may send thousands.
pub fn may_pass_a_file(config: &Config, files: &[Arc<Htaccess>], host: u16, root: &Path, filename: &str) -> bool {
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
