//! Names, sizes and descriptions as the texts of a page.

/// Escapes a name for HTML. Control characters, which names may contain, become `?`.
pub fn escaped(name: &[u8]) -> Vec<u8> {
    let shown: Vec<u8> = name.iter().map(|byte| if byte.is_ascii_control() { b'?' } else { *byte }).collect();
    quoted(&shown)
}

/// Escapes a text of several lines for HTML.
pub fn quoted(text: &[u8]) -> Vec<u8> {
    let mut html = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            b'&' => html.extend(b"&amp;"),
            b'<' => html.extend(b"&lt;"),
            b'>' => html.extend(b"&gt;"),
            b'"' => html.extend(b"&quot;"),
            byte => html.push(*byte),
        }
    }
    html
}

/// Escapes a path for a URL, with the characters and the lower case of httpd.
pub fn path_encoded(path: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut url = Vec::with_capacity(path.len());
    for byte in path {
        if byte.is_ascii_alphanumeric() || b"$-_.+!*'(),:@&=/~".contains(byte) {
            url.push(*byte);
        } else {
            url.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    }
    url
}

/// The link to an entry, as HTML. A name with a colon could be taken for a scheme.
pub fn link(name: &[u8]) -> Vec<u8> {
    let is_like_a_url = name.split(|byte| *byte == b'/').next().is_some_and(|first| first.contains(&b':'));
    let prefix: &[u8] = if is_like_a_url { b"./" } else { b"" };
    escaped(&[prefix, &path_encoded(name)].concat())
}

/// A size in four characters, as `ls -h` does it: `812 `, `3.4K`, ` 17M`; `None` is that of a folder.
pub fn size(bytes: Option<u64>) -> String {
    /// A larger number of units is written in the next unit, so that it has three digits.
    const MAX_UNITS: u64 = 973;
    let Some(mut value) = bytes else { return "  - ".to_owned() };
    if value < MAX_UNITS {
        return format!("{value:3} ");
    }
    let mut units = "KMGTPE".chars();
    loop {
        let rest = value & 1023;
        value >>= 10;
        let unit = units.next().unwrap_or('E');
        if value >= MAX_UNITS {
            continue;
        }
        if value < 9 || value == 9 && rest < MAX_UNITS {
            let tenths = (rest * 5 + 256) / 512;
            let (value, tenths) = if tenths >= 10 { (value + 1, 0) } else { (value, tenths) };
            return format!("{value}.{tenths}{unit}");
        }
        return format!("{:3}{unit}", value + u64::from(rest >= 512));
    }
}

/// A name in `width` bytes: the end of a longer one is replaced with `..>`.
pub fn cut_name(name: &[u8], width: usize) -> Vec<u8> {
    if name.len() <= width {
        return name.to_vec();
    }
    let mut end = width.saturating_sub(3);
    // A cut within a character of UTF-8 would leave an invalid one.
    if std::str::from_utf8(name).is_ok() {
        while end > 0 && name[end] & 0xc0 == 0x80 {
            end -= 1;
        }
    }
    [&name[..end], &b"..>"[..]].concat()
}

/// The beginning of an HTML text with `width` visible characters; `>` stands for the rest. Tags have no width, an
/// entity has that of a character.
pub fn cut_description(html: &[u8], width: usize) -> Vec<u8> {
    let (mut at, mut left) = (0, width);
    while at < html.len() && (left > 0 || html[at] == b'<') {
        let end = match html[at] {
            b'<' => b'>',
            b'&' => b';',
            _ => {
                (at, left) = (at + 1, left - 1);
                continue;
            }
        };
        left -= usize::from(html[at] == b'&');
        match html[at..].iter().position(|byte| *byte == end) {
            Some(length) => at += length + 1,
            None => return html[..at].to_vec(),
        }
    }
    if at >= html.len() || at == 0 {
        return html[..at].to_vec();
    }
    [&html[..at - 1], &b">"[..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_four_characters() {
        for (bytes, expected) in [
            (0, "  0 "),
            (972, "972 "),
            (973, "1.0K"),
            (3482, "3.4K"),
            (9700, "9.5K"),
            (10_200, " 10K"),
            (995_000, "972K"),
            (17 << 20, " 17M"),
            (5 << 40, "5.0T"),
            (u64::MAX, " 16E"),
        ] {
            assert_eq!(size(Some(bytes)), expected);
        }
        assert_eq!(size(None), "  - ");
    }

    #[test]
    fn names_are_cut_between_characters() {
        assert_eq!(cut_name(b"abcdefgh", 8), b"abcdefgh");
        assert_eq!(cut_name(b"abcdefghi", 8), b"abcde..>");
        assert_eq!(cut_name("abcdäfghi".as_bytes(), 8), b"abcd..>");
    }

    #[test]
    fn descriptions_are_cut_by_their_visible_characters() {
        let cut = |html: &str, width| String::from_utf8(cut_description(html.as_bytes(), width)).unwrap();
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("too long", 5), "too >");
        assert_eq!(cut("an <i>italic &auml; text</i>", 12), "an <i>italic &auml;>");
        assert_eq!(cut("a <b", 9), "a ");
        assert_eq!(cut("abc &auml", 9), "abc ");
    }

    #[test]
    fn names_are_escaped_for_urls_and_pages() {
        assert_eq!(link(b"q?<&>\".txt"), b"q%3f%3c&amp;%3e%22.txt");
        assert_eq!(link(b"c:d"), b"./c:d");
        assert_eq!(link(b"a/c:d"), b"a/c:d");
        assert_eq!(link(b"100%"), b"100%25");
        assert_eq!(escaped(b"a\n\xff<"), b"a?\xff&lt;");
    }
}
