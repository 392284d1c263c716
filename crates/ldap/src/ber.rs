//! The encoding of LDAP: BER with definite lengths (RFC 4511, section 5.1).

use std::fmt;

/// Maximum length of a message in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// The bytes are no message of LDAP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LdapMalformed;

impl fmt::Display for LdapMalformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer is no message of LDAP")
    }
}

pub const INTEGER: u8 = 0x02;
pub const BOOLEAN: u8 = 0x01;
pub const OCTETS: u8 = 0x04;
pub const ENUMERATED: u8 = 0x0a;
pub const SEQUENCE: u8 = 0x30;
pub const SET: u8 = 0x31;

/// An element: tag, length, content.
pub fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    match content.len() {
        short @ 0..0x80 => out.push(short as u8),
        long => {
            let bytes = long.to_be_bytes();
            let first = bytes.iter().position(|byte| *byte != 0).unwrap_or_default();
            let significant = bytes.get(first..).unwrap_or_default();
            out.push(0x80 | significant.len() as u8);
            out.extend_from_slice(significant);
        }
    }
    out.extend_from_slice(content);
    out
}

/// An element of several elements.
pub fn group(tag: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    element(tag, &parts.concat())
}

pub fn number(tag: u8, value: u32) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    // A first byte from 0x80 would make the number negative.
    let first = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len() - 1);
    let mut content = bytes.get(first..).unwrap_or_default().to_vec();
    if content.first().is_some_and(|byte| byte & 0x80 != 0) {
        content.insert(0, 0);
    }
    element(tag, &content)
}

/// The length of the message at the beginning of the bytes, with its header. `None`: more bytes are needed.
pub fn length(bytes: &[u8]) -> Result<Option<usize>, LdapMalformed> {
    let Some((tag, rest)) = bytes.split_first() else { return Ok(None) };
    if *tag != SEQUENCE {
        return Err(LdapMalformed);
    }
    let Some((header, content)) = content_length(rest)? else { return Ok(None) };
    let whole = 1 + header + content;
    if whole > MAX_BYTES { Err(LdapMalformed) } else { Ok(Some(whole)) }
}

/// Number of length bytes, and the length that they encode.
fn content_length(bytes: &[u8]) -> Result<Option<(usize, usize)>, LdapMalformed> {
    let Some((first, rest)) = bytes.split_first() else { return Ok(None) };
    let count = usize::from(first & 0x7f);
    match first & 0x80 {
        0 => Ok(Some((1, count))),
        // Zero: an indefinite length, which LDAP does not have.
        _ if count == 0 || count > 4 => Err(LdapMalformed),
        _ => {
            let Some(digits) = rest.get(..count) else { return Ok(None) };
            let length = digits.iter().fold(0_usize, |length, digit| length << 8 | usize::from(*digit));
            Ok(Some((1 + count, length)))
        }
    }
}

/// Reads elements one after the other.
#[derive(Clone, Copy)]
pub struct BerReader<'a>(pub &'a [u8]);

impl<'a> BerReader<'a> {
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The next element: tag and content.
    pub fn next(&mut self) -> Result<(u8, &'a [u8]), LdapMalformed> {
        let (tag, rest) = self.0.split_first().ok_or(LdapMalformed)?;
        let (header, length) = content_length(rest)?.ok_or(LdapMalformed)?;
        let (content, rest) = rest.get(header..).and_then(|rest| rest.split_at_checked(length)).ok_or(LdapMalformed)?;
        self.0 = rest;
        Ok((*tag, content))
    }

    /// The content of the next element, which has this tag.
    pub fn content(&mut self, tag: u8) -> Result<&'a [u8], LdapMalformed> {
        match self.next()? {
            (found, content) if found == tag => Ok(content),
            _ => Err(LdapMalformed),
        }
    }

    /// The next element as a number from 0.
    pub fn number(&mut self, tag: u8) -> Result<u32, LdapMalformed> {
        let content = self.content(tag)?;
        match content.first() {
            Some(first) if first & 0x80 == 0 && content.len() <= 5 => {
                let number = content.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
                u32::try_from(number).map_err(|_| LdapMalformed)
            }
            _ => Err(LdapMalformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_element_is_read_as_it_was_written() {
        for size in [0, 1, 127, 128, 255, 256, 70_000] {
            let content = vec![7; size];
            let written = element(SEQUENCE, &content);
            assert_eq!(length(&written), Ok(Some(written.len())));
            assert_eq!(BerReader(&written).content(SEQUENCE), Ok(&content[..]));
            assert_eq!(length(&written[..1]), Ok(None));
        }
        for value in [0, 1, 127, 128, 255, 256, 65_535, u32::MAX] {
            assert_eq!(BerReader(&number(INTEGER, value)).number(INTEGER), Ok(value));
        }
    }

    #[test]
    fn a_message_that_is_too_long_or_has_no_length_is_refused() {
        assert_eq!(length(b"GET / HTTP/1.1"), Err(LdapMalformed));
        assert_eq!(length(&[SEQUENCE, 0x80]), Err(LdapMalformed));
        assert_eq!(length(&[SEQUENCE, 0x84, 0x7f, 0xff, 0xff, 0xff]), Err(LdapMalformed));
        assert_eq!(length(&[SEQUENCE, 0x89]), Err(LdapMalformed));
        assert_eq!(length(&[SEQUENCE, 0x82, 1]), Ok(None));
    }
}
