//! Errors that prevent a start: in the configuration, or in the site's Perl.

use std::fmt;
use std::sync::Arc;

use config::ConfigError;

/// All errors of a configuration, one per line.
#[derive(Debug)]
pub struct Mistakes(pub Vec<ConfigError>);

impl Mistakes {
    /// Sorts the errors by file and line, and drops duplicates.
    pub(super) fn new(mut errors: Vec<ConfigError>) -> Mistakes {
        let mut files: Vec<Arc<str>> = Vec::new();
        let mut place = |error: &ConfigError| {
            let at = error.at.as_ref()?;
            let file = files.iter().position(|file| *file == at.file).unwrap_or_else(|| {
                files.push(at.file.clone());
                files.len() - 1
            });
            Some((file, at.line))
        };
        // Errors without a place come last.
        errors.sort_by_cached_key(|error| place(error).unwrap_or((usize::MAX, 0)));
        errors.dedup();
        Mistakes(errors)
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(ConfigError::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Mistakes {}

/// The error when the site's code does not load, in perl's words, with file and line.
#[derive(Debug)]
pub struct CodeError(pub String);

impl fmt::Display for CodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.trim_end())
    }
}

impl std::error::Error for CodeError {}
