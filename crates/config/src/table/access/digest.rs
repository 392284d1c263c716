//! AuthType Digest.

use std::time::Duration;

use super::users::{besides_file, source};
use crate::draft::Draft;
use crate::model::access::{NonceLifetime, PasswordSource};
use crate::table::row::{AUTH_CONFIG, MANY, Row, SERVER, flag, rows, word, words};

pub static ROWS: &[Row] = rows![
    "mod_auth_digest.c",
    words("AuthDigestProvider", AUTH_CONFIG, "file|dbm|dbd|socache|name …", 1..=MANY, digest_provider)
        .default("file", "hashes in a file are the most common"),
    "Sources of the hashes for AuthType Digest, in order: `file` (AuthUserFile with lines of `user:realm:hash`, as htdigest \
     writes them), `dbm` (AuthDBMUserFile with the key `user:realm`), `dbd` (AuthDBDUserRealmQuery), `socache`, names of \
     AuthnProviderAlias.",
    words("AuthDigestDomain", AUTH_CONFIG, "URI …", 1..=MANY, |d, addresses| {
        d.settings().access.digest_domain = Some(addresses.join(" "));
        Ok(())
    })
    .because("clients take the whole host"),
    "Paths and URLs that share user and password with this place. Clients send their credentials there, too.",
    word("AuthDigestQop", AUTH_CONFIG, "auth|none", digest_qop)
        .because("auth, as in httpd: without it, whoever sees an answer can use it again"),
    "The protection that AuthType Digest asks for: auth, or none as in RFC 2069. As in httpd, auth-int is refused.",
    word("AuthDigestNonceLifetime", AUTH_CONFIG, "seconds", nonce_lifetime)
        .default("300", "as in httpd: a stolen answer is of use for five minutes"),
    "Time after which a client gets a new nonce, without asking its user again. A negative number: never. 0, one nonce \
     for each request, is refused, because the front's threads and the workers do not count nonces together.",
    word("AuthDigestAlgorithm", AUTH_CONFIG, "MD5", |_, name| match name.eq_ignore_ascii_case("MD5") {
        true => Ok(()),
        false => Err(format!("expected MD5, got \"{name}\": neither httpd nor Cameleer has another algorithm")),
    })
    .default("MD5", "the only algorithm, as in httpd"),
    "The hash of AuthType Digest.",
    word("AuthDigestShmemSize", SERVER, "bytes", |_, _| Ok(()))
        .because("nonces take no memory"),
    "Accepted for compatibility. Nonces are not stored.",
    flag("AuthDigestNcCheck", SERVER, |d, on| {
        if on {
            d.warn("counters of requests are not compared, so that an answer can be used again until AuthDigestNonceLifetime is over");
        }
    })
    .because("Off, as in httpd, whose manual calls it not implemented"),
    "Accepted; On with a warning: counters of nonces are not stored.",
];

/// `AuthDigestProvider file|name…`
fn digest_provider(draft: &mut Draft, names: &[String]) -> Result<(), String> {
    let sources: Vec<PasswordSource> =
        names.iter().map(|name| source(draft, name, "an AuthnProviderAlias")).collect::<Result<_, _>>()?;
    if sources.contains(&PasswordSource::Ldap) {
        return Err("a directory has no hashes for AuthType Digest".to_owned());
    }
    draft.settings().access.digest_sources = Some(besides_file(sources));
    Ok(())
}

/// `AuthDigestQop auth|none`
fn digest_qop(draft: &mut Draft, text: &str) -> Result<(), String> {
    draft.settings().access.digest_qop = Some(match text.to_ascii_lowercase().as_str() {
        "auth" => true,
        "none" => false,
        _ => return Err(format!("expected auth or none, got \"{text}\"")),
    });
    Ok(())
}

/// `AuthDigestNonceLifetime seconds`
fn nonce_lifetime(draft: &mut Draft, text: &str) -> Result<(), String> {
    let lifetime = match text.parse::<i64>() {
        Ok(seconds @ 1..) => NonceLifetime::Limited(Duration::from_secs(seconds.unsigned_abs())),
        Ok(..0) => NonceLifetime::Unlimited,
        Ok(0) => return Err("0, one nonce for each request, is not supported; give a number of seconds".to_owned()),
        Err(_) => return Err(format!("expected a number of seconds, got \"{text}\"")),
    };
    draft.settings().access.nonce_lifetime = Some(lifetime);
    Ok(())
}
