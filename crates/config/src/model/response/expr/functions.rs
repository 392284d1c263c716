//! Functions of expressions whose result depends on the argument alone.

use ::base64::Engine;
use ::base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use percent_encoding::percent_encode;
use sha1::Sha1;

use base::path::{CANONICAL, Text};

/// A function from text to text.
pub type Transformation = fn(&str) -> String;

/// The functions by name, in lower case.
const FUNCTIONS: &[(&str, Transformation)] = &[
    ("tolower", str::to_ascii_lowercase),
    ("toupper", str::to_ascii_uppercase),
    ("escape", escape),
    ("unescape", unescape),
    ("base64", base64),
    ("unbase64", unbase64),
    ("md5", |text| hexadecimal(&Md5::digest(Text::bytes_in(text)))),
    ("sha1", |text| hexadecimal(&Sha1::digest(Text::bytes_in(text)))),
    ("ldap", LDAP),
];

/// `ldap`
pub const LDAP: Transformation = ldap;

/// The function with this name in lower case.
pub fn find(name: &str) -> Option<Transformation> {
    FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
}

/// `base64`
pub fn base64(text: &str) -> String {
    STANDARD.encode(Text::bytes_in(text))
}

/// `escape`: `%hh` with small letters, as in httpd.
fn escape(text: &str) -> String {
    let bytes = Text::bytes_in(text);
    let parts = percent_encode(&bytes, CANONICAL);
    parts.map(|part| if part.starts_with('%') { part.to_ascii_lowercase() } else { part.to_owned() }).collect()
}

/// `unescape`: encoded slashes stay; a wrong code or `%00` makes the result empty.
fn unescape(text: &str) -> String {
    let bytes = Text::bytes_in(text);
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes.as_slice();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            out.push(*first);
            continue;
        }
        let code = after.split_at_checked(2).and_then(|(code, after)| Some((digits(code)?, code, after)));
        match code {
            None | Some((0, ..)) => return String::new(),
            Some((b'/', code, after)) => {
                out.push(b'%');
                out.extend_from_slice(code);
                rest = after;
            }
            Some((byte, _, after)) => {
                out.push(byte);
                rest = after;
            }
        }
    }
    Text::new(&out).0
}

fn digits(code: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(code).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u8::from_str_radix(text, 16).ok()
}

/// `unbase64`: characters from the first wrong one on are ignored, as in httpd.
fn unbase64(text: &str) -> String {
    let valid = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(byte)).count();
    let mut encoded = text.get(..valid - usize::from(valid % 4 == 1)).unwrap_or_default().to_owned();
    encoded.extend(std::iter::repeat_n('=', (4 - encoded.len() % 4) % 4));
    // Bits beyond the last byte are ignored.
    let lenient = ::base64::engine::GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true);
    let engine = ::base64::engine::GeneralPurpose::new(&::base64::alphabet::STANDARD, lenient);
    Text::new(&engine.decode(encoded).unwrap_or_default()).0
}

/// `ldap`: escapes a text for names and filters of LDAP (RFC 4514, RFC 4515).
fn ldap(text: &str) -> String {
    let last = text.chars().count().saturating_sub(1);
    let escaped = text.chars().enumerate().map(|(at, c)| {
        let is_special = "*()\\,+\"<>;\0".contains(c) || at == 0 && " #".contains(c) || at == last && c == ' ';
        if is_special { format!("\\{:02x}", u32::from(c)) } else { c.to_string() }
    });
    escaped.collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `replace(text, from, to)`: replaces all occurrences.
pub fn replace(text: &str, from: &str, to: &str) -> String {
    if from.is_empty() { text.to_owned() } else { text.replace(from, to) }
}

/// The length of [`replace`]'s result in bytes.
pub fn replaced_length(text: &str, from: &str, to: &str) -> usize {
    match from.is_empty() {
        true => text.len(),
        false => text.len() + text.matches(from).count() * to.len().saturating_sub(from.len()),
    }
}
