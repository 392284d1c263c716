//! Settings of access control: Order, Allow, Deny, Satisfy, Auth…, Require, HostnameLookups and MaxConcurrentReqs.
//!
//! [`PartialAccess`] holds the settings of one section, [`AccessRules`] the merged settings of a request. Module
//! `access` evaluates them.

use crate::model::merge::{keep, replace, settings};
pub mod hash_limits;
mod hosts;
pub mod ldap;
mod methods;
pub mod origins;
mod require;
mod sources;
mod sql;
mod words;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use self::ldap::{LdapIdentity, LdapPlace, LdapRequirement, LdapServer};
use crate::model::response::expr::ExprText;
use crate::model::scheduling::LimitPlace;
pub use hash_limits::HashLimits;
pub use hosts::{AccessOrigin, HostRules, Order, host_name};
pub use methods::{Limited, Methods};
pub use require::{AuthzProvider, MAX_FORWARD_NAMES, NameKind, Require, Requirement, Vocabulary};
pub use sources::{
    AliasedSource, CacheContext, CacheTimeout, DbmType, GroupLookup, GroupRequirement, GroupSource, PasswordSource,
    ProviderAlias,
};
pub use sql::{Database, SqlDriver, SqlQuery};
pub use words::RequireWords;

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
    /// `AuthBasicUseDigestAlgorithm MD5`: hashes are those of AuthType Digest.
    digest_hashes: Option<bool> => Option<bool>, keep;
    /// `AuthDigestProvider`; empty: `file`.
    digest_sources: Option<Vec<PasswordSource>> => Vec<PasswordSource>, replace;
    /// `AuthDBMUserFile`
    dbm_users: Option<PathBuf> => Option<PathBuf>, keep;
    /// `AuthDBMType`
    dbm_users_type: Option<DbmType> => DbmType, replace;
    /// `AuthDBMGroupFile`
    dbm_groups: Option<PathBuf> => Option<PathBuf>, keep;
    /// `AuthzDBMType`
    dbm_groups_type: Option<DbmType> => DbmType, replace;
    /// `DBDriver`
    database_driver: Option<SqlDriver> => Option<SqlDriver>, keep;
    /// `DBDParams`
    database_params: Option<String> => Option<String>, keep;
    /// `DBDInitSQL`
    database_set_up: Option<Vec<String>> => Vec<String>, replace;
    /// `AuthDBDUserPWQuery`
    password_query: Option<SqlQuery> => Option<SqlQuery>, keep;
    /// `AuthDBDUserRealmQuery`
    realm_query: Option<SqlQuery> => Option<SqlQuery>, keep;
    /// `AuthzDBDQuery`
    group_query: Option<SqlQuery> => Option<SqlQuery>, keep;
    /// `AuthzDBDRedirectQuery`
    redirect_query: Option<SqlQuery> => Option<SqlQuery>, keep;
    /// `AuthzDBDLoginToReferer`
    login_to_referer: Option<bool> => Option<bool>, keep;
    /// `AuthnCacheProvideFor`: names of providers.
    cached_sources: Option<Vec<String>> => Vec<String>, replace;
    /// `AuthnCacheContext`
    cache_context: Option<CacheContext> => CacheContext, replace;
    /// `AuthnCacheTimeout`
    cache_timeout: Option<CacheTimeout> => CacheTimeout, replace;
    /// `AuthLDAPURL` and the settings beside it: a section that has one of them inherits none.
    directory: Option<Arc<LdapPlace>> => Option<Arc<LdapPlace>>, keep;
    /// `LDAPTrustedClientCert`; empty: that of the server.
    directory_identity: Option<LdapIdentity> => LdapIdentity, merge_identity;
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
    /// Built-in providers, in their order; empty: `file`, unless they have no turn.
    pub sources: Vec<PasswordSource>,
    /// Position of the built-in providers among the Perl providers.
    pub turn: SourcesTurn,
}

/// Position of the built-in providers among the password providers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SourcesTurn {
    /// The built-in providers are asked before the Perl handlers run.
    First,
    /// The built-in providers are asked after the Perl handlers have run.
    #[default]
    Last,
    /// Built-in providers are not asked.
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestThrottle {
    /// Number of the directive's line; requests of one line are counted together.
    pub id: u32,
    /// Section of the directive, for the key in `LimitStore`.
    pub place: LimitPlace,
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

    /// The built-in providers of passwords, in the order in which they are asked.
    pub fn sources(&self) -> &[PasswordSource] {
        const FILE: &[PasswordSource] = &[PasswordSource::File];
        let named = if self.is_digest() { &self.digest_sources } else { &self.passwords.sources };
        match named.as_slice() {
            [] if self.is_digest() || self.passwords.turn != SourcesTurn::Never => FILE,
            named => named,
        }
    }

    /// Whether a built-in provider of passwords can be asked.
    pub fn has_users(&self) -> bool {
        let is_there = |source: &PasswordSource| *source != PasswordSource::File || self.user_file.is_some();
        (self.is_basic() || self.is_digest()) && self.sources().iter().any(is_there)
    }

    /// The settings of connections to the directory of the place.
    pub fn directory_server<'a>(&self, server: &'a LdapServer) -> Cow<'a, LdapServer> {
        match &self.directory_identity {
            own if *own == LdapIdentity::default() => Cow::Borrowed(server),
            own => Cow::Owned(LdapServer { own: own.over(&server.own), ..server.clone() }),
        }
    }

    /// The prefix of variables with attributes of the user's entry, if a directory decides whether the user has access:
    /// `AuthLDAPAuthorizePrefix`.
    pub fn authorize_prefix(&self) -> Option<&str> {
        let place = self.directory.as_deref()?;
        let asks = self.requires.iter().any(|line| line.what.asks_about_entry());
        asks.then_some(place.authorize_prefix.as_str())
    }

    /// The SQL database, or the message that there is none.
    pub fn database(&self) -> Result<Database, String> {
        match (self.database_driver, &self.database_params) {
            (Some(driver), Some(params)) => {
                Ok(Database { driver, params: params.clone(), set_up: self.database_set_up.clone() })
            }
            _ => Err("the database needs DBDriver and DBDParams".to_owned()),
        }
    }

    /// The databases of groups that `Require` needs, each once.
    pub fn group_lookups(&self) -> Vec<&GroupLookup> {
        let mut found = Vec::new();
        self.requires.iter().for_each(|line| line.what.add_lookups(&mut found));
        found
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
    /// `Require` lines; a client must meet one of the lines whose methods match. `None`: not set.
    pub lines: Option<Vec<Requirement>>,
    /// `AuthMerging`: how the lines combine with the outer section's.
    pub merging: Merging,
}

impl PartialRequires {
    /// Whether the section has a `Require` line.
    pub fn is_some(&self) -> bool {
        self.lines.is_some()
    }

    /// The section's own lines.
    pub fn lines(&self) -> &[Requirement] {
        self.lines.as_deref().unwrap_or_default()
    }
}

fn merge_identity(outer: &mut LdapIdentity, inner: &Option<LdapIdentity>) {
    if let Some(inner) = inner {
        *outer = inner.over(outer);
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
