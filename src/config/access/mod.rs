//! Who may come in: what Order, Allow, Deny, Satisfy, Auth…, Require, HostnameLookups and MaxConcurrentReqs say.
//!
//! What a section says is [`Said`]; merged it is [`Rules`]. What they mean for a request is the business of the module
//! `access`.

mod hosts;
mod methods;
mod require;

use std::path::PathBuf;

use super::Directive;
use super::draft::Draft;

pub use hosts::{HostRules, Network, Order, Origin};
pub use methods::{Limited, Methods};
pub use require::{Require, Requirement};

pub(super) use hosts::{allow, deny, order};
pub(super) use methods::{limit, limit_except};
pub(super) use require::{require, require_all, require_any, require_none};

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
    pub(super) fn merge(&mut self, said: &Said) {
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

/// `Satisfy All|Any`
pub(super) fn satisfy(draft: &mut Draft, text: &str) -> Result<(), String> {
    draft.said().access.satisfy = Some(match text.to_ascii_lowercase().as_str() {
        "all" => Satisfy::All,
        "any" => Satisfy::Any,
        _ => return Err(format!("expected All or Any, got \"{text}\"")),
    });
    Ok(())
}

/// `AuthType Basic`; another name needs Perl code that knows what to do with it.
pub(super) fn auth_type(draft: &mut Draft, name: &str) -> Result<(), String> {
    if !name.eq_ignore_ascii_case("Basic") && !draft.config.perl_access {
        return Err(format!(
            "expected Basic, got \"{name}\": another type needs a PerlAuthenHandler, and there is none in this configuration"
        ));
    }
    draft.said().access.auth_type = Some(name.to_owned());
    Ok(())
}

/// `AuthBasicProvider file`, as configurations of httpd 2 say.
pub(super) fn basic_provider(_: &mut Draft, names: &[String]) -> Result<(), String> {
    match names.iter().find(|name| !name.eq_ignore_ascii_case("file")) {
        Some(other) => Err(format!("expected file, got \"{other}\": ask other places in a PerlAuthenHandler")),
        None => Ok(()),
    }
}

/// `HostnameLookups On|Off|Double`
pub(super) fn hostname_lookups(draft: &mut Draft, text: &str) -> Result<(), String> {
    draft.said().access.lookups = Some(match text.to_ascii_lowercase().as_str() {
        "off" => Lookups::Off,
        "on" => Lookups::On,
        "double" => Lookups::Double,
        _ => return Err(format!("expected On, Off or Double, got \"{text}\"")),
    });
    Ok(())
}

/// `AuthMerging Off|And|Or`
pub(super) fn merging(draft: &mut Draft, text: &str) -> Result<(), String> {
    draft.said().access.merging = match text.to_ascii_lowercase().as_str() {
        "off" => Merging::Off,
        "and" => Merging::And,
        "or" => Merging::Or,
        _ => return Err(format!("expected Off, And or Or, got \"{text}\"")),
    };
    Ok(())
}

/// `AllowMethods reset|method…`
pub(super) fn allow_methods(draft: &mut Draft, words: &[String]) -> Result<(), String> {
    let mut methods = Vec::new();
    for word in words {
        match word.as_str() {
            reset if reset.eq_ignore_ascii_case("reset") => methods.clear(),
            method if method.bytes().all(|byte| byte.is_ascii_uppercase() || b"-_".contains(&byte)) => {
                methods.push(method.to_owned());
            }
            other => return Err(format!("expected methods like GET, in capitals, got \"{other}\"")),
        }
    }
    draft.said().access.allowed_methods = Some(methods);
    Ok(())
}

/// `MaxConcurrentReqs n`
pub(super) fn max_concurrent(draft: &mut Draft, most: u64) {
    let throttle = Throttle { id: draft.next_count(), methods: draft.methods, most: most as u32 };
    draft.said().access.throttles.get_or_insert_default().push(throttle);
}

/// Perl code that may take part in saying who comes in: with it, words that we do not know may be known.
const PERL_PHASES: [&str; 3] = ["PerlAccessHandler", "PerlAuthenHandler", "PerlAuthzHandler"];

/// Whether a handler for one of these phases stands anywhere.
pub(super) fn has_perl_handler(tree: &[Directive]) -> bool {
    tree.iter().any(|directive| {
        PERL_PHASES.iter().any(|phase| directive.name.eq_ignore_ascii_case(phase))
            || directive.section.as_deref().is_some_and(has_perl_handler)
    })
}
