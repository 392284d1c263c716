//! The question that an authentication answers, and its answers.

use std::path::Path;

use super::User;
use config::access::{HashLimits, LdapServer};

/// The parts of a request that authenticate its user.
#[derive(Clone, Copy)]
pub struct AuthRequest<'a> {
    /// Value of the `Authorization` header.
    pub authorization: Option<&'a [u8]>,
    /// The limits on the cost of a password hash.
    pub limits: HashLimits,
    /// Settings of connections to directories.
    pub ldap: &'a LdapServer,
    /// Index of the first provider to ask; 0 at first.
    pub source: usize,
    /// The method, which Digest authentication hashes.
    pub method: &'a str,
    /// The target as the client sent it, which Digest authentication compares.
    pub target: &'a [u8],
    /// Value of `AuthName` for this request; empty without the directive.
    pub realm: &'a str,
    /// The key of the server's nonces.
    pub key: &'a [u8; 16],
    /// The request's place among those that share cached passwords; `None`: nothing is cached.
    pub scope: Option<CacheScope<'a>>,
}

/// The place of a request, for passwords that several places share.
#[derive(Clone, Copy)]
pub struct CacheScope<'a> {
    /// Number of the virtual host.
    pub host: u16,
    /// Decoded URL path, in which sections of a host differ.
    pub path: &'a [u8],
    /// Folder of the innermost `.htaccess` file, whose author may name any file of users.
    pub folder: Option<&'a Path>,
}

/// Result of an authentication.
#[derive(Debug, PartialEq, Eq)]
pub enum Proof {
    /// The user is authenticated.
    Is(User),
    /// No valid credentials: 401.
    Nobody,
    /// The user is not in the file (the reason is for the log): 401, unless a Perl handler knows the user.
    Unknown(String),
    /// The password is wrong, with the reason for the log: 401.
    Refused(String),
    /// The password is right, and the nonce of Digest authentication has expired: 401 with a new one.
    Stale,
    /// The answer of Digest authentication is about another request, with the reason for the log: 400.
    Invalid(String),
    /// The configuration is incomplete, with the reason for the log: 500.
    Misconfigured(String),
}
