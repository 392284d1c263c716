//! The main file of a folder.

use std::path::{Path, PathBuf};

use anyhow::Context;
use config::regular;
use toolkit::Misuse;

/// Usual names, the most specific first: Debian, Red Hat and Apache's own layout.
const NAMES: [&str; 4] = ["apache2.conf", "httpd.conf", "conf/httpd.conf", "conf/apache2.conf"];

/// The absolute path of the main file: `given` itself, or the file of a usual name in that folder.
pub fn find(given: &Path) -> anyhow::Result<PathBuf> {
    let given = std::path::absolute(given).with_context(|| given.display().to_string())?;
    let file = match given.is_dir() {
        false => given,
        true => NAMES.iter().map(|name| given.join(name)).find(|file| file.exists()).ok_or_else(|| none_in(&given))?,
    };
    regular::open(&file)
        .map_err(|error| Misuse(format!("{}: cannot read this configuration: {error}", file.display())))?;
    Ok(file)
}

fn none_in(folder: &Path) -> Misuse {
    Misuse(format!("{}: none of {} is there; name the main file", folder.display(), NAMES.join(", ")))
}
