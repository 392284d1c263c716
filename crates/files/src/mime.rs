//! File types by name. Front and workers use the same tables.

use std::path::Path;

use config::response::types::Described;
use config::{Config, Handler, Settings};

/// The type of an extension in lower case: that of `TypesConfig`, or without that the built-in one.
pub fn usual(config: &Config, extension: &str) -> Option<String> {
    match &config.types {
        Some(types) => types.get(extension).cloned(),
        None => mime_guess::from_ext(extension).first_raw().map(str::to_owned),
    }
}

/// Type, encoding, language and charset of a file by its name.
pub fn describe(config: &Config, settings: &Settings, file: &Path) -> Described {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let usual = |extension: &str| usual(config, extension);
    settings.response.types.describe(&name, usual)
}

/// The handler that a file's extensions or its type determine: see [`Settings::handler_of`].
pub fn handler<'a>(config: &Config, settings: &'a Settings, file: &Path) -> Option<&'a Handler> {
    settings.handler_of(file, |extension| usual(config, extension).is_some())
}

/// The parts of a file's name that determine none of its properties: see
/// [`config::response::types::Types::unknown_parts`].
pub fn unknown_parts<'a>(config: &Config, settings: &Settings, name: &'a str) -> Option<Vec<&'a str>> {
    let usual = |extension: &str| usual(config, extension);
    let rules = &settings.response;
    let matches = rules.negotiation.matches.unwrap_or_default();
    let says_more = |extension: &str| {
        matches.any
            || matches.handlers && rules.types.handlers.get(extension).is_some_and(Option::is_some)
            || matches.filters && rules.compress.extensions.contains_key(extension)
    };
    rules.types.unknown_parts(name, usual, says_more)
}
