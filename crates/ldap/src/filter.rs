//! Search filters: from their text (RFC 4515) to their encoding (RFC 4511, section 4.5.1.7).

use super::ber::{BOOLEAN, OCTETS, element, group};

/// Maximum nesting of a filter.
const MAX_DEPTH: usize = 32;
/// Maximum length of a filter's text in bytes.
const MAX_BYTES: usize = 64 << 10;

const AND: u8 = 0xa0;
const OR: u8 = 0xa1;
const NOT: u8 = 0xa2;
const EQUAL: u8 = 0xa3;
const SUBSTRINGS: u8 = 0xa4;
const GREATER: u8 = 0xa5;
const LESS: u8 = 0xa6;
const PRESENT: u8 = 0x87;
const APPROXIMATE: u8 = 0xa8;
const EXTENSIBLE: u8 = 0xa9;

/// A filter, encoded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LdapFilter(Vec<u8>);

impl LdapFilter {
    /// Parses a filter. The parentheses around it may be left out. The error is the rest of a sentence.
    pub fn parse(text: &str) -> Result<LdapFilter, String> {
        let text = text.trim();
        let whole = if text.starts_with('(') { text.to_owned() } else { format!("({text})") };
        if whole.len() > MAX_BYTES {
            return Err(format!("expected a filter of at most {MAX_BYTES} bytes"));
        }
        let mut parser = Parser { rest: &whole };
        match parser.filter(0) {
            Some(filter) if parser.rest.trim().is_empty() => Ok(LdapFilter(filter)),
            _ => Err(format!("expected a filter like (objectClass=person), got \"{text}\"")),
        }
    }

    /// Matches entries with exactly this value.
    pub fn equal(attribute: &str, value: &[u8]) -> LdapFilter {
        LdapFilter(assertion(EQUAL, attribute, value))
    }

    /// Matches entries with the attribute.
    pub fn present(attribute: &str) -> LdapFilter {
        LdapFilter(element(PRESENT, attribute.as_bytes()))
    }

    /// Matches entries that both filters match.
    pub fn and(self, other: LdapFilter) -> LdapFilter {
        LdapFilter(group(AND, &[self.0, other.0]))
    }

    pub(super) fn encoded(&self) -> &[u8] {
        &self.0
    }
}

fn assertion(tag: u8, attribute: &str, value: &[u8]) -> Vec<u8> {
    group(tag, &[element(OCTETS, attribute.as_bytes()), element(OCTETS, value)])
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    /// `(…)`
    fn filter(&mut self, depth: usize) -> Option<Vec<u8>> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.take('(')?;
        self.rest = self.rest.trim_start();
        let filter = match self.rest.chars().next()? {
            '&' => group(AND, &self.filters(depth)?),
            '|' => group(OR, &self.filters(depth)?),
            '!' => {
                self.take('!')?;
                element(NOT, &self.filter(depth + 1)?)
            }
            _ => {
                let (item, rest) = self.rest.split_once(')')?;
                self.rest = rest;
                return comparison(item);
            }
        };
        self.take(')')?;
        Some(filter)
    }

    fn filters(&mut self, depth: usize) -> Option<Vec<Vec<u8>>> {
        self.rest = self.rest.get(1..)?.trim_start();
        let mut parts = Vec::new();
        while self.rest.starts_with('(') {
            parts.push(self.filter(depth + 1)?);
            self.rest = self.rest.trim_start();
        }
        (!parts.is_empty()).then_some(parts)
    }

    fn take(&mut self, sign: char) -> Option<()> {
        let rest = self.rest.trim_start();
        // Blanks after a filter are no part of a value.
        self.rest = match sign {
            ')' => rest.strip_prefix(sign)?.trim_start(),
            _ => rest.strip_prefix(sign)?,
        };
        Some(())
    }
}

/// `attribute=value`, `>=`, `<=`, `~=`, `=*`, `=a*b`, `:dn:rule:=value`
fn comparison(item: &str) -> Option<Vec<u8>> {
    let (left, value) = item.split_once('=')?;
    let last = left.chars().next_back()?;
    if last == ':' {
        return extensible(left.strip_suffix(':')?, value);
    }
    let (tag, attribute) = match last {
        '>' => (GREATER, left.strip_suffix('>')?),
        '<' => (LESS, left.strip_suffix('<')?),
        '~' => (APPROXIMATE, left.strip_suffix('~')?),
        _ => (EQUAL, left),
    };
    let attribute = description(attribute)?;
    match value {
        "*" if tag == EQUAL => Some(element(PRESENT, attribute.as_bytes())),
        value if tag == EQUAL && value.contains('*') => substrings(attribute, value),
        value => Some(assertion(tag, attribute, &unescaped(value)?)),
    }
}

