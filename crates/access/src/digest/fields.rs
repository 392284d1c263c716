//! The fields of an `Authorization: Digest` header: `name=value` or `name="value"`, separated by commas.

/// Maximum number of fields; RFC 7616 has eleven.
const MAX_FIELDS: usize = 32;

/// Fields in the order of the header. Names are compared without case.
pub struct DigestFields(Vec<(String, String)>);

impl DigestFields {
    /// The value of a field, which is not empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(value.as_str()).filter(|value| !value.is_empty())
    }
}

/// Parses a header's value. `None`: another scheme, or malformed. If a field occurs twice, its first value applies.
pub fn parse(header: &[u8]) -> Option<DigestFields> {
    let (scheme, mut rest) = std::str::from_utf8(header).ok()?.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("digest") {
        return None;
    }
    let mut fields = Vec::new();
    while fields.len() < MAX_FIELDS {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if rest.is_empty() {
            return Some(DigestFields(fields));
        }
        let (name, after) = rest.split_once('=')?;
        let (value, left) = value(after.trim_start())?;
        fields.push((name.trim().to_owned(), value));
        rest = left;
    }
    None
}

/// A token or a quoted string (RFC 9110, section 5.6.4), and the rest of the text.
fn value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        let (token, rest) = text.split_at_checked(end)?;
        return Some((token.to_owned(), rest));
    };
    let (mut value, mut characters) = (String::new(), quoted.chars());
    loop {
        match characters.next()? {
            '"' => return Some((value, characters.as_str())),
            '\\' => value.push(characters.next()?),
            other => value.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_token_or_a_quoted_string() {
        let fields = parse(br#"Digest username="a\"n, n", NC=00000001 ,qop=auth,, uri="/a=b""#).expect("well-formed");
        for (name, value) in [("username", "a\"n, n"), ("nc", "00000001"), ("qop", "auth"), ("uri", "/a=b")] {
            assert_eq!(fields.get(name), Some(value));
        }
        assert_eq!(fields.get("cnonce"), None);
    }

    #[test]
    fn a_malformed_header_has_no_fields() {
        for header in
            [&b"Digest"[..], b"Basic a=b", b"Digest username=\"ann", b"Digest username", b"Digest a=\"\\", b"\xff"]
        {
            assert!(parse(header).is_none(), "{header:?}");
        }
        assert!(parse(format!("Digest {}", "a=b,".repeat(1000)).as_bytes()).is_none(), "too many fields");
    }
}
