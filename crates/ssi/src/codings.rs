//! `encoding` and `decoding` of `echo` and `set`: lists of none, url, urlencoded, base64 and entity.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::entities;

/// Names separated by commas or blanks, in the order in which they are applied.
fn names(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| matches!(byte, b',' | b' ' | b'\t')).filter(|name| !name.is_empty())
}

/// The value after each decoding of the list. The error is the name of an unknown one.
pub fn decode<'a>(list: &'a [u8], value: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, &'a [u8]> {
    names(list).try_fold(value, |value, name| {
        Ok(match name.to_ascii_lowercase().as_slice() {
            b"none" => value,
            b"url" => percent_decoded(&value, false).into(),
            b"urlencoded" => percent_decoded(&value, true).into(),
            b"base64" => from_base64(&value).into(),
            b"entity" => entities::decode(&value).into(),
            _ => return Err(name),
        })
    })
}

/// The value after each encoding of the list. The error is the name of an unknown one.
pub fn encode<'a>(list: &'a [u8], value: Cow<'a, [u8]>) -> Result<Cow<'a, [u8]>, &'a [u8]> {
    names(list).try_fold(value, |value, name| {
        Ok(match name.to_ascii_lowercase().as_slice() {
            b"none" => value,
            b"url" => percent_encoded(&value, b"$-_.+!*'(),:;@&=/~").into(),
            b"urlencoded" => spaces_as_plus(&value).into(),
            b"base64" => base64::engine::general_purpose::STANDARD.encode(&value).into_bytes().into(),
            b"entity" => entities::encode(&value).into(),
            _ => return Err(name),
        })
    })
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

/// The value with `%XX` decoded, and `+` as a blank if `plus`. Other percent signs stay. A zero byte ends it, as in httpd.
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
        assert_eq!(encoded("none,rot13", "<"), Err(&b"rot13"[..]));
        let decoded = |list: &'static str, value: &'static str| {
            decode(list.as_bytes(), value.as_bytes().into()).map(|value| String::from_utf8_lossy(&value).into_owned())
        };
        assert_eq!(decoded("base64,url", "YSUyMGI=").as_deref(), Ok("a b"));
        assert_eq!(decoded("url", "%zz%4").as_deref(), Ok("%zz%4"));
        assert_eq!(decoded("urlencoded", "%41+%00b").as_deref(), Ok("A "));
        assert_eq!(decoded("base64", "aGVsbG8!!").as_deref(), Ok("hello"));
    }

    #[test]
    fn nothing_of_a_query_is_special_to_a_shell() {
        assert_eq!(shell_escaped(b"a&b;'d'"), b"a\\&b\\;\\'d\\'");
    }
}
