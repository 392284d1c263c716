//! Who may come in: what the rules of a place mean for a request. No sockets, no Perl, no async.
//!
//! [`judge`] is a pure function. What costs time to find out (the client's name, whether a password is right) it asks for
//! only when the answer hangs on it; whoever calls it, the front or a worker, finds out in its own way and asks again:
//!
//! ```text
//!   judge ─▶ NeedsName ─▶ names::look_up ──▶ Facts::name ─┐
//!     ▲ └──▶ NeedsUser ─▶ Users::attempt ──▶ Facts::user ─┤
//!     └───────────────────────────────────────────────────┘
//! ```

mod basic;
mod files;
mod hash_cost;
mod hosts;
mod lines;
pub mod names;
mod password;
mod requires;
mod users;
mod verified;

use std::collections::HashSet;
use std::net::IpAddr;

pub use basic::challenge;
pub use hash_cost::MOST_MEMORY as MOST_HASH_MEMORY;
pub use password::Check;
pub use requires::{RequirementAnswer, is_about_users};
pub use users::{Asked, Attempt, Look, Proof, Reading, Users};

use crate::config::access::{AccessRules, AuthzProvider, Methods, Satisfy};
use crate::config::response::expr::Expr;

/// What a request is judged by.
pub struct Facts<'a> {
    /// Its method.
    pub methods: Methods,
    /// The client's address.
    pub client: IpAddr,
    /// The address that it connected to.
    pub local: IpAddr,
    /// The client's name, looked up both ways.
    pub name: Name<'a>,
    /// Who it proved to be.
    pub user: Option<&'a User>,
    /// Whether a variable was set for the request.
    pub env: &'a dyn Fn(&str) -> bool,
    /// Whether an expression holds for the request.
    pub expr: &'a dyn Fn(&Expr) -> bool,
    /// What a PerlAddAuthzProvider says.
    pub provider: &'a dyn Fn(&AuthzProvider) -> RequirementAnswer,
}

/// The client's name, as far as we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name<'a> {
    /// Nobody has asked for it.
    NotAsked,
    /// It has none that leads back to its address.
    Nameless,
    /// This.
    Is(&'a str),
}

/// A user whose password was right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct User {
    /// As it came.
    pub name: String,
    /// Of the AuthGroupFile.
    pub groups: HashSet<String>,
}

/// What is to be done with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Go on.
    Allowed,
    /// 403: an address or the like that may not come.
    Forbidden,
    /// It hangs on the client's name: give [`Facts::name`].
    NeedsName,
    /// It hangs on who it is: give [`Facts::user`], or answer 401.
    NeedsUser,
    /// 401: a user of ours, but not one of those.
    WrongUser,
}

/// Whether the request of `facts` may come in.
pub fn judge(rules: &AccessRules, facts: &Facts<'_>) -> Verdict {
    let welcome = hosts::welcome(&rules.hosts, facts);
    let answer = requires::answer(&rules.requires, facts);
    match (rules.satisfy.unwrap_or_default(), welcome, answer) {
        (Satisfy::All, Some(false), _) => Verdict::Forbidden,
        (Satisfy::Any, Some(true), _) => Verdict::Allowed,
        (Satisfy::Any, _, Some(RequirementAnswer::Granted)) => Verdict::Allowed,
        (_, None, _) => Verdict::NeedsName,
        (Satisfy::All, Some(true), None) => Verdict::Allowed,
        (Satisfy::Any, Some(false), None) => Verdict::Forbidden,
        (_, _, Some(answer)) => verdict(answer, facts),
    }
}

fn verdict(answer: RequirementAnswer, facts: &Facts<'_>) -> Verdict {
    match answer {
        RequirementAnswer::Granted => Verdict::Allowed,
        RequirementAnswer::NeedsName => Verdict::NeedsName,
        RequirementAnswer::NeedsUser => Verdict::NeedsUser,
        RequirementAnswer::Denied | RequirementAnswer::Neutral if facts.user.is_some() => Verdict::WrongUser,
        RequirementAnswer::Denied | RequirementAnswer::Neutral => Verdict::Forbidden,
    }
}

/// Whether a rule for this method names a host.
pub fn asks_for_name(rules: &AccessRules, methods: Methods) -> bool {
    hosts::name_names(&rules.hosts, methods)
        || rules.requires.iter().any(|line| line.methods.has(methods) && requires::is_about_names(&line.what))
}

#[cfg(test)]
mod tests;
