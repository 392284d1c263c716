//! Directories: `AuthLDAPURL` and the settings beside it.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::time::Duration;

use crate::syntax::pattern::Pattern;
pub use ldap::{LdapDereference, LdapFilter, LdapScope, LdapSecurity, LdapUrl};

/// Settings of all connections to directories.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LdapServer {
    /// `LDAPTrustedMode`; `None`: the scheme of the URL decides.
    pub mode: Option<LdapSecurity>,
    /// `LDAPTrustedGlobalCert`: files of authorities in PEM. Empty: the authorities of the system.
    pub authorities: Vec<PathBuf>,
    /// `LDAPTrustedClientCert`, in the place or in `LDAPTrustedGlobalCert`.
    pub own: LdapIdentity,
    /// `LDAPVerifyServerCert`
    pub verify: bool,
    /// `LDAPConnectionTimeout`
    pub connection_timeout: Duration,
    /// `LDAPTimeout`
    pub timeout: Duration,
    /// `LDAPCacheTTL`: time for which a verified password stays valid.
    pub cache_life: Duration,
    /// `LDAPOpCacheTTL`: time for which the result of a requirement stays valid.
    pub operation_cache_life: Duration,
    /// `LDAPConnectionPoolTTL`: time without use after which a connection is not used again. `None`: no limit.
    pub idle: Option<Duration>,
}

/// Files of the certificate that a directory asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct LdapIdentity {
    /// `CERT_BASE64`: the certificate, in PEM.
    pub certificate: Option<PathBuf>,
    /// `KEY_BASE64`: its key; `None`: the certificate's file has it.
    pub key: Option<PathBuf>,
}

impl LdapIdentity {
    /// Sets a file by its type. False: another type.
    pub fn set(&mut self, kind: &str, path: PathBuf) -> bool {
        match kind.to_ascii_uppercase().as_str() {
            "CERT_BASE64" => self.certificate = Some(path),
            "KEY_BASE64" => self.key = Some(path),
            _ => return false,
        }
        true
    }

    /// The files of an inner place. A key alone is that of the outer certificate.
    pub fn over(&self, outer: &LdapIdentity) -> LdapIdentity {
        let certificate = self.certificate.clone().or_else(|| outer.certificate.clone());
        LdapIdentity { certificate, key: self.key.clone() }
    }
}

impl Default for LdapServer {
    fn default() -> LdapServer {
        LdapServer {
            mode: None,
            authorities: Vec::new(),
            own: LdapIdentity::default(),
            verify: true,
            connection_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(60),
            cache_life: Duration::from_secs(600),
            operation_cache_life: Duration::from_secs(600),
            idle: None,
        }
    }
}

/// The directory of a section. As in httpd, a section with one of these directives inherits none of the others: the
/// password of one directory never goes to another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LdapPlace {
    /// `AuthLDAPURL`
    pub url: Option<LdapUrl>,
    /// The last word of `AuthLDAPURL`.
    pub security: Option<LdapSecurity>,
    /// `AuthLDAPBindDN`; `None`: an anonymous bind.
    pub bind_dn: Option<String>,
    /// `AuthLDAPBindPassword`
    pub bind_password: Secret,
    /// `AuthLDAPBindAuthoritative`: a user with a wrong password is left to no other provider.
    pub bind_authoritative: bool,
    /// `AuthLDAPCompareDNOnServer`
    pub compare_dn_on_server: bool,
    /// `AuthLDAPDereferenceAliases`
    pub dereference: LdapDereference,
    /// `AuthLDAPGroupAttribute`; empty: `member` and `uniqueMember`.
    pub group_attributes: Vec<String>,
    /// `AuthLDAPGroupAttributeIsDN`: groups have names of entries, not of users.
    pub group_attribute_is_dn: bool,
    /// `AuthLDAPMaxSubGroupDepth`
    pub sub_group_depth: u32,
    /// `AuthLDAPSubGroupAttribute`; empty: `member` and `uniqueMember`.
    pub sub_group_attributes: Vec<String>,
    /// `AuthLDAPSubGroupClass`; empty: `groupOfNames` and `groupOfUniqueNames`.
    pub sub_group_classes: Vec<String>,
    /// `AuthLDAPRemoteUserAttribute`
    pub remote_user_attribute: Option<String>,
    /// `AuthLDAPAuthorizePrefix`
    pub authorize_prefix: String,
    /// `AuthLDAPRemoteUserIsDN`
    pub remote_user_is_dn: bool,
    /// `AuthLDAPInitialBindAsUser`: the user's entry is searched as the user.
    pub initial_bind_as_user: bool,
    /// `AuthLDAPInitialBindPattern`; `None`: the name as the client sent it.
    pub initial_bind: Option<InitialBind>,
    /// `AuthLDAPSearchAsUser`: searches of requirements are the user's.
    pub search_as_user: bool,
    /// `AuthLDAPCompareAsUser`: comparisons of requirements are the user's.
    pub compare_as_user: bool,
}

