//! Access control: evaluation of a place's rules for a request. No sockets, no Perl, no async.
//!
//! [`judge`] is a pure function. It requests expensive facts (the client's host name, the user) only if the result
//! depends on them. The caller, the front or a worker, determines the fact and calls it again:
//!
//! ```text
//!   judge ─▶ NeedsName ─▶ names::look_up ──▶ Facts::name ─┐
//!     ▲ ├──▶ NeedsUser ─▶ Users::attempt ──▶ Facts::user ─┤
//!     │ └──▶ NeedsAnswer ─▶ Users::meets ─▶ Facts::learned ┤
//!     └───────────────────────────────────────────────────┘
//! ```
//!
//! Start at [`judge`]. `users` and `password` check who a client is, `names` who its address is.

#![forbid(unsafe_code)]

mod answers;
mod basic;
mod cached;
mod digest;
mod directory;
mod files;
mod groups;
mod hash_cost;
mod hosts;
mod inquiries;
mod lines;
pub mod names;
mod password;
mod proof;
mod requires;
mod sources;
mod user_files;
mod users;
mod verified;

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::Arc;

pub use answers::SqlAnswers;
pub use basic::{CERTIFICATE_PASSWORD, basic_credentials, credentials, is_faked};
pub use cached::forget as forget_cached_hashes;
pub use directory::{DirectoryAnswer, DirectoryEntry, DirectoryPassword, DirectoryQuestion};
pub use files::{FileCache, FileLook, FileReading};
pub use groups::{execute, redirect_question, statement};
pub use inquiries::{Inquiries, TOO_MANY_INQUIRIES};
pub use password::PasswordCheck;
pub use proof::{AuthRequest, CacheScope, Proof};
pub use requires::{AccessInquiry, RequirementAnswer, is_about_users};
pub use user_files::{UserFileLook, UserFileReading};
pub use users::{AuthAttempt, AuthSubject, DirectoryRequirement, RequirementQuery, Users};

use config::access::{AccessRules, AuthzProvider, GroupLookup, GroupRequirement, Methods, Satisfy};
use config::response::expr::{Expr, ExprText};

/// Facts about a request.
pub struct RequestFacts<'a> {
    /// The set with only its method; HEAD counts as GET.
    pub methods: Methods,
    /// Address of the client.
    pub client: IpAddr,
    /// Local address of the connection.
    pub local: IpAddr,
    /// Host name of the client, verified by a forward lookup.
    pub name: ClientName<'a>,
    /// Authenticated user.
    pub user: Option<&'a User>,
    /// Whether a variable is set for the request.
    pub env: &'a dyn Fn(&str) -> bool,
    /// Whether an expression is true for the request.
    pub expr: &'a dyn Fn(&Expr) -> bool,
    /// Names of groups of which one is needed; `None`: they cannot be determined, so nobody is in one.
    pub groups: &'a dyn Fn(&GroupRequirement) -> Option<Vec<String>>,
    /// Value of a text with expressions for the request.
    pub text: &'a dyn Fn(&ExprText) -> String,
    /// The answer to an inquiry. `None`: not known yet.
    pub learned: &'a dyn Fn(&AccessInquiry) -> Option<bool>,
    /// Result of a PerlAddAuthzProvider.
    pub provider: &'a dyn Fn(&AuthzProvider) -> RequirementAnswer,
}

/// Host name of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientName<'a> {
    /// The host name was not looked up yet.
    NotAsked,
    /// The client has no name that resolves to its address.
    Nameless,
    /// The verified host name.
    Is(&'a str),
}

/// An authenticated user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct User {
    /// Name as sent by the client.
    pub name: String,
    /// Groups of the AuthGroupFile.
    pub groups: HashSet<String>,
    /// Results of databases.
    pub records: Box<UserRecords>,
    /// How the user was authenticated.
    pub method: AuthMethod,
    /// Value of the response's `Authentication-Info` header.
    pub info: Option<String>,
}

/// Results of databases about a user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserRecords {
    /// Groups by the place where they were found.
    pub groups: Vec<(GroupLookup, HashSet<String>)>,
    /// Names and values of further columns of the row with the password.
    pub columns: Vec<(String, String)>,
    /// The entry of the directory that has checked the password.
    pub entry: Option<Arc<DirectoryEntry>>,
    /// The password that the directory has checked, where requirements are the user's: see `AuthLDAPSearchAsUser`.
    pub password: Option<Arc<DirectoryPassword>>,
    /// Why the groups of the AuthGroupFile are unknown.
    pub groups_unread: Option<String>,
}

