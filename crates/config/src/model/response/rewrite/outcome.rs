//! Input and result of the rules of a place.

use std::collections::BTreeMap;

use super::ahead::Question;
use super::forced::ForcedByRule;
use super::trace::TraceLine;

/// Facts before the first rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleInput {
    /// Path of the request; for rules of a folder the file name.
    pub path: String,
    /// For rules of a folder: the path after the file name.
    pub path_info: String,
    /// Original query.
    pub query: Option<String>,
    /// Whether the request is a look-ahead of a rule (`-U`, `-F`, `LA-U:`, `LA-F:`).
    pub is_subrequest: bool,
}

/// Result of the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rewritten {
    /// The path, as in [`RuleInput::path`], or the URL of a redirection.
    pub path: String,
    /// The query after rewriting.
    pub query: Option<String>,
    /// Whether a rule substituted the path, possibly by the same path.
    pub changed: bool,
    /// Response without further processing.
    pub away: Option<RuleResponse>,
    /// Variables that were set, or unset (`None`).
    pub variables: BTreeMap<String, Option<String>>,
    /// Whether the same rules may have another result for the same input.
    pub varies: bool,
    /// Whether the result depends on where the name of the file ends in the path, for rules of a folder.
    pub divided: bool,
    /// Whether the limit of work was exceeded.
    pub too_much: bool,
    /// Headers of the request that conditions tested, for `Vary`.
    pub vary: Vec<String>,
    /// `CO`: values of `Set-Cookie`.
    pub cookies: Vec<String>,
    /// `PT`
    pub pass_through: bool,
    /// Whether the path may be a file system path: it begins with a folder written in the configuration, or the rule
    /// has the flag UnsafePrefixStat.
    pub names_folder: bool,
    /// `END`
    pub end: bool,
    /// `H`, `T`
    pub forced: ForcedByRule,
    /// Question that must be answered before the rules can go on. The rest of the result is then void.
    pub question: Option<Question>,
    /// Trace of the rules, up to `RuleSource::trace_level`.
    pub trace: Vec<TraceLine>,
}

/// A response without further processing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleResponse {
    /// The page of the server for this HTTP status.
    Status(u16),
    /// A redirection with this status to this URL.
    To(u16, String),
    /// The response of the backend with this URL, which has the query.
    Backend(String),
}
