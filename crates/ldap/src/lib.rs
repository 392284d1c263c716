//! The LDAP protocol (RFC 4511) as bytes, and its texts: filters (RFC 4515) and URLs (RFC 4516). No I/O.
//!
//! Requests are functions of [`request`]. A response is cut from the received bytes by [`length`], then parsed by
//! [`LdapResponse::parse`]. A value of a client enters a filter only through [`LdapFilter::equal`], which has no syntax
//! to escape.

#![forbid(unsafe_code)]

mod ber;
mod filter;
pub mod request;
mod response;
mod url;

pub use ber::{LdapMalformed, MAX_BYTES, length};
pub use filter::LdapFilter;
pub use request::{LdapDereference, LdapScope, LdapSearch};
pub use response::{LdapEntry, LdapOperation, LdapOutcome, LdapResponse, code};
pub use url::{LdapSecurity, LdapUrl};