impl User {
    /// Whether a database has the user in one of these groups.
    fn is_in_one_of(&self, lookup: &GroupLookup, names: &[String]) -> bool {
        let found = self.records.groups.iter().find(|(known, _)| known == lookup);
        found.is_some_and(|(_, groups)| names.iter().any(|name| groups.contains(name)))
    }

    /// A user without groups.
    pub fn of(name: String) -> User {
        User { name, ..User::default() }
    }

    /// A user without groups, with columns of a database.
    fn with_columns(name: String, columns: Vec<(String, String)>) -> User {
        User { records: Box::new(UserRecords { columns, ..UserRecords::default() }), ..User::of(name) }
    }
}

/// A method of HTTP authentication.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AuthMethod {
    /// RFC 7617.
    #[default]
    Basic,
    /// RFC 7616.
    Digest,
}

impl AuthMethod {
    /// The name as in `AUTH_TYPE` and `Authorization`.
    pub fn name(self) -> &'static str {
        match self {
            AuthMethod::Basic => "Basic",
            AuthMethod::Digest => "Digest",
        }
    }
}

/// The `WWW-Authenticate` header that asks for a user. `key`: that of the server's nonces; `stale`: the client's
/// password is right and its nonce has expired.
pub fn challenge(rules: &AccessRules, realm: &str, key: &[u8; 16], stale: bool) -> String {
    match rules.is_digest() {
        true => digest::challenge(rules, realm, key, stale),
        false => basic::challenge(realm),
    }
}

/// Result of access control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessVerdict {
    /// The request may proceed.
    Allowed,
    /// 403: the address, or another property of the request, is not permitted.
    Forbidden,
    /// The result depends on [`RequestFacts::name`].
    NeedsName,
    /// The result depends on an answer of [`RequestFacts::learned`].
    NeedsAnswer,
    /// The result depends on [`RequestFacts::user`]; without one the response is 401.
    NeedsUser,
    /// 401: the user is authenticated, but not permitted.
    WrongUser,
}

/// Evaluates the rules for a request.
pub fn judge(rules: &AccessRules, facts: &RequestFacts<'_>) -> AccessVerdict {
    let permitted = hosts::permits(&rules.hosts, facts);
    let answer = requires::answer(&rules.requires, facts);
    match (rules.satisfy.unwrap_or_default(), permitted, answer) {
        (Satisfy::All, Some(false), _) => AccessVerdict::Forbidden,
        (Satisfy::Any, Some(true), _) => AccessVerdict::Allowed,
        (Satisfy::Any, _, Some(RequirementAnswer::Granted)) => AccessVerdict::Allowed,
        (_, None, _) => AccessVerdict::NeedsName,
        (Satisfy::All, Some(true), None) => AccessVerdict::Allowed,
        (Satisfy::Any, Some(false), None) => AccessVerdict::Forbidden,
        (_, _, Some(answer)) => verdict(answer, facts),
    }
}

fn verdict(answer: RequirementAnswer, facts: &RequestFacts<'_>) -> AccessVerdict {
    match answer {
        RequirementAnswer::Granted => AccessVerdict::Allowed,
        RequirementAnswer::NeedsName => AccessVerdict::NeedsName,
        RequirementAnswer::NeedsAnswer => AccessVerdict::NeedsAnswer,
        RequirementAnswer::NeedsUser => AccessVerdict::NeedsUser,
        _ if facts.user.is_some() => AccessVerdict::WrongUser,
        RequirementAnswer::Denied | RequirementAnswer::Undecided | RequirementAnswer::Neutral => {
            AccessVerdict::Forbidden
        }
    }
}

/// Whether a rule for this method contains a host name.
pub fn needs_host_name(rules: &AccessRules, methods: Methods) -> bool {
    hosts::has_host_names(&rules.hosts, methods)
        || rules.requires.iter().any(|line| line.methods.has(methods) && requires::is_about_names(&line.what))
}

#[cfg(test)]
mod tests;
