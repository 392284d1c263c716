//! `encoding` and `decoding` of `echo` and `set`: lists of none, url, urlencoded, base64 and entity.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::entities;
use crate::substitute::MAX_VALUE;

/// Maximum number of names in a list of codings.
pub const MAX_CODINGS: usize = 8;
/// Longest value after each coding of a list, in bytes.
pub const MAX_CODED: usize = 4 * MAX_VALUE;

/// Why a list of codings cannot be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodingFault<'a> {
    /// No coding has this name.
    Unknown(&'a [u8]),
    /// The list has more than [`MAX_CODINGS`] names.
    TooMany,
    /// The value became longer than [`MAX_CODED`].
    TooLong,
}

/// Names separated by commas or blanks, in the order in which they are applied.
fn names(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| matches!(byte, b',' | b' ' | b'\t')).filter(|name| !name.is_empty())
}

/// The value after each decoding of the list.
pub fn decode<'a>(list: &'a [u8], value: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, CodingFault<'a>> {
    coded(list, value, |name, value| {
        Some(match name {
            b"url" => percent_decoded(value, false),
            b"urlencoded" => percent_decoded(value, true),
            b"base64" => from_base64(value),
            b"entity" => entities::decode(value),
            _ => return None,
        })
    })
}

/// The value after each encoding of the list.
pub fn encode<'a>(list: &'a [u8], value: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, CodingFault<'a>> {
    coded(list, value, |name, value| {
        Some(match name {
            b"url" => percent_encoded(value, b"$-_.+!*'(),:;@&=/~"),
            b"urlencoded" => spaces_as_plus(value),
            b"base64" => base64::engine::general_purpose::STANDARD.encode(value).into_bytes(),
            b"entity" => entities::encode(value),
            _ => return None,
        })
    })
}

/// The value after each coding of the list. `code` gets a name in lower case, and returns `None` for an unknown one.
fn coded<'a>(
    list: &'a [u8],
    mut value: Cow<'a, [u8]>,
    code: fn(&[u8], &[u8]) -> Option<Vec<u8>>,
) -> Result<Cow<'a, [u8]>, CodingFault<'a>> {
    for (index, name) in names(list).enumerate() {
        if index == MAX_CODINGS {
            return Err(CodingFault::TooMany);
        }
        if name.eq_ignore_ascii_case(b"none") {
            continue;
        }
        let next = code(&name.to_ascii_lowercase(), &value).ok_or(CodingFault::Unknown(name))?;
        if next.len() > MAX_CODED {
            return Err(CodingFault::TooLong);
        }
        value = Cow::Owned(next);
    }
    Ok(value)
}

fn from_base64(value: &[u8]) -> Vec<u8> {
    let lenient = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    let is_code = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let length = value.iter().take_while(is_code).count();
    // A single character of a group of four holds no whole byte.
    let length = if length % 4 == 1 { length - 1 } else { length };
    GeneralPurpose::new(&STANDARD, lenient).decode(value.get(..length).unwrap_or_default()).unwrap_or_default()
}

/// The value with `%XX` decoded, and `+` as a blank if `plus`. Other percent signs stay. A zero byte ends it, as in
/// httpd.
pub fn percent_decoded(value: &[u8], plus: bool) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((first, after)) = rest.split_first() {
        let code = if *first == b'%' { after.get(..2).and_then(hexadecimal) } else { None };
        let byte = match code {
            Some(byte) => byte,
            None if plus && *first == b'+' => b' ',
            None => *first,
        };
        if byte == 0 {
            break;
        }
        decoded.push(byte);
        rest = after.get(if code.is_some() { 2 } else { 0 }..).unwrap_or_default();
    }
    decoded
}

fn hexadecimal(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16).ok()
}

fn percent_encoded(value: &[u8], plain: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(value.len());
    for byte in value {
        match byte.is_ascii_alphanumeric() || plain.contains(byte) {
            true => encoded.push(*byte),
            false => encoded.extend_from_slice(format!("%{byte:02x}").as_bytes()),
        }
    }
    encoded
}

fn spaces_as_plus(value: &[u8]) -> Vec<u8> {
    let mut encoded = percent_encoded(value, b".-*_ ");
    encoded.iter_mut().filter(|byte| **byte == b' ').for_each(|byte| *byte = b'+');
    encoded
}

/// The text with a backslash before each character that a shell treats specially (httpd's `ap_escape_shell_cmd`).
pub fn shell_escaped(text: &[u8]) -> Vec<u8> {
    let special = b"&;`'\"|*?~<>^()[]{}$\\\n";
    text.iter().flat_map(|byte| special.contains(byte).then_some(b'\\').into_iter().chain([*byte])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_codings_apply_in_their_order() {
        let encoded = |list: &'static str, value: &'static str| {
            encode(list.as_bytes(), value.as_bytes().into()).map(|value| String::from_utf8_lossy(&value).into_owned())
        };
        assert_eq!(encoded("url", "a b&c/d?e=f%").as_deref(), Ok("a%20b&c/d%3fe=f%25"));
        assert_eq!(encoded("urlencoded", "a b&c/d?e=f%").as_deref(), Ok("a+b%26c%2fd%3fe%3df%25"));
        assert_eq!(encoded("entity, BASE64", "<").as_deref(), Ok("Jmx0Ow=="));
        assert_eq!(encoded("none,rot13", "<"), Err(CodingFault::Unknown(b"rot13")));
        let decoded = |list: &'static str, value: &'static str| {
            decode(list.as_bytes(), value.as_bytes().into()).map(|value| String::from_utf8_lossy(&value).into_owned())
        };
        assert_eq!(decoded("base64,url", "YSUyMGI=").as_deref(), Ok("a b"));
        assert_eq!(decoded("url", "%zz%4").as_deref(), Ok("%zz%4"));
        assert_eq!(decoded("urlencoded", "%41+%00b").as_deref(), Ok("A "));
        assert_eq!(decoded("base64", "aGVsbG8!!").as_deref(), Ok("hello"));
    }

    #[test]
    fn a_list_of_codings_is_bounded_in_length_and_growth() {
        let names = |count: usize| vec!["base64"; count].join(",");
        assert!(encode(names(MAX_CODINGS).as_bytes(), Cow::Borrowed(&b"a"[..])).is_ok());
        assert_eq!(encode(names(MAX_CODINGS + 1).as_bytes(), Cow::Borrowed(&b"a"[..])), Err(CodingFault::TooMany));
        let long = vec![b'&'; MAX_VALUE];
        assert_eq!(encode(b"entity", Cow::Borrowed(&long[..])), Err(CodingFault::TooLong));
        assert_eq!(encode(names(MAX_CODINGS).as_bytes(), Cow::Borrowed(&long[..])), Err(CodingFault::TooLong));
    }

    #[test]
    fn nothing_of_a_query_is_special_to_a_shell() {
        assert_eq!(shell_escaped(b"a&b;'d'"), b"a\\&b\\;\\'d\\'");
    }
}
