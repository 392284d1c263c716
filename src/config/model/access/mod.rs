//! Who may come in: what Order, Allow, Deny, Satisfy, Auth…, Require, HostnameLookups and MaxConcurrentReqs say.
//!
//! What a section says is [`PartialAccess`]; merged it is [`AccessRules`]. What they mean for a request is the business of
//! the module `access`.

use crate::config::model::merge::{keep, replace, settings};
mod hosts;
mod methods;
mod require;

use std::path::{Path, PathBuf};

pub use hosts::{AccessOrigin, HostRules, Network, Order};
pub use methods::{Limited, Methods, NUMBERED};
pub use require::{AuthzProvider, Require, Requirement, Vocabulary};

settings! {
    /// What one section says; `None`: nothing, keep what was.
    #[derive(Clone, Default, PartialEq, Eq)]
    said struct PartialAccess {}

    /// What all sections of a request say together.
    #[derive(Clone, Default, PartialEq, Eq)]
    merged struct AccessRules {}

    /// `Order`, `Allow`, `Deny`: one of them replaces all three of the outer section.
    hosts: Option<HostRules> => HostRules, replace;
    /// `Satisfy`; `Some(None)`: the section has an `Order`, `Allow` or `Deny` and no `Satisfy`, which as in httpd 2.4 takes
    /// back that of the outer section.
    satisfy: Option<Option<Satisfy>> => Option<Satisfy>, replace;
    /// `AuthType`
    auth_type: Option<String> => Option<String>, keep;
    /// `AuthName`
    auth_name: Option<String> => Option<String>, keep;
    /// `AuthUserFile`
    user_file: Option<PathBuf> => Option<PathBuf>, keep;
    /// `AuthBasicProvider`
    passwords: Option<PasswordProviders> => PasswordProviders, replace;
    /// `AuthGroupFile`
    group_file: Option<PathBuf> => Option<PathBuf>, keep;
    /// `AuthAuthoritative`
    authoritative: Option<bool> => Option<bool>, keep;
    /// `Require`: one replaces all of the outer section, unless `AuthMerging` says otherwise.
    requires: PartialRequires => Vec<Requirement>, merge_requires;
    /// `HostnameLookups`
    lookups: Option<Lookups> => Lookups, replace;
    /// `MaxConcurrentReqs`: one replaces all of the outer section.
    throttles: Option<Vec<Throttle>> => Vec<Throttle>, replace;
    /// `AuthzSendForbiddenOnFailure`
    forbids: Option<bool> => Option<bool>, keep;
    /// `AllowMethods`; empty: every method.
    allowed_methods: Option<Vec<String>> => Vec<String>, replace;
}

/// `AuthMerging`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Merging {
    /// The inner section's `Require` replaces the outer's.
    #[default]
    Off,
    /// Both must be met.
    And,
    /// One is enough.
    Or,
}

/// Who knows passwords.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PasswordProviders {
    /// Perl code in the order of the line, as PerlAddAuthnProvider names it.
    pub handlers: Vec<String>,
    /// When the AuthUserFile is asked.
    pub file: FileTurn,
}

/// The turn of the AuthUserFile among those who know passwords.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileTurn {
    /// Before Perl code.
    First,
    /// After it.
    #[default]
    Last,
    /// It is not named.
    Never,
}

/// Whether address and user must both please, or one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "httpd's names")]
pub enum Satisfy {
    #[default]
    All,
    Any,
}

/// `HostnameLookups`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lookups {
    /// Only for a rule that names a host.
    #[default]
    Off,
    /// The name that the address's owner claims.
    On,
    /// The same, if the name's addresses contain the client's.
    Double,
}

/// `MaxConcurrentReqs`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throttle {
    /// Requests of one line are counted together; every line has a number of its own.
    pub id: u32,
    /// For which methods.
    pub methods: Methods,
    /// How many may be under way.
    pub most: u32,
}

impl AccessRules {
    /// Whether `AllowMethods` lets it pass; who may GET may HEAD.
    pub fn allows(&self, method: &str) -> bool {
        let method = if method == "HEAD" { "GET" } else { method };
        let known = |known: &String| known == method || method == "GET" && known == "HEAD";
        self.allowed_methods.is_empty() || self.allowed_methods.iter().any(known)
    }

    /// What is left when Perl code finds out who asks. With `Satisfy Any` the address is left to the worker, too.
    pub fn without_users(&self) -> AccessRules {
        let hosts = if self.satisfy == Some(Satisfy::Any) { HostRules::default() } else { self.hosts.clone() };
        AccessRules { hosts, requires: Vec::new(), ..self.clone() }
    }

    /// Those about addresses alone.
    pub fn of_addresses(&self) -> AccessRules {
        AccessRules { hosts: self.hosts.clone(), ..AccessRules::default() }
    }

    /// `Require` alone.
    pub fn of_users(&self) -> AccessRules {
        AccessRules { requires: self.requires.clone(), ..AccessRules::default() }
    }

    /// The files are asked before Perl code, which hears of those whom they do not know.
    pub fn are_asked_first(&self) -> bool {
        self.authoritative == Some(false)
    }

    /// Passwords are compared with those of an AuthUserFile.
    pub fn has_users(&self) -> bool {
        self.file_of_users().is_some() && self.is_basic()
    }

    /// The AuthUserFile, if AuthBasicProvider wants it.
    pub fn file_of_users(&self) -> Option<&Path> {
        self.user_file.as_deref().filter(|_| self.passwords.file != FileTurn::Never)
    }

    /// `AuthType Basic`
    pub fn is_basic(&self) -> bool {
        self.auth_type.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("Basic"))
    }

    /// What Perl code has a say in, wherever else it has none.
    pub fn asks_providers(&self) -> bool {
        let asks_for_passwords = !self.passwords.handlers.is_empty() && !self.requires.is_empty();
        asks_for_passwords || self.requires.iter().any(|line| line.what.asks_providers())
    }

    /// Nothing is asked of anybody: most places of most sites.
    pub fn is_open(&self) -> bool {
        self.hosts.is_empty() && self.requires.is_empty()
    }
}

/// What one section says of `Require`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartialRequires {
    /// One of those that hold for the method must be met; `None`: nothing was said.
    pub lines: Option<Vec<Requirement>>,
    /// `AuthMerging`: what becomes of the outer section's.
    pub merging: Merging,
}

impl PartialRequires {
    /// Whether there is a line.
    pub fn is_some(&self) -> bool {
        self.lines.is_some()
    }
}

fn merge_requires(outer: &mut Vec<Requirement>, inner: &PartialRequires) {
    let Some(lines) = &inner.lines else { return };
    match inner.merging {
        Merging::And if !outer.is_empty() => {
            let text = "AuthMerging And".to_owned();
            let what = Require::Every(vec![Require::Lines(std::mem::take(outer)), Require::Lines(lines.clone())]);
            *outer = vec![Requirement { methods: Methods::ALL, text, what }];
        }
        Merging::Or => outer.extend_from_slice(lines),
        Merging::Off | Merging::And => outer.clone_from(lines),
    }
}
