//! URLs of directories, as `AuthLDAPURL` has them: several hosts, and words for the security of the connection.

use super::filter::LdapFilter;
use super::request::LdapScope;

/// How a connection is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LdapSecurity {
    /// No TLS: passwords travel as plain text.
    None,
    /// TLS from the first byte: `ldaps://`.
    Tls,
    /// TLS begun by an operation on a plain connection (RFC 4511, section 4.14).
    StartTls,
}

/// `ldap://host:port …/base?attribute?scope?filter`
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LdapUrl {
    /// Hosts with their ports, tried in this order.
    pub hosts: Vec<(String, u16)>,
    /// Whether the scheme is `ldaps`.
    pub is_secure: bool,
    /// Name of the entry where searches begin.
    pub base: String,
    /// The attributes; the first has the user's name.
    pub attributes: Vec<String>,
    /// Depth of the search.
    pub scope: LdapScope,
    /// Filter for all searches.
    pub filter: LdapFilter,
}

impl LdapUrl {
    /// Parses a URL. The error is the rest of a sentence.
    pub fn parse(text: &str) -> Result<LdapUrl, String> {
        let wrong = || format!("expected ldap://host:port/base?attribute?scope?filter or ldaps://…, got \"{text}\"");
        let (scheme, rest) = text.split_once("://").ok_or_else(wrong)?;
        let is_secure = match scheme.to_ascii_lowercase().as_str() {
            "ldap" => false,
            "ldaps" => true,
            _ => return Err(wrong()),
        };
        let (hosts, rest) = rest.split_once('/').unwrap_or((rest, ""));
        let mut parts = rest.splitn(5, '?');
        let mut part = || decoded(parts.next().unwrap_or_default()).ok_or_else(wrong);
        let (base, attributes, scope, filter) = (part()?, part()?, part()?, part()?);
        let attributes: Vec<String> =
            attributes.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let ordinary =
            |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.;_*+".contains(&byte));
        if let Some(name) = attributes.iter().find(|name| !ordinary(name)) {
            return Err(format!("expected attributes separated by commas, got \"{name}\""));
        }
        Ok(LdapUrl {
            hosts: self::hosts(hosts, if is_secure { 636 } else { 389 }).ok_or_else(wrong)?,
            is_secure,
            base,
            attributes: if attributes.is_empty() { vec!["uid".to_owned()] } else { attributes },
            scope: match scope.to_ascii_lowercase().as_str() {
                "" | "sub" | "subtree" => LdapScope::Sub,
                "one" | "onelevel" => LdapScope::One,
                "base" => LdapScope::Base,
                other => return Err(format!("expected sub, one or base as the scope, got \"{other}\"")),
            },
            filter: if filter.is_empty() { LdapFilter::present("objectClass") } else { LdapFilter::parse(&filter)? },
        })
    }

    /// The attribute that has the user's name.
    pub fn attribute(&self) -> &str {
        self.attributes.first().map_or("uid", String::as_str)
    }
}

/// Maximum number of hosts of a URL, which are tried one after the other.
const MAX_HOSTS: usize = 8;

/// `host:port` separated by blanks; an IPv6 address in brackets. `None` also for more than [`MAX_HOSTS`].
fn hosts(text: &str, port: u16) -> Option<Vec<(String, u16)>> {
    let all: Option<Vec<_>> = text
        .split_whitespace()
        .map(|word| {
            let (host, after) = match word.strip_prefix('[') {
                Some(word) => word.split_once(']')?,
                None => word.split_at(word.find(':').unwrap_or(word.len())),
            };
            let port = if after.is_empty() { port } else { after.strip_prefix(':')?.parse().ok()? };
            (!host.is_empty()).then(|| (host.to_owned(), port))
        })
        .collect();
    match all.filter(|all| all.len() <= MAX_HOSTS)?.as_slice() {
        [] => Some(vec![("localhost".to_owned(), port)]),
        all => Some(all.to_vec()),
    }
}

/// Decodes `%hh`.
fn decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            out.push(*first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        out.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = after;
    }
    String::from_utf8(out).ok().filter(|text| !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_url_have_their_defaults() {
        let url = LdapUrl::parse("ldap:///dc=example,dc=org").expect("a URL");
        assert_eq!(url.hosts, [("localhost".to_owned(), 389)]);
        assert_eq!((url.base.as_str(), url.attribute(), url.scope), ("dc=example,dc=org", "uid", LdapScope::Sub));
        assert_eq!(url.filter, LdapFilter::present("objectClass"));
        let url = LdapUrl::parse("ldaps://a b:99 [::1]:7/o=My%20Firm?mail,cn?one?(a=%28b%29)");
        assert!(url.is_err(), "a parenthesis in a value is escaped twice: {url:?}");
        let url = LdapUrl::parse("ldaps://a b:99 [::1]:7/o=My%20Firm?mail,cn?one?(a=b)").expect("a URL");
        assert_eq!(url.hosts, [("a".to_owned(), 636), ("b".to_owned(), 99), ("::1".to_owned(), 7)]);
        assert_eq!((url.base.as_str(), url.attributes.len(), url.scope), ("o=My Firm", 2, LdapScope::One));
    }

    #[test]
    fn a_wrong_url_is_refused() {
        for text in [
            "",
            "http://a/",
            "ldap:/a",
            "ldap://a:b/",
            "ldap://a/%zz",
            "ldap://a/b?c d",
            "ldap://a/b??all",
            "ldap://a/b???(c",
            "ldap://a/%00",
        ] {
            assert!(LdapUrl::parse(text).is_err(), "{text}");
        }
    }
}
