//! Look-aheads of rules, and values of programs and databases.
//!
//! Look-ahead requests (`-U`, `-F`, `%{LA-U:…}`) and queries of maps take too long for a run of the rules. A run that
//! lacks an answer stops and returns its [`Question`]. The caller finds the answer, and runs the rules again from the
//! start.

use super::map::MapSource;
use super::variable::RuleVariable;
use crate::model::response::expr::LookAhead;

/// A fact that rules need and only the caller can find.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// `-U`, `-F`, `%{LA-U:…}`, `%{LA-F:…}`: the result of this request.
    LookAhead(LookAhead),
    /// The value that a program or database has for a key.
    Value(MapSource, String),
}

/// The answer to a [`Question`].
#[derive(Debug, Clone)]
pub enum RuleAnswer {
    /// Answer to `LookAhead`.
    LookedUp(Box<LookedUp>),
    /// Answer to `Value`; `None`: there is no value for the key.
    Value(Option<String>),
}

/// Result of a look-ahead: a request that was processed but not answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LookedUp {
    /// 200, or the status with which the request was refused.
    pub status: u16,
    /// Path of the request.
    pub uri: String,
    /// Name of the request's file, without its PATH_INFO.
    pub filename: String,
    /// PATH_INFO of the request.
    pub path_info: String,
    /// Whether the file exists.
    pub is_there: bool,
    /// User of the request, if the place requires one.
    pub user: Option<String>,
}

impl LookedUp {
    /// Whether `-U` or `-F` holds for this result of `ahead`.
    pub fn passes(&self, ahead: &LookAhead) -> bool {
        match ahead {
            LookAhead::Path(_) => self.status < 400,
            LookAhead::File(_) => self.status < 300 && self.is_there,
        }
    }

    /// The value of a variable in that request; `None`: the same as in this request.
    pub fn known(&self, known: RuleVariable) -> Option<String> {
        Some(match known {
            RuleVariable::RequestFilename => self.filename.clone(),
            RuleVariable::RequestUri => self.uri.clone(),
            RuleVariable::PathInfo => self.path_info.clone(),
            RuleVariable::RemoteUser => self.user.clone().unwrap_or_default(),
            RuleVariable::AuthType => self.user.as_ref().map(|_| "Basic".to_owned()).unwrap_or_default(),
            RuleVariable::IsSubreq => "true".to_owned(),
            _ => return None,
        })
    }
}
