//! Names and values that look like secrets. A harmless value that is masked costs a `-H` or `--body` at the replay; a
//! secret that is recorded cannot be taken back.

use percent_encoding::percent_decode_str;

/// Maximum number of encodings inside each other. A text with more is regarded as a secret.
const MAX_DEPTH: usize = 8;
/// A name that contains one of these is that of a secret.
const FRAGMENTS: &[&str] = &[
    "pass",
    "pwd",
    "secret",
    "token",
    "auth",
    "sess",
    "jwt",
    "csrf",
    "xsrf",
    "credential",
    "card",
    "cvv",
    "cvc",
    "iban",
    "signature",
    "private",
];
/// A name with a part that ends with one of these is that of a secret.
const ENDS: &[&str] = &["pin", "code", "key", "otp", "sid", "ssn"];
/// A name with one of these parts is that of a secret.
const PARTS: &[&str] = &["sig", "pw", "tan", "puk", "mfa", "nonce"];
/// Characters between a name and its value: `a=b`, `"a":"b"`, `<a>b</a>`.
const SEPARATORS: [char; 3] = ['=', ':', '>'];
/// How the Base64 of a JSON object begins, and so a JSON Web Token.
const OBJECT_IN_BASE64: &str = "eyJ";

/// Whether a header or a field with this name has a secret.
pub fn is_secret(name: &str) -> bool {
    any_decoding(name, has_secret_name)
}

/// Whether a value contains the name of a secret that may be followed by its value, or a URL with a user.
pub fn contains_secret(value: &str) -> bool {
    any_decoding(value, |text| {
        let has_user = text.split_once("//").is_some_and(|(_, rest)| rest.contains('@'));
        has_user || text.contains(OBJECT_IN_BASE64) || (text.contains(SEPARATORS) && has_secret_name(text))
    })
}

/// Whether the text, or what remains after one or more decodings, is `wrong`.
fn any_decoding(text: &str, wrong: impl Fn(&str) -> bool) -> bool {
    let mut text = text.to_owned();
    for _ in 0..MAX_DEPTH {
        if wrong(&text) {
            return true;
        }
        let decoded = decoded(&text);
        if decoded == text {
            return false;
        }
        text = decoded;
    }
    true
}

/// The text without one level of percent-encoding and of escapes of JSON.
fn decoded(text: &str) -> String {
    let text = percent_decode_str(&without_units(text)).decode_utf8_lossy().replace('+', " ");
    text.replace("\\n", " ").replace("\\r", " ").replace("\\t", " ").replace('\\', "")
}

/// The text with characters instead of `\u0061` (JSON) and `%u0061` (which CGI.pm decodes).
fn without_units(text: &str) -> String {
    let mut rest = text;
    let mut result = String::with_capacity(text.len());
    while let Some(at) = rest.find(['\\', '%']) {
        let (before, escape) = rest.split_at(at);
        result.push_str(before);
        let digits = escape.get(1..2).filter(|u| u.eq_ignore_ascii_case("u")).and_then(|_| escape.get(2..6));
        let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let length = match unit {
            Some(unit) => {
                result.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
                6
            }
            None => {
                result.extend(escape.chars().next());
                1
            }
        };
        rest = escape.get(length..).unwrap_or_default();
    }
    result + rest
}

fn has_secret_name(text: &str) -> bool {
    let lower = text.to_lowercase();
    FRAGMENTS.iter().any(|fragment| lower.contains(fragment)) || parts(text).any(|part| is_secret_part(&part))
}

fn is_secret_part(part: &str) -> bool {
    let singular = part.strip_suffix('s').unwrap_or(part);
    ENDS.iter().any(|end| singular.ends_with(end)) || PARTS.contains(&singular)
}

/// Parts of names in lower case: `userPIN[apiKey2]` has `user`, `pin`, `api`, `key`.
fn parts(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphabetic());
    words.flat_map(|word| {
        let mut parts = vec![String::new()];
        let mut was_lower = false;
        let mut letters = word.chars().peekable();
        while let Some(letter) = letters.next() {
            let is_next_lower = letters.peek().is_some_and(|next| next.is_lowercase());
            if letter.is_uppercase() && (was_lower || is_next_lower) {
                parts.push(String::new());
            }
            was_lower = letter.is_lowercase();
            parts.last_mut().into_iter().for_each(|part| part.extend(letter.to_lowercase()));
        }
        parts
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_recognized_in_each_encoding() {
        let secret = "user[pin] pinNumber userPIN PINCode apikey api_key keys code2 p%61ssword p%2561ssword p\\u0061ss \
            p%u0061ss PHPSESSID jwt X-CSRF sid sig new.otp creditcard cvv2 ssn signature credential oauth_verifier";
        for name in secret.split(' ') {
            assert!(is_secret(name), "{name}");
        }
        for name in "user page keyboard pinned color decoded q id opinion".split(' ') {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn values_are_secret_if_a_name_of_a_secret_and_a_separator_are_in_them() {
        let secret = [
            "/x?token=a",
            "%2Fx%3Ftoken%3Da",
            "%252Fx%253Ftoken%253Da",
            r#"{"password":"x"}"#,
            r#"{\"p\u0061ssword\":\"x\"}"#,
            "mutation { login(password: \"x\") }",
            "<pin>1</pin>",
            "http:%2f%2fa:b@c/",
            "eyJhbGciOiJIUzI1NiJ9.e30.x",
        ];
        for value in secret {
            assert!(contains_secret(value), "{value}");
        }
        for value in ["x", "a=b", "the pin of a map", "100%", "a\\", "%u00", "\\u", "é%é"] {
            assert!(!contains_secret(value), "{value}");
        }
        assert!(contains_secret(&format!("%{}41", "25".repeat(20))), "too many encodings");
    }
}
