//! HTTP Digest authentication with MD5 (RFC 7616, and RFC 2069 where `AuthDigestQop none` is set), as httpd's
//! mod_auth_digest.
//!
//! ```text
//!   Authorization ─▶ fields ─▶ password_file ─▶ response ─▶ nonce ─▶ the user, and Authentication-Info
//! ```

mod fields;
mod nonce;
mod password_file;
mod target;

use std::fmt::Write as _;
use std::time::SystemTime;

use md5::{Digest as _, Md5};
use subtle::ConstantTimeEq;

use self::fields::DigestFields;
use self::nonce::NonceAge;
use crate::basic::quoted;
use crate::proof::{AuthRequest, Proof};
use config::access::AccessRules;

pub use password_file::DigestFile;

/// A client who has proved that it knows the password.
pub struct DigestProof {
    pub user: String,
    /// Value of the `Authentication-Info` header. RFC 2069 has none.
    pub info: Option<String>,
}

/// The challenge `Digest realm="…", nonce="…", …`. `stale`: the client's password is right and its nonce is old.
pub fn challenge(rules: &AccessRules, realm: &str, key: &[u8; 16], stale: bool) -> String {
    let realm = quoted(realm);
    let nonce = nonce::made(key, SystemTime::now());
    let mut text = format!("Digest realm={realm}, nonce=\"{nonce}\", algorithm=MD5");
    if let Some(domain) = &rules.digest_domain {
        let _ = write!(text, ", domain={}", quoted(domain));
    }
    if stale {
        text.push_str(", stale=true");
    }
    if rules.digest_has_qop() {
        text.push_str(", qop=\"auth\"");
    }
    text
}

/// Checks the answer to a challenge. The nonce is checked last, so that only a client who knows the password learns
/// that its nonce is old.
/// `find` returns the hash of a user and realm; its error ends the check.
pub fn check<E>(
    request: &AuthRequest<'_>,
    rules: &AccessRules,
    find: impl FnOnce(&str, &str) -> Result<Option<String>, E>,
) -> Result<Result<DigestProof, Proof>, E> {
    let Some(fields) = request.authorization.and_then(fields::parse) else { return Ok(Err(Proof::Nobody)) };
    let answer = match DigestResponse::of(&fields, request.realm, rules) {
        Ok(answer) => answer,
        Err(why) => return Ok(Err(Proof::Refused(format!("digest: {why}")))),
    };
    if !target::are_same(answer.uri, request.target) {
        let uri = answer.uri.escape_debug();
        return Ok(Err(Proof::Invalid(format!("digest: the uri \"{uri}\" is not the request's"))));
    }
    let Some(secret) = find(answer.user, answer.realm)? else {
        let user = answer.user.escape_debug();
        return Ok(Err(Proof::Unknown(format!("user {user} in realm {} not found", answer.realm))));
    };
    Ok(answer.proof(request, rules, &secret))
}

impl DigestResponse<'_> {
    /// Checks the answer with the hash of user, realm and password.
    fn proof(&self, request: &AuthRequest<'_>, rules: &AccessRules, secret: &str) -> Result<DigestProof, Proof> {
        let (answer, user) = (self, self.user.escape_debug());
        let right = answer.response(secret, request.method);
        if !bool::from(right.as_bytes().ct_eq(answer.response.as_bytes())) {
            return Err(Proof::Refused(format!("user {user}: password mismatch")));
        }
        match nonce::age(request.key, answer.nonce, rules.nonce_lifetime, SystemTime::now()) {
            NonceAge::Foreign => Err(Proof::Refused(format!("user {user}: the nonce is not this server's"))),
            NonceAge::Stale => Err(Proof::Stale),
            NonceAge::Fresh { is_near_its_end } => {
                let next = is_near_its_end.then(|| nonce::made(request.key, SystemTime::now()));
                Ok(DigestProof { user: answer.user.to_owned(), info: answer.info(secret, next.as_deref()) })
            }
        }
    }
}

/// The fields that are hashed.
struct DigestResponse<'a> {
    user: &'a str,
    realm: &'a str,
    nonce: &'a str,
    uri: &'a str,
    response: &'a str,
    /// `nc`, `cnonce` and `qop`; absent in RFC 2069.
    protected: Option<[&'a str; 3]>,
}

impl<'a> DigestResponse<'a> {
    /// The fields of an answer to the challenge of these rules and of the realm `place`, or why it answers another
    /// one.
    fn of(fields: &'a DigestFields, place: &str, rules: &AccessRules) -> Result<DigestResponse<'a>, String> {
        let field = |name: &'static str| fields.get(name).ok_or(format!("the field {name} is missing"));
        if fields.get("algorithm").is_some_and(|name| !name.eq_ignore_ascii_case("MD5")) {
            return Err("the algorithm is not MD5".to_owned());
        }
        let protected = match fields.get("qop") {
            Some("auth") => Some([field("nc")?, field("cnonce")?, "auth"]),
            Some(other) => return Err(format!("the qop \"{}\" is not auth", other.escape_debug())),
            None if rules.digest_has_qop() => return Err("the field qop is missing".to_owned()),
            None => None,
        };
        let realm = field("realm")?;
        if realm != place {
            return Err(format!("the realm \"{}\" is not this place's AuthName", realm.escape_debug()));
        }
        let (user, nonce) = (field("username")?, field("nonce")?);
        Ok(DigestResponse { user, realm, nonce, uri: field("uri")?, response: field("response")?, protected })
    }

    /// The right `response` for a hash of user, realm and password.
    fn response(&self, secret: &str, method: &str) -> String {
        let request = md5(&[method, self.uri]);
        self.hash(secret, &request)
    }

    /// `Authentication-Info`: proves to the client that the server knows the password, too.
    fn info(&self, secret: &str, next: Option<&str>) -> Option<String> {
        let [count, cnonce, qop] = self.protected?;
        let proof = self.hash(secret, &md5(&["", self.uri]));
        let cnonce = quoted(cnonce);
        let next = next.map(|nonce| format!(", nextnonce=\"{nonce}\"")).unwrap_or_default();
        Some(format!("rspauth=\"{proof}\", cnonce={cnonce}, nc={count}, qop={qop}{next}"))
    }

    fn hash(&self, secret: &str, request: &str) -> String {
        match self.protected {
            Some([count, cnonce, qop]) => md5(&[secret, self.nonce, count, cnonce, qop, request]),
            None => md5(&[secret, self.nonce, request]),
        }
    }
}

/// MD5 of the parts, joined by colons, in hexadecimal digits.
fn md5(parts: &[&str]) -> String {
    let digest = Md5::digest(parts.join(":"));
    digest.iter().fold(String::with_capacity(32), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests;
