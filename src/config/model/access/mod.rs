//! Who may come in: what Order, Allow, Deny, Satisfy, Auth…, Require, HostnameLookups and MaxConcurrentReqs say.
//!
//! What a section says is [`Said`]; merged it is [`Rules`]. What they mean for a request is the business of the module
//! `access`.

mod hosts;
mod methods;
mod require;

use std::path::PathBuf;

pub use hosts::{HostRules, Network, Order, Origin};
pub use methods::{Limited, Methods};
pub use require::{Require, Requirement};

/// What one section says; `None`: nothing, keep what was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Said {
    /// `Order`, `Allow`, `Deny`: one of them replaces all three of the outer section.
    pub hosts: Option<HostRules>,
    /// `Satisfy`
    pub satisfy: Option<Satisfy>,
    /// `AuthType`
    pub auth_type: Option<String>,
    /// `AuthName`
    pub auth_name: Option<String>,
    /// `AuthUserFile`
    pub user_file: Option<PathBuf>,
    /// `AuthGroupFile`
    pub group_file: Option<PathBuf>,
    /// `AuthAuthoritative`
    pub authoritative: Option<bool>,
    /// `Require`: one replaces all of the outer section.
    pub requires: Option<Vec<Requirement>>,
    /// `HostnameLookups`
    pub lookups: Option<Lookups>,
    /// `MaxConcurrentReqs`: one replaces all of the outer section.
    pub throttles: Option<Vec<Throttle>>,
    /// `AuthMerging`: what becomes of the outer section's `Require`.
    pub merging: Merging,
    /// `AuthzSendForbiddenOnFailure`
    pub forbids: Option<bool>,
    /// `AllowMethods`; empty: every method.
    pub allowed_methods: Option<Vec<String>>,
}

/// What all sections of a request say together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// See [`Said::hosts`].
    pub hosts: HostRules,
    /// All, if nothing is said.
    pub satisfy: Option<Satisfy>,
    /// `Basic`, or what a PerlAuthenHandler makes of it.
    pub auth_type: Option<String>,
    /// The realm.
    pub auth_name: Option<String>,
    /// Absolute.
    pub user_file: Option<PathBuf>,
    /// Absolute.
    pub group_file: Option<PathBuf>,
    /// Default on.
    pub authoritative: Option<bool>,
    /// One of those that hold for the method must be met.
    pub requires: Vec<Requirement>,
    /// Default Off.
    pub lookups: Lookups,
    /// All hold.
    pub throttles: Vec<Throttle>,
    /// A user of ours who is not among those that are required is told 403 instead of being asked again.
    pub forbids: Option<bool>,
    /// `AllowMethods`; empty: every method.
    pub allowed_methods: Vec<String>,
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

impl Rules {
    /// Merges what an inner section says.
    pub fn merge(&mut self, said: &Said) {
        replace(&mut self.hosts, &said.hosts);
        self.merge_requires(said);
        replace(&mut self.allowed_methods, &said.allowed_methods);
        keep(&mut self.forbids, &said.forbids);
        replace(&mut self.lookups, &said.lookups);
        replace(&mut self.throttles, &said.throttles);
        keep(&mut self.satisfy, &said.satisfy);
        keep(&mut self.auth_type, &said.auth_type);
        keep(&mut self.auth_name, &said.auth_name);
        keep(&mut self.user_file, &said.user_file);
        keep(&mut self.group_file, &said.group_file);
        keep(&mut self.authoritative, &said.authoritative);
    }

    fn merge_requires(&mut self, said: &Said) {
        let Some(inner) = &said.requires else { return };
        match said.merging {
            Merging::And if !self.requires.is_empty() => {
                let outer = std::mem::take(&mut self.requires);
                let text = "AuthMerging And".to_owned();
                let what = Require::Every(vec![Require::Lines(outer), Require::Lines(inner.clone())]);
                self.requires = vec![Requirement { methods: Methods::ALL, text, what }];
            }
            Merging::Or => self.requires.extend_from_slice(inner),
            Merging::Off | Merging::And => self.requires.clone_from(inner),
        }
    }

    /// Whether `AllowMethods` lets it pass; who may GET may HEAD.
    pub fn allows(&self, method: &str) -> bool {
        let method = if method == "HEAD" { "GET" } else { method };
        let known = |known: &String| known == method || method == "GET" && known == "HEAD";
        self.allowed_methods.is_empty() || self.allowed_methods.iter().any(known)
    }

    /// What is left when Perl code finds out who asks. With `Satisfy Any` the address is left to the worker, too.
    pub fn without_users(&self) -> Rules {
        let hosts = if self.satisfy == Some(Satisfy::Any) { HostRules::default() } else { self.hosts.clone() };
        Rules { hosts, requires: Vec::new(), ..self.clone() }
    }

    /// Those about addresses alone.
    pub fn of_addresses(&self) -> Rules {
        Rules { hosts: self.hosts.clone(), ..Rules::default() }
    }

    /// `Require` alone.
    pub fn of_users(&self) -> Rules {
        Rules { requires: self.requires.clone(), ..Rules::default() }
    }

    /// The files are asked before Perl code, which hears of those whom they do not know.
    pub fn are_asked_first(&self) -> bool {
        self.authoritative == Some(false)
    }

    /// Passwords are compared with those of an AuthUserFile.
    pub fn has_users(&self) -> bool {
        self.user_file.is_some() && self.is_basic()
    }

    /// `AuthType Basic`
    pub fn is_basic(&self) -> bool {
        self.auth_type.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("Basic"))
    }

    /// Nothing is asked of anybody: most places of most sites.
    pub fn is_open(&self) -> bool {
        self.hosts.is_empty() && self.requires.is_empty()
    }
}

fn replace<T: Clone>(rule: &mut T, said: &Option<T>) {
    if let Some(said) = said {
        rule.clone_from(said);
    }
}

fn keep<T: Clone>(rule: &mut Option<T>, said: &Option<T>) {
    if said.is_some() {
        rule.clone_from(said);
    }
}
