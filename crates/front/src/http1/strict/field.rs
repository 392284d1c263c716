//! Header fields (RFC 9112, section 5): a token, a colon without a space before it, a value without control characters,
//! on one line. Proxies and servers disagree about names with spaces and folded lines, so both are refused.

use super::Violation;

/// Bytes of a token, for names of methods and fields (RFC 9110, section 5.6.2).
const TOKEN: [bool; 256] = table(b"!#$%&'*+-.^_`|~", true);
/// Bytes of a field value: no control character but the tab (RFC 9110, section 5.5).
const VALUE: [bool; 256] = value();
/// Maximum number of bytes of a field name. `http::HeaderName` takes up to 64 KiB, which no real name needs.
const MAX_NAME_BYTES: usize = 1024;

const fn table(marks: &[u8], alphanumeric: bool) -> [bool; 256] {
    let mut table = [false; 256];
    let mut at = 0;
    while at < 256 {
        table[at] = alphanumeric && (at as u8).is_ascii_alphanumeric();
        at += 1;
    }
    at = 0;
    while at < marks.len() {
        table[marks[at] as usize] = true;
        at += 1;
    }
    table
}

const fn value() -> [bool; 256] {
    let mut table = [true; 256];
    let mut at = 0;
    while at < b' ' as usize {
        table[at] = at as u8 == b'\t';
        at += 1;
    }
    table[0x7f] = false;
    table
}

/// Whether `word` is a token (RFC 9110, section 5.6.2).
pub fn is_token(word: &[u8]) -> bool {
    !word.is_empty() && word.iter().all(|byte| TOKEN[usize::from(*byte)])
}

/// The bytes after the leading token of `text`; `None` if there is no token.
pub fn after_token(text: &[u8]) -> Option<&[u8]> {
    let length = text.iter().take_while(|byte| TOKEN[usize::from(**byte)]).count();
    text.get(length..).filter(|_| length > 0)
}

/// Whether each byte of `text` is allowed in a field value.
pub fn is_value(text: &[u8]) -> bool {
    text.iter().all(|byte| VALUE[usize::from(*byte)])
}

/// Splits a field line into name and trimmed value.
pub fn split(line: &[u8]) -> Result<(&[u8], &[u8]), Violation> {
    if matches!(line.first(), Some(b' ' | b'\t')) {
        return Err(Violation::bad("a header field continued on a second line"));
    }
    let colon = memchr::memchr(b':', line).ok_or(Violation::bad("a header field without a colon"))?;
    let (name, rest) = line.split_at(colon);
    let value = rest.get(1..).unwrap_or_default();
    if !is_token(name) || name.len() > MAX_NAME_BYTES {
        return Err(Violation::bad("a header field with an invalid name"));
    }
    if !is_value(value) {
        return Err(Violation::bad("a control character in a header field"));
    }
    Ok((name, trim(value)))
}

/// `value` without the optional white space around it (RFC 9110, section 5.6.3).
fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}
