//! What a text says: directives and sections, each with its place; and what is wrong, with the same.

use std::fmt::Write;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// One directive or section as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directive {
    /// As written: `PerlModule`, or `Location` for a section.
    pub name: String,
    /// Unquoted, variables replaced.
    pub args: Vec<String>,
    /// Where it stands.
    pub at: At,
    /// What a section encloses; `None` for a plain directive.
    pub section: Option<Vec<Directive>>,
}

/// A place in a configuration file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct At {
    /// The file, or the option of the command line.
    pub file: Arc<str>,
    /// Counted from 1; 0 for what has no lines.
    pub line: u32,
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A file's name may have any byte in it; a line that says where something is stays one line.
        for c in self.file.chars() {
            match c {
                c if c.is_control() => write!(f, "{}", c.escape_default())?,
                c => f.write_char(c)?,
            }
        }
        if self.line > 0 { write!(f, ":{}", self.line) } else { Ok(()) }
    }
}

/// What is wrong with a configuration, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigError {
    /// `None` when a whole file is missing.
    pub at: Option<At>,
    /// `MaxClients: expected a number from 1 to 20000, got "many"`
    pub message: String,
}

impl std::fmt::Display for ConfigError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.at {
            Some(at) => write!(f, "{at}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for ConfigError {}

impl Directive {
    /// A directive that no file says, for instance from a command line option. Nothing in `args` needs quoting.
    pub fn new<S: Into<String>>(name: &str, args: impl IntoIterator<Item = S>) -> Self {
        let at = At { file: "command line".into(), line: 1 };
        Directive { name: name.to_owned(), args: args.into_iter().map(Into::into).collect(), at, section: None }
    }
}

impl ConfigError {
    /// What is wrong there.
    pub fn at(at: &At, message: impl Into<String>) -> Self {
        ConfigError { at: Some(at.clone()), message: message.into() }
    }
}
