//! HTTP Basic authentication: parsing of credentials, and the challenge.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// User and password of an `Authorization` header.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    pub user: String,
    pub password: Vec<u8>,
}

/// Parses an `Authorization` header. `None` for another scheme or invalid data. As in httpd, the first of several
/// joined by commas counts.
pub fn credentials(header: &[u8]) -> Option<Credentials> {
    let (scheme, encoded) = std::str::from_utf8(header).ok()?.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let encoded = encoded.trim().split(',').next()?;
    let decoded = STANDARD.decode(encoded).ok()?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    let (user, password) = decoded.split_at(colon);
    Some(Credentials { user: String::from_utf8(user.to_vec()).ok()?, password: password.get(1..)?.to_vec() })
}

/// The `Authorization` header of a user.
pub fn basic_credentials(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

/// The password of users by certificate (`SSLOptions +FakeBasicAuth`), as in httpd.
pub const CERTIFICATE_PASSWORD: &str = "password";

/// Whether an `Authorization` header gives itself out as that of a user by certificate: `/C=DE/CN=Ana`. Such users
/// have no other password, so none may be tried where `has_such_users`. Elsewhere it is the password that counts, and
/// of that seven bits of the first eight bytes: more is not in the oldest hashes.
pub fn is_faked(header: &[u8], has_such_users: bool) -> bool {
    let is_password = |sent: &[u8]| sent.iter().map(|byte| byte & 0x7f).take(8).eq(CERTIFICATE_PASSWORD.bytes());
    credentials(header).is_some_and(|it| it.user.starts_with('/') && (has_such_users || is_password(&it.password)))
}

/// The challenge `Basic realm="…"`.
pub fn challenge(realm: &str) -> String {
    format!("Basic realm={}", quoted(realm))
}

/// A quoted string (RFC 9110, section 5.6.4) without control characters.
pub fn quoted(text: &str) -> String {
    let printable = text.chars().filter(|c| !c.is_control()).collect::<String>();
    format!("\"{}\"", printable.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_may_hold_colons_and_any_bytes() {
        let header = format!("basic  {}", STANDARD.encode(b"ana:a:b\xff"));
        let found = credentials(header.as_bytes()).expect("readable");
        assert_eq!((found.user.as_str(), &found.password[..]), ("ana", &b"a:b\xff"[..]));
        let twice = format!("Basic {}, Basic {}", STANDARD.encode(b"ana:a"), STANDARD.encode(b"eva:b"));
        assert_eq!(credentials(twice.as_bytes()).expect("readable").user, "ana");
        assert_eq!(credentials(format!("Basic {}", STANDARD.encode(b":")).as_bytes()).expect("empty").password, b"");
    }

    #[test]
    fn an_invalid_header_has_no_credentials() {
        let no_colon = format!("Basic {}", STANDARD.encode(b"ana"));
        let digest = format!("Digest {}", STANDARD.encode(b"ana:x"));
        for header in [&b""[..], b"Basic", b"Basic ", b"Basic ?", b"\xff", no_colon.as_bytes(), digest.as_bytes()] {
            assert!(credentials(header).is_none());
        }
    }

    #[test]
    fn a_realm_is_quoted() {
        assert_eq!(challenge(r#"The "best" \ place"#), r#"Basic realm="The \"best\" \\ place""#);
        assert_eq!(challenge("a\r\nSet-Cookie: b"), r#"Basic realm="aSet-Cookie: b""#);
    }
}
