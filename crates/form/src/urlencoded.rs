//! `a=1&b=two+words;c=%C3%A9`

/// The pairs of a query string or a form's body, decoded, in order. A name alone has an empty value.
pub fn pairs(text: &[u8]) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
    text.split(|byte| matches!(byte, b'&' | b';')).filter(|part| !part.is_empty()).map(|part| {
        let (name, value) = match memchr::memchr(b'=', part) {
            Some(at) => (&part[..at], &part[at + 1..]),
            None => (part, &[][..]),
        };
        (decoded(name), decoded(value))
    })
}

/// Decodes `+` to a space, `%XX` to a byte, and `%uXXXX` (old versions of JavaScript's `escape`) to a character
/// in UTF-8. Invalid escapes stay unchanged.
pub fn decoded(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'+', b'%', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = escape(&rest[at..], &mut out);
    }
    out.extend_from_slice(rest);
    out
}

/// Encodes a path for a URI; leaves the same bytes unencoded as httpd (`ap_os_escape_path`).
pub fn path_encoded(path: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len());
    for byte in path {
        match byte {
            byte if byte.is_ascii_alphanumeric() || b"$-_.+!*'(),:;@&=/~".contains(byte) => out.push(*byte),
            byte => out.extend_from_slice(format!("%{byte:02x}").as_bytes()),
        }
    }
    out
}

/// Decodes `%XX` to a byte; invalid escapes stay unchanged.
pub fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        let (byte, after) = match tail {
            [high, low, after @ ..] if *first == b'%' && high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                (number(&[*high, *low]) as u8, after)
            }
            _ => (*first, tail),
        };
        out.push(byte);
        rest = after;
    }
    out
}

/// Decodes the `+` or `%` at the start of `text`; returns the rest.
fn escape<'a>(text: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    match text {
        [b'+', rest @ ..] => {
            out.push(b' ');
            rest
        }
        [b'%', high, low, rest @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
            out.push(number(&[*high, *low]) as u8);
            rest
        }
        [b'%', b'u' | b'U', digits @ ..] if digits.len() >= 4 && digits[..4].iter().all(u8::is_ascii_hexdigit) => {
            let (digits, rest) = digits.split_at(4);
            let character = char::from_u32(number(digits)).unwrap_or(char::REPLACEMENT_CHARACTER);
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            rest
        }
        [other, rest @ ..] => {
            out.push(*other);
            rest
        }
        [] => text,
    }
}

fn number(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |sum, digit| sum * 16 + (*digit as char).to_digit(16).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::{pairs, percent_decoded};

    fn shown(text: &str) -> String {
        let pairs = pairs(text.as_bytes()).map(|(n, v)| format!("{}={}", n.escape_ascii(), v.escape_ascii()));
        pairs.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn escapes_are_decoded_and_invalid_ones_stay() {
        for (word, expected) in [("a%20b", "a b"), ("%", "%"), ("%4", "%4"), ("%zz%41", "%zzA"), ("", "")] {
            assert_eq!(percent_decoded(word.as_bytes()), expected.as_bytes(), "{word}");
        }
    }

    #[test]
    fn pairs_are_decoded_in_order() {
        let cases = [
            ("", ""),
            ("a=1&b=2;a=3", "a=1 b=2 a=3"),
            ("a", "a="),
            ("=1", "=1"),
            ("a=b=c", "a=b=c"),
            ("&&a=1;;", "a=1"),
            ("a+b=%41%zz%4", "a b=A%zz%4"),
            ("a=%C3%A9%00", "a=\\xc3\\xa9\\x00"),
            ("a=%u20ac%uD800%u20a", "a=\\xe2\\x82\\xac\\xef\\xbf\\xbd%u20a"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}
