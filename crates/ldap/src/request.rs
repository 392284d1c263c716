//! Requests, encoded. `id` numbers the requests of a connection from 1.

use super::ber::{BOOLEAN, ENUMERATED, INTEGER, OCTETS, SEQUENCE, element, group, number};
use super::filter::LdapFilter;

/// Version of the protocol.
const VERSION: u32 = 3;
/// Object identifier of StartTLS (RFC 4511, section 4.14).
const START_TLS: &[u8] = b"1.3.6.1.4.1.1466.20037";

/// Which entries below the base are searched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum LdapScope {
    /// The base itself.
    Base,
    /// The entries directly below the base.
    One,
    /// The base, and all entries below.
    #[default]
    Sub,
}

/// When aliases are followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names of RFC 4511")]
pub enum LdapDereference {
    Never,
    Searching,
    Finding,
    #[default]
    Always,
}

/// A search with its filter and limits.
#[derive(Debug, Clone)]
pub struct LdapSearch<'a> {
    /// Name of the entry where the search begins.
    pub base: &'a str,
    /// Depth of the search.
    pub scope: LdapScope,
    /// Treatment of aliases.
    pub dereference: LdapDereference,
    /// Maximum number of entries.
    pub most: u32,
    /// Maximum time in seconds.
    pub seconds: u32,
    /// The entries that are meant.
    pub filter: &'a LdapFilter,
    /// The attributes to return; empty: none.
    pub attributes: &'a [String],
}

/// A bind with name and password. Both empty: an anonymous bind. A server takes a name with an empty password as
/// anonymous, too (RFC 4513, section 5.1.2): the caller refuses empty passwords.
pub fn bind(id: u32, name: &str, password: &[u8]) -> Vec<u8> {
    let parts = [number(INTEGER, VERSION), element(OCTETS, name.as_bytes()), element(0x80, password)];
    message(id, group(0x60, &parts))
}

/// Asks the server to begin TLS.
pub fn start_tls(id: u32) -> Vec<u8> {
    message(id, group(0x77, &[element(0x80, START_TLS)]))
}

/// Compares a value of an entry's attribute.
pub fn compare(id: u32, entry: &str, attribute: &str, value: &[u8]) -> Vec<u8> {
    let pair = group(SEQUENCE, &[element(OCTETS, attribute.as_bytes()), element(OCTETS, value)]);
    message(id, group(0x6e, &[element(OCTETS, entry.as_bytes()), pair]))
}

/// Searches entries.
pub fn search(id: u32, search: &LdapSearch<'_>) -> Vec<u8> {
    let scope = match search.scope {
        LdapScope::Base => 0,
        LdapScope::One => 1,
        LdapScope::Sub => 2,
    };
    let dereference = match search.dereference {
        LdapDereference::Never => 0,
        LdapDereference::Searching => 1,
        LdapDereference::Finding => 2,
        LdapDereference::Always => 3,
    };
    // `1.1` asks for no attributes (RFC 4511, section 4.5.1.8).
    let attributes: Vec<Vec<u8>> = match search.attributes {
        [] => vec![element(OCTETS, b"1.1")],
        names => names.iter().map(|name| element(OCTETS, name.as_bytes())).collect(),
    };
    let parts = [
        element(OCTETS, search.base.as_bytes()),
        number(ENUMERATED, scope),
        number(ENUMERATED, dereference),
        number(INTEGER, search.most),
        number(INTEGER, search.seconds),
        element(BOOLEAN, &[0]),
        search.filter.encoded().to_vec(),
        group(SEQUENCE, &attributes),
    ];
    message(id, group(0x63, &parts))
}

fn message(id: u32, operation: Vec<u8>) -> Vec<u8> {
    group(SEQUENCE, &[number(INTEGER, id), operation])
}
