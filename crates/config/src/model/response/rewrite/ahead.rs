//! What rules ask that takes time to find out: requests that would follow (`-U`, `-F`, `%{LA-U:…}`), and programs of maps.
//!
//! A run of the rules that has no answer stops and returns its [`Question`]. The caller finds the answer, and runs the rules
//! again from the start.

use std::sync::Arc;

use super::known::Known;
use super::map::MapProgram;

/// A question of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// `-U`, `%{LA-U:…}`: what a request for this path would find.
    Path(String),
    /// `-F`, `%{LA-F:…}`: what a request for this file would find.
    File(String),
    /// `prg:`: the value that a program has for a key.
    Value(Arc<MapProgram>, String),
}

/// The answer to a [`Question`].
#[derive(Debug, Clone)]
pub enum RuleAnswer {
    /// To `Path` and `File`.
    LookedUp(Box<LookedUp>),
    /// To `Value`; `None`: the program has no value.
    Value(Option<String>),
}

/// What a request that was not sent would find.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LookedUp {
    /// 200, or the status of its refusal.
    pub status: u16,
    /// Path of the request.
    pub uri: String,
    /// Name of its file, without the path behind the file.
    pub filename: String,
    /// The path behind the file.
    pub path_info: String,
    /// Whether the file exists.
    pub is_there: bool,
    /// Its user, if the place requires one.
    pub user: Option<String>,
}

impl LookedUp {
    /// The value of a variable in that request; `None`: the same as in this request.
    pub fn known(&self, known: Known) -> Option<String> {
        Some(match known {
            Known::RequestFilename => self.filename.clone(),
            Known::RequestUri => self.uri.clone(),
            Known::PathInfo => self.path_info.clone(),
            Known::RemoteUser => self.user.clone().unwrap_or_default(),
            Known::AuthType => self.user.as_ref().map(|_| "Basic".to_owned()).unwrap_or_default(),
            Known::IsSubreq => "true".to_owned(),
            _ => return None,
        })
    }
}