fn description(text: &str) -> Option<&str> {
    let text = text.trim();
    let ordinary = |byte: u8| byte.is_ascii_alphanumeric() || b"-.;_".contains(&byte);
    (!text.is_empty() && text.bytes().all(ordinary)).then_some(text)
}

fn substrings(attribute: &str, value: &str) -> Option<Vec<u8>> {
    let pieces: Vec<&str> = value.split('*').collect();
    let last = pieces.len() - 1;
    let mut parts = Vec::new();
    for (number, piece) in pieces.iter().enumerate().filter(|(_, piece)| !piece.is_empty()) {
        let tag = match number {
            0 => 0x80,
            number if number == last => 0x82,
            _ => 0x81,
        };
        parts.push(element(tag, &unescaped(piece)?));
    }
    (!parts.is_empty()).then(|| group(SUBSTRINGS, &[element(OCTETS, attribute.as_bytes()), group(0x30, &parts)]))
}

fn extensible(left: &str, value: &str) -> Option<Vec<u8>> {
    let mut words = left.split(':');
    let attribute = words.next().unwrap_or_default();
    let (mut rule, mut names) = (None, false);
    for word in words {
        match word {
            dn if dn.eq_ignore_ascii_case("dn") && rule.is_none() && !names => names = true,
            word if rule.is_none() => rule = Some(description(word)?),
            _ => return None,
        }
    }
    if attribute.is_empty() && rule.is_none() {
        return None;
    }
    let mut parts: Vec<Vec<u8>> = rule.iter().map(|rule| element(0x81, rule.as_bytes())).collect();
    if !attribute.is_empty() {
        parts.push(element(0x82, description(attribute)?.as_bytes()));
    }
    parts.push(element(0x83, &unescaped(value)?));
    if names {
        parts.push(element(0x80 | (BOOLEAN + 3), &[0xff]));
    }
    Some(group(EXTENSIBLE, &parts))
}

/// A value: `\hh` is a byte; parentheses, the asterisk and NUL must be written so.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'\\' => {
                let (digits, after) = rest.split_at_checked(2)?;
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return None;
                }
                out.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
                rest = after;
            }
            b'(' | b')' | b'*' | 0 => return None,
            byte => out.push(*byte),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_one_element_whatever_it_contains() {
        let attack = "*)(uid=*))(|(uid=*";
        let filter = LdapFilter::equal("uid", attack.as_bytes());
        assert_eq!(filter.0.first(), Some(&EQUAL));
        assert!(filter.0.ends_with(&element(OCTETS, attack.as_bytes())));
        assert_eq!(LdapFilter::parse("(uid=\\2a\\29\\28uid=a)"), Ok(LdapFilter::equal("uid", b"*)(uid=a")));
    }

    #[test]
    fn the_text_of_each_kind_is_understood() {
        let all = "(&(objectClass=person)(|(uid=a*b*c)(!(cn~=x)))(age>=3)(age<=9)(mail=*)(cn:dn:2.4.6:=y)(:caseExactMatch:=z))";
        let filter = LdapFilter::parse(all).expect("a filter");
        assert_eq!(filter.0.first(), Some(&AND));
        assert_eq!(LdapFilter::parse("objectClass=*"), Ok(LdapFilter::present("objectClass")));
        assert_eq!(LdapFilter::parse("( & (a=1) (b=2) )"), LdapFilter::parse("(&(a=1)(b=2))"));
        assert_eq!(LdapFilter::parse("(cn=)"), Ok(LdapFilter::equal("cn", b"")));
        assert_eq!(LdapFilter::parse("(cn=München)"), Ok(LdapFilter::equal("cn", "München".as_bytes())));
    }

    #[test]
    fn a_wrong_text_is_refused() {
        let deep = format!("{}(a=1){}", "(!".repeat(100), ")".repeat(100));
        for text in [
            "",
            "()",
            "(a)",
            "(&)",
            "(a=1",
            "(a=1))",
            "(a=1)(b=2)",
            "(=1)",
            "(a=\\zz)",
            "(a=\\2)",
            "(a b=1)",
            "(:=1)",
            "(a=**)",
            &deep,
        ] {
            assert!(LdapFilter::parse(text).is_err(), "{text}");
        }
    }
}
