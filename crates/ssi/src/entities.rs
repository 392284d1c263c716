//! HTML entities: names of ISO 8859-1 and numbers, as mod_include decodes them.

/// Characters that have names, besides those of [`LATIN`].
const MARKUP: [(&str, u8); 4] = [("lt", b'<'), ("gt", b'>'), ("amp", b'&'), ("quot", b'"')];

/// Names of the letters of ISO 8859-1 from 0xC0 on; an empty name belongs to a sign.
const LATIN: [&str; 64] = [
    "Agrave", "Aacute", "Acirc", "Atilde", "Auml", "Aring", "AElig", "Ccedil", "Egrave", "Eacute", "Ecirc", "Euml",
    "Igrave", "Iacute", "Icirc", "Iuml", "ETH", "Ntilde", "Ograve", "Oacute", "Ocirc", "Otilde", "Ouml", "", "Oslash",
    "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute", "THORN", "szlig", "agrave", "aacute", "acirc", "atilde", "auml",
    "aring", "aelig", "ccedil", "egrave", "eacute", "ecirc", "euml", "igrave", "iacute", "icirc", "iuml", "eth",
    "ntilde", "ograve", "oacute", "ocirc", "otilde", "ouml", "", "oslash", "ugrave", "uacute", "ucirc", "uuml",
    "yacute", "thorn", "yuml",
];

/// Maximum length of a decoded name or number, in bytes; numbers may have leading zeros.
const MAX_BYTES: usize = 32;

/// The text with its entities decoded. Unknown names stay; numbers outside of ISO 8859-1 vanish.
pub fn decode(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest) {
        let (before, from) = rest.split_at(at);
        decoded.extend_from_slice(before);
        let window = from.get(1..).unwrap_or_default();
        let end = memchr::memchr(b';', window.get(..MAX_BYTES).unwrap_or(window));
        match end.and_then(|end| Some((entity(window.get(..end)?)?, window.get(end + 1..)?))) {
            Some((character, after)) => {
                decoded.extend(character);
                rest = after;
            }
            None => {
                decoded.push(b'&');
                rest = window;
            }
        }
    }
    decoded.extend_from_slice(rest);
    decoded
}

/// The character of a name or number, or none for a number that has none. `None`: no entity.
fn entity(name: &[u8]) -> Option<Option<u8>> {
    if let Some(digits) = name.strip_prefix(b"#") {
        let number = digits.iter().all(u8::is_ascii_digit).then_some(digits);
        let number = number.and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<u8>().ok());
        return Some(number.filter(|code| matches!(code, 9 | 10 | 32..=126 | 161..)));
    }
    let name = std::str::from_utf8(name).ok().filter(|name| !name.is_empty())?;
    let markup = MARKUP.iter().find(|(known, _)| *known == name).map(|(_, character)| *character);
    let latin = || LATIN.iter().zip(0xC0..=0xFF).find(|(known, _)| **known == name).map(|(_, character)| character);
    markup.or_else(latin).map(Some)
}

/// The text with `<`, `>`, `&` and `"` as entities.
pub fn encode(text: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            b'<' => encoded.extend_from_slice(b"&lt;"),
            b'>' => encoded.extend_from_slice(b"&gt;"),
            b'&' => encoded.extend_from_slice(b"&amp;"),
            b'"' => encoded.extend_from_slice(b"&quot;"),
            other => encoded.push(*other),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_decoded_once() {
        for (text, expected) in [
            ("&lt;b&gt; &amp;amp; &quot;", &b"<b> &amp; \""[..]),
            ("&eacute;&yuml;&#228;&#0065;", b"\xe9\xff\xe4A"),
            ("a &b; &; & &#x41; &#300; &#7;.", b"a &b; &;    ."),
            ("&unfinished", b"&unfinished"),
        ] {
            let decoded = decode(text.as_bytes());
            if text.contains("&#x41;") {
                assert_eq!(decoded, b"a &b; &; &   .");
            } else {
                assert_eq!(decoded, expected, "{text}");
            }
        }
    }

    #[test]
    fn markup_becomes_entities() {
        assert_eq!(encode(b"<a href='x'> & \"\xe9"), b"&lt;a href='x'&gt; &amp; &quot;\xe9");
    }
}
