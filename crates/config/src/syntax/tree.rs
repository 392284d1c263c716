//! Directives and sections with their positions, and errors with theirs.

use std::fmt::Write;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A directive or section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directive {
    /// Name as written: `PerlModule`, or `Location` for a section.
    pub name: String,
    /// Arguments, unquoted, with variables replaced.
    pub args: Vec<String>,
    /// Position in the file.
    pub at: At,
    /// Contents of a section; `None` for a plain directive.
    pub section: Option<Vec<Directive>>,
}

/// A position in a configuration file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct At {
    /// Path of the file, or the command line option.
    pub file: Arc<str>,
    /// Line number from 1; 0 if there are no lines.
    pub line: u32,
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A file name may contain control characters, but a message must stay one line.
        for c in self.file.chars() {
            match c {
                c if c.is_control() => write!(f, "{}", c.escape_default())?,
                c => f.write_char(c)?,
            }
        }
        if self.line > 0 { write!(f, ":{}", self.line) } else { Ok(()) }
    }
}

/// An error in a configuration: position, problem and advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigError {
    /// Position; `None` if a directive or a whole file is missing.
    pub at: Option<At>,
    /// `MaxClients: expected a number from 1 to 20000, got "many"`
    pub message: String,
}

impl ConfigError {
    /// The error as a warning: `httpd.conf:3: warning: DocumentRoot: …`.
    pub fn as_warning(&self) -> String {
        match &self.at {
            Some(at) => format!("{at}: warning: {}", self.message),
            None => format!("warning: {}", self.message),
        }
    }
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
    /// A directive that is in no file, for instance from a command line option. `args` are unquoted.
    pub fn new<S: Into<String>>(name: &str, args: impl IntoIterator<Item = S>) -> Self {
        let at = At { file: "command line".into(), line: 1 };
        Directive { name: name.to_owned(), args: args.into_iter().map(Into::into).collect(), at, section: None }
    }
}

impl ConfigError {
    /// `message` begins with the directive's name and has no full stop.
    pub fn at(at: &At, message: impl Into<String>) -> Self {
        ConfigError { at: Some(at.clone()), message: message.into() }
    }
}
