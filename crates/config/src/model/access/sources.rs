//! Where users, passwords and groups come from: `AuthBasicProvider`, `AuthDigestProvider`, `Require dbm-group` and
//! `dbd-group`, and their aliases.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{AccessRules, PartialAccess};
use crate::model::response::expr::ExprText;

/// A built-in provider of passwords.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PasswordSource {
    /// `AuthUserFile`
    File,
    /// `AuthDBMUserFile`
    Dbm,
    /// `AuthDBDUserPWQuery`, `AuthDBDUserRealmQuery`
    Dbd,
    /// `AuthLDAPURL`: the directory compares the password.
    Ldap,
    /// Passwords that other providers have found: `AuthnCacheProvideFor`.
    Cache,
    /// A name of `<AuthnProviderAlias>`: a provider with settings of its own.
    Alias(Arc<AliasedSource>),
}

/// `<AuthnProviderAlias provider name>`
#[derive(Debug, PartialEq, Eq)]
pub struct AliasedSource {
    /// The alias.
    pub name: String,
    /// The provider.
    pub source: PasswordSource,
    /// The section's settings, which apply over those of the place.
    pub own: Arc<PartialAccess>,
}

impl AliasedSource {
    /// The settings of a place with those of the alias over them.
    pub fn settings(&self, place: &AccessRules) -> AccessRules {
        with_own(place, &self.own)
    }
}

fn with_own(place: &AccessRules, own: &PartialAccess) -> AccessRules {
    let mut settings = place.clone();
    settings.merge(own);
    settings
}

impl PasswordSource {
    /// The built-in provider, which an alias stands for.
    pub fn base(&self) -> &PasswordSource {
        match self {
            PasswordSource::Alias(alias) => alias.source.base(),
            source => source,
        }
    }
}

/// The names of the built-in providers. A new provider is a row here, a variant of [`PasswordSource`], and an arm where
/// `access` asks the sources.
const SOURCES: &[(&str, PasswordSource)] = &[
    ("file", PasswordSource::File),
    ("dbm", PasswordSource::Dbm),
    ("dbd", PasswordSource::Dbd),
    ("ldap", PasswordSource::Ldap),
    ("socache", PasswordSource::Cache),
];

impl PasswordSource {
    /// The built-in provider with this name.
    pub fn named(name: &str) -> Option<PasswordSource> {
        SOURCES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known)).map(|(_, source)| source.clone())
    }

    /// The provider's name in the configuration.
    pub fn name(&self) -> &str {
        match self {
            PasswordSource::Alias(alias) => &alias.name,
            source => SOURCES.iter().find(|(_, known)| known == source).map_or("", |(name, _)| name),
        }
    }

    /// The names of all built-in providers, for messages.
    pub fn names() -> String {
        SOURCES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }
}

/// `AuthDBMType`, `AuthzDBMType`, and the type of a rewrite map.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DbmType {
    /// One file, whose first bytes identify the format: Berkeley DB, the default of Debian's httpd, or GDBM.
    #[default]
    OneFile,
    /// A pair of files: `NAME.pag` has the data, `NAME.dir` is not read.
    Sdbm,
}

impl DbmType {
    /// Parses a name of httpd.
    pub fn parse(name: &str) -> Result<DbmType, String> {
        match name.to_ascii_lowercase().as_str() {
            "default" | "db" | "gdbm" => Ok(DbmType::OneFile),
            "sdbm" => Ok(DbmType::Sdbm),
            _ => Err(format!("expected default, SDBM, GDBM or DB, got \"{name}\"")),
        }
    }

    /// The file that has the data of the database `path`.
    pub fn file(self, path: &Path) -> PathBuf {
        match self {
            DbmType::OneFile => path.to_owned(),
            DbmType::Sdbm => {
                let mut name = path.as_os_str().to_owned();
                name.push(".pag");
                name.into()
            }
        }
    }
}

/// `AuthnCacheContext`
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub enum CacheContext {
    /// The folder of the request's path.
    #[default]
    Directory,
    /// The host.
    Server,
    /// All places with this word.
    Named(String),
}

/// `AuthnCacheTimeout`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheTimeout(pub Duration);

impl Default for CacheTimeout {
    fn default() -> CacheTimeout {
        CacheTimeout(Duration::from_secs(300))
    }
}

/// A requirement that the user be in a group of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRequirement {
    /// Where groups of the user are found.
    pub lookup: GroupLookup,
    /// `dbm-file-group`: the group of the requested file. Otherwise the names of groups, separated by spaces.
    pub groups: Option<ExprText>,
}

/// A way to find the groups of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupLookup {
    /// The kind of database.
    pub source: GroupSource,
    /// The settings of an `<AuthzProviderAlias>`, which apply over those of the place.
    pub own: Option<Arc<PartialAccess>>,
}

impl GroupLookup {
    /// The settings of a place with those of the alias over them.
    pub fn settings<'a>(&self, place: &'a AccessRules) -> Cow<'a, AccessRules> {
        self.own.as_ref().map_or(Cow::Borrowed(place), |own| Cow::Owned(with_own(place, own)))
    }
}

/// A kind of database of groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupSource {
    /// `AuthGroupFile`, for aliases. A place's own is read for every user.
    File,
    /// `AuthDBMGroupFile`
    Dbm,
    /// `AuthzDBDQuery`
    Dbd,
}

/// `<AuthnProviderAlias base name>` or `<AuthzProviderAlias base name words>`.
#[derive(Debug, Clone)]
pub struct ProviderAlias {
    /// `file`, `dbm-group`, …
    pub base: String,
    /// The words after `Require base`.
    pub words: Vec<String>,
    /// Number of the section with its settings.
    pub section: u16,
    /// The section's settings, once the configuration is complete.
    pub own: Option<Arc<PartialAccess>>,
}
