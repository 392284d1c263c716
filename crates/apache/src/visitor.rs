//! What rules about who may come in ask of a record, and what they leave in it.

use wire::frame::Field;

use crate::current::{for_each, with};
use crate::env;
use crate::field::Text;
use crate::request::RequestRec;
use crate::tables::Id;

/// The client's address and the one that it connected to: those of the socket, whatever handlers have said since.
pub fn addresses(request: u64) -> (String, String) {
    let text = |r: &RequestRec, field| String::from_utf8_lossy(r.frame.field(field)).into_owned();
    with(request, |r| (text(r, Field::RemoteAddr), text(r, Field::LocalAddr))).unwrap_or_default()
}

/// A header that the client sent.
pub fn header_in(request: u64, name: &[u8]) -> Option<Vec<u8>> {
    with(request, |r| r.table_value(Id::HeadersIn as u32, name).map(<[u8]>::to_vec)).ok().flatten()
}

/// Whether a variable is set for the request, or was for the one that was redirected to it: what the front found out
/// about the client holds for all that it is led to.
pub fn has_variable(request: u64, name: &str) -> bool {
    let is_meant = |mut key: &[u8]| {
        while key != name.as_bytes() {
            match key.strip_prefix(b"REDIRECT_") {
                Some(before) => key = before,
                None => return false,
            }
        }
        true
    };
    let is_set = |r: &mut RequestRec| {
        if r.tables.is_filled(Id::SubprocessEnv) {
            return r.tables.of(Id::SubprocessEnv).iter().any(|(key, _)| is_meant(key));
        }
        let mut found = false;
        env::variables(&r.frame, &mut |key, _| found |= is_meant(key));
        found
    };
    with(request, is_set).unwrap_or(false)
}

/// `$r->connection->user`
pub fn user(request: u64) -> Option<String> {
    let user = |r: &mut RequestRec| r.known_text(Text::User).map(|name| String::from_utf8_lossy(name).into_owned());
    with(request, user).ok().flatten()
}

/// Sets it, and how that is known, for all that the client asked for.
pub fn user_is(name: &str, how: &str) {
    for_each(|r| {
        r.set_text(Text::User, Some(name.as_bytes()));
        r.set_text(Text::AuthType, Some(how.as_bytes()));
    });
}

/// How the client is asked who it is.
pub fn set_challenge(request: u64, challenge: &str) {
    let _ = with(request, |r| r.tables.of_mut(Id::ErrHeadersOut).set(b"WWW-Authenticate", challenge.as_bytes()));
}
