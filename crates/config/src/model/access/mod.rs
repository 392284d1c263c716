//! Settings of access control: Order, Allow, Deny, Satisfy, Auth…, Require, HostnameLookups and MaxConcurrentReqs.
//!
//! [`PartialAccess`] holds the settings of one section, [`AccessRules`] the merged settings of a request. Module
//! `access` evaluates them.

use crate::model::merge::{keep, replace, settings};
pub mod hash_limits;
mod hosts;
mod methods;
mod require;
mod sql;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::model::response::expr::ExprText;
pub use hash_limits::HashLimits;
pub use hosts::{AccessOrigin, HostRules, Order};
pub use methods::{Limited, Methods};
pub use require::{AuthzProvider, Require, Requirement, Vocabulary};
pub use sql::{Database, SqlDriver, SqlQuery};

settings! {
    /// Settings of one section. `None`: not set, the outer value applies.
    #[derive(Clone, Default, PartialEq, Eq)]
    section struct PartialAccess {}

    /// Merged settings of a request.
    #[derive(Clone, Default, PartialEq, Eq)]
    merged struct AccessRules {}

    /// `Order`, `Allow`, `Deny`: any of them replaces all three of the outer section.
    hosts: Option<HostRules> => HostRules, replace;
    /// `Satisfy`; `Some(None)`: the section has an `Order`, `Allow` or `Deny` and no `Satisfy`, which as in httpd 2.4
    /// resets the value of the outer section.
    satisfy: Option<Option<Satisfy>> => Option<Satisfy>, replace;
    /// `AuthType`
    auth_type: Option<String> => Option<String>, keep;
    /// `AuthName`
    auth_name: Option<String> => Option<String>, keep;
    /// `AuthName`, if it has expressions.
    realm: Option<Option<ExprText>> => Option<ExprText>, replace;
    /// `AuthUserFile`
    user_file: Option<PathBuf> => Option<PathBuf>, keep;
    /// `AuthBasicProvider`
    passwords: Option<PasswordProviders> => PasswordProviders, replace;
    /// `AuthDigestDomain`: the addresses, separated by spaces.
    digest_domain: Option<String> => Option<String>, keep;
    /// `AuthDigestQop auth|none`
    digest_qop: Option<bool> => Option<bool>, keep;
    /// `AuthDigestNonceLifetime`
    nonce_lifetime: Option<NonceLifetime> => NonceLifetime, replace;
    /// `AuthGroupFile`
    group_file: Option<PathBuf> => Option<PathBuf>, keep;
    /// `AuthAuthoritative`
    authoritative: Option<bool> => Option<bool>, keep;
    /// `Require`: any line replaces all lines of the outer section, unless `AuthMerging` is set.
    requires: PartialRequires => Vec<Requirement>, merge_requires;
    /// `HostnameLookups`
    lookups: Option<Lookups> => Lookups, replace;
    /// `MaxConcurrentReqs`: any line replaces all lines of the outer section.
    throttles: Option<Vec<RequestThrottle>> => Vec<RequestThrottle>, replace;
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
    /// Both the inner and the outer requirements must be met.
    And,
    /// Either the inner or the outer requirements must be met.
    Or,
}

/// Sources of passwords and their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PasswordProviders {
    /// Perl handlers, in the order of `AuthBasicProvider`.
    pub handlers: Vec<String>,
    /// Position of the AuthUserFile among the Perl providers.
    pub file: FileTurn,
}

/// Position of the AuthUserFile among the password providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileTurn {
    /// The file is searched before the Perl handlers run.
    First,
    /// The file is searched after the Perl handlers have run.
    #[default]
    Last,
    /// The file is not used.
    Never,
}

/// `AuthDigestNonceLifetime`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NonceLifetime {
    /// A nonce expires after this time.
    Limited(Duration),
    /// A nonce is valid as long as the server runs.
    Unlimited,
}

impl Default for NonceLifetime {
    fn default() -> NonceLifetime {
        NonceLifetime::Limited(Duration::from_secs(300))
    }
}

/// Whether both address and user must be permitted, or one of them.
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
    /// Names are looked up only for access rules with host names.
    #[default]
    Off,
    /// The reverse DNS name of the address.
    On,
    /// The reverse DNS name, if it resolves to the address.
    Double,
}

/// `MaxConcurrentReqs`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestThrottle {
    /// Number of the directive's line; requests of one line are counted together.
    pub id: u32,
    /// Methods that are counted.
    pub methods: Methods,
    /// Maximum number of concurrent requests.
    pub most: u32,
}

impl AccessRules {
    /// Whether `AllowMethods` permits `method`. GET and HEAD permit each other.
    pub fn allows(&self, method: &str) -> bool {
        let method = if method == "HEAD" { "GET" } else { method };
        let known = |known: &String| known == method || method == "GET" && known == "HEAD";
        self.allowed_methods.is_empty() || self.allowed_methods.iter().any(known)
    }

    /// Rules for the front when Perl code authenticates. With `Satisfy Any` the worker checks the address, too.
    pub fn without_users(&self) -> AccessRules {
        let hosts = if self.satisfy == Some(Satisfy::Any) { HostRules::default() } else { self.hosts.clone() };
        AccessRules { hosts, requires: Vec::new(), ..self.clone() }
    }

    /// Only the rules about addresses.
    pub fn of_addresses(&self) -> AccessRules {
        AccessRules { hosts: self.hosts.clone(), ..AccessRules::default() }
    }

    /// Only the `Require` rules.
    pub fn of_users(&self) -> AccessRules {
        AccessRules { requires: self.requires.clone(), ..AccessRules::default() }
    }

    /// Whether the files are checked before Perl code, which handles users missing in the files (`AuthAuthoritative
    /// Off`).
    pub fn come_first(&self) -> bool {
        self.authoritative == Some(false)
    }

    /// Whether passwords are checked against an AuthUserFile.
    pub fn has_users(&self) -> bool {
        self.file_of_users().is_some() && self.is_basic() || self.user_file.is_some() && self.is_digest()
    }

    /// The AuthUserFile, if AuthBasicProvider includes it.
    pub fn file_of_users(&self) -> Option<&Path> {
        self.user_file.as_deref().filter(|_| self.passwords.file != FileTurn::Never)
    }

    /// `AuthType Basic`
    pub fn is_basic(&self) -> bool {
        self.auth_type.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("Basic"))
    }

    /// `AuthType Digest`
    pub fn is_digest(&self) -> bool {
        self.auth_type.as_deref().is_some_and(|name| name.eq_ignore_ascii_case("Digest"))
    }

    /// Whether Digest authentication protects each request by a counter (`AuthDigestQop auth`, the default).
    pub fn digest_has_qop(&self) -> bool {
        self.digest_qop != Some(false)
    }

    /// Whether Perl providers take part in the decision.
    pub fn needs_providers(&self) -> bool {
        let asks_for_passwords = !self.passwords.handlers.is_empty() && !self.requires.is_empty();
        asks_for_passwords || self.requires.iter().any(|line| line.what.needs_providers())
    }

    /// Whether neither addresses nor users are restricted.
    pub fn is_open(&self) -> bool {
        self.hosts.is_empty() && self.requires.is_empty()
    }
}

/// `Require` lines of one section.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartialRequires {
    /// One of the lines whose methods match must be met. `None`: not set.
    pub lines: Option<Vec<Requirement>>,
    /// `AuthMerging`: how the lines combine with the outer section's.
    pub merging: Merging,
}

impl PartialRequires {
    /// Whether the section has a `Require` line.
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
