//! What a file is, as far as its name says it: front and workers read the same tables.

use std::path::Path;

use crate::config::response::types::Described;
use crate::config::{Config, Settings};

/// The type that an extension in lower case usually has.
pub fn usual(extension: &str) -> Option<String> {
    mime_guess::from_ext(extension).first_raw().map(str::to_owned)
}

/// What the configuration says of a file of this name.
pub fn describe(config: &Config, settings: &Settings, file: &Path) -> Described {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let usual = |extension: &str| config.types.get(extension).cloned().or_else(|| usual(extension));
    settings.response.types.describe(&name, usual)
}