impl LdapPlace {
    /// The name as which the connection is bound in order to find a user's entry. `None`: `AuthLDAPBindDN`.
    pub fn initial_name(&self, user: &str) -> Option<String> {
        let made = || self.initial_bind.as_ref().and_then(|bind| bind.name_of(user));
        self.initial_bind_as_user.then(|| made().unwrap_or_else(|| user.to_owned()))
    }
}

/// Makes the name for the first bind from that of the user.
#[derive(Debug, Clone)]
pub struct InitialBind {
    /// The pattern that the user's name matches.
    pub pattern: Pattern,
    /// The name, with `$1` to `$9` for groups of the pattern.
    pub name: String,
}

impl InitialBind {
    /// Maximum length of a name in bytes.
    const MAX_BYTES: usize = 4096;

    /// The name for a user. `None`: the pattern does not match.
    fn name_of(&self, user: &str) -> Option<String> {
        self.pattern.find(user)?.expand(&self.name, &str::to_owned, InitialBind::MAX_BYTES).ok()
    }
}

impl PartialEq for InitialBind {
    fn eq(&self, other: &InitialBind) -> bool {
        (self.pattern.as_str(), &self.name) == (other.pattern.as_str(), &other.name)
    }
}

impl Eq for InitialBind {}

impl Hash for InitialBind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.pattern.as_str(), &self.name).hash(state);
    }
}

impl Default for LdapPlace {
    fn default() -> LdapPlace {
        LdapPlace {
            url: None,
            security: None,
            bind_dn: None,
            bind_password: Secret::default(),
            bind_authoritative: true,
            compare_dn_on_server: true,
            dereference: LdapDereference::Always,
            group_attributes: Vec::new(),
            group_attribute_is_dn: true,
            sub_group_depth: 0,
            sub_group_attributes: Vec::new(),
            sub_group_classes: Vec::new(),
            remote_user_attribute: None,
            authorize_prefix: "AUTHORIZE_".to_owned(),
            remote_user_is_dn: false,
            initial_bind_as_user: false,
            initial_bind: None,
            search_as_user: false,
            compare_as_user: false,
        }
    }
}

/// A password, which no debug output shows.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "none" } else { "hidden" })
    }
}

/// A requirement that a directory answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LdapRequirement {
    /// `ldap-user`: one of these names.
    User,
    /// `ldap-group`: a member of this group.
    Group,
    /// `ldap-dn`: the entry with this name.
    Dn,
    /// `ldap-attribute`: an entry with one of these values.
    Attribute,
    /// `ldap-filter`: an entry that matches.
    Filter,
    /// `ldap-search`: exactly one entry matches, whoever the user is.
    Search,
}

impl LdapRequirement {
    /// The requirement with this name in lower case.
    pub fn named(name: &str) -> Option<LdapRequirement> {
        Some(match name {
            "ldap-user" => LdapRequirement::User,
            "ldap-group" => LdapRequirement::Group,
            "ldap-dn" => LdapRequirement::Dn,
            "ldap-attribute" => LdapRequirement::Attribute,
            "ldap-filter" => LdapRequirement::Filter,
            "ldap-search" => LdapRequirement::Search,
            _ => return None,
        })
    }

    /// Whether the words are a filter, in which values of the request are escaped.
    pub fn is_filter(self) -> bool {
        matches!(self, LdapRequirement::Filter | LdapRequirement::Search)
    }
}
