//! Facts about a request's client: access rules read and set them.

use wire::frame::Field;

use crate::request_rec::RequestRec;
use crate::request_rec::environment;
use crate::request_rec::field::Text;
use crate::request_rec::table::Table;
use crate::request_rec::tables::Id;
use crate::request_rec::target::{InternalTarget, frame};
use crate::request_stack::{for_each, with};

/// The addresses of the client and of the server, from the socket: values set by handlers are ignored.
pub fn addresses(request: u64) -> (String, String) {
    let text = |r: &RequestRec, field| String::from_utf8_lossy(r.frame.field(field)).into_owned();
    with(request, |r| (text(r, Field::RemoteAddr), text(r, Field::LocalAddr))).unwrap_or_default()
}

/// A header that the client sent.
pub fn header_in(request: u64, name: &[u8]) -> Option<Vec<u8>> {
    with(request, |r| r.table_value(Id::HeadersIn as u32, name).map(<[u8]>::to_vec)).ok().flatten()
}

/// Repeated fields included; empty if the request has ended.
pub fn headers_in(request: u64) -> Vec<(Vec<u8>, Vec<u8>)> {
    let all = |r: &mut crate::request_rec::RequestRec| {
        let table = r.table(Id::HeadersIn as u32)?;
        Some(table.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect())
    };
    with(request, all).ok().flatten().unwrap_or_default()
}

/// Whether a variable is set for the request, or for the request redirected to it: facts about the client from the
/// front remain valid after a redirect.
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
        environment::variables(&r.frame, &mut |key, _| found |= is_meant(key));
        found
    };
    with(request, is_set).unwrap_or(false)
}

/// The request's environment variables that rules have set.
pub fn variables(request: u64) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut pairs = Vec::new();
    let _ =
        with(request, |r| environment::variables(&r.frame, &mut |name, value| pairs.push((text(name), text(value)))));
    pairs
}

/// Sets or removes variables.
pub fn change_variables(request: u64, changes: &[(String, Option<String>)]) {
    if !changes.is_empty() {
        let _ = with(request, |r| r.change_variables(changes));
        let gone = changes.iter().filter(|(_, value)| value.is_none());
        gone.for_each(|(name, _)| libperl::env_forget(name.as_bytes()));
    }
}

impl RequestRec {
    fn change_variables(&mut self, changes: &[(String, Option<String>)]) {
        let mut variables = Table::default();
        environment::variables(&self.frame, &mut |name, value| variables.add(name, value));
        apply(changes, &mut variables);
        let [path, query, filename] =
            [Field::Path, Field::Query, Field::Filename].map(|field| self.frame.field(field).to_vec());
        let encoded = environment::encoded(variables.iter());
        self.frame = frame(
            self,
            &InternalTarget { path, query, filename, ..InternalTarget::default() },
            &[(Field::Env, &encoded)],
        );
        if self.tables.is_filled(Id::SubprocessEnv) {
            apply(changes, self.tables.of_mut(Id::SubprocessEnv));
        }
    }
}

fn apply(changes: &[(String, Option<String>)], variables: &mut Table) {
    for (name, value) in changes {
        match value {
            Some(value) => variables.set(name.as_bytes(), value.as_bytes()),
            None => variables.unset(name.as_bytes()),
        }
    }
}

/// The client's host name, if a lookup has found one.
pub fn remote_host(request: u64) -> Option<String> {
    let name =
        |r: &mut RequestRec| r.known_text(Text::RemoteHost).map(|name| String::from_utf8_lossy(name).into_owned());
    with(request, name).ok().flatten()
}

/// `$r->protocol`
pub fn protocol(request: u64) -> String {
    let text = |r: &mut RequestRec| String::from_utf8_lossy(r.frame.field(Field::Protocol)).into_owned();
    with(request, text).unwrap_or_default()
}

/// `$r->connection->user`
pub fn user(request: u64) -> Option<String> {
    let user = |r: &mut RequestRec| r.known_text(Text::User).map(|name| String::from_utf8_lossy(name).into_owned());
    with(request, user).ok().flatten()
}

/// Sets the user and the authentication scheme in all records of the client.
pub fn user_is(name: &str, how: &str) {
    for_each(|r| {
        r.set_text(Text::User, Some(name.as_bytes()));
        r.set_text(Text::AuthType, Some(how.as_bytes()));
    });
}

/// The target as the client sent it, also in internal redirects and subrequests.
pub fn target_as_sent(request: u64) -> Vec<u8> {
    with(request, |r| r.frame.field(Field::Target).to_vec()).unwrap_or_default()
}

/// Sets the header with which Digest authentication proves that the server knows the password.
pub fn set_authentication_info(request: u64, info: &str) {
    let _ = with(request, |r| r.tables.of_mut(Id::HeadersOut).set(b"Authentication-Info", info.as_bytes()));
}

/// Sets the challenge of a 401 response.
pub fn set_challenge(request: u64, challenge: &str) {
    let _ = with(request, |r| r.tables.of_mut(Id::ErrHeadersOut).set(b"WWW-Authenticate", challenge.as_bytes()));
}
