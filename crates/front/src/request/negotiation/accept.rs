//! `Accept`, `Accept-Language`, `Accept-Charset` and `Accept-Encoding` as httpd reads them, and media types of variants
//! in the same syntax: `name;q=0.5;level=2;charset=utf-8`.

use http::HeaderMap;
use http::header::{ACCEPT, ACCEPT_CHARSET, ACCEPT_ENCODING, ACCEPT_LANGUAGE, HeaderName};

/// Maximum number of items of a header that count: each is compared with each variant.
const MAX_ITEMS: usize = 200;

#[derive(Debug, Clone, PartialEq)]
pub struct AcceptItem {
    /// In lower case.
    pub name: String,
    /// `q` or `qs`, from 0 to 1; 1 if it is missing or invalid.
    pub quality: f32,
    /// `level`; 2 for HTML without one.
    pub level: f32,
    /// `charset`, in lower case; empty without one.
    pub charset: String,
}

/// The items of the four headers; `None`: the client did not send the header.
#[derive(Debug, Default)]
pub struct Accepts {
    pub types: Option<Vec<AcceptItem>>,
    pub languages: Option<Vec<AcceptItem>>,
    pub charsets: Option<Vec<AcceptItem>>,
    pub encodings: Option<Vec<AcceptItem>>,
}

impl Accepts {
    /// Parses the headers of a request.
    pub fn of(headers: &HeaderMap) -> Accepts {
        let of = |name: HeaderName| {
            let mut values = headers.get_all(name).iter().peekable();
            values.peek()?;
            let values: Vec<_> = values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
            Some(items(&values.join(",")))
        };
        Accepts {
            types: of(ACCEPT),
            languages: of(ACCEPT_LANGUAGE),
            charsets: of(ACCEPT_CHARSET),
            encodings: of(ACCEPT_ENCODING),
        }
    }
}

/// The items of a header's value.
pub fn items(mut line: &str) -> Vec<AcceptItem> {
    let mut items = Vec::new();
    while !line.is_empty() && items.len() < MAX_ITEMS {
        let (item, rest) = item(line);
        items.push(item);
        line = rest;
    }
    items
}

/// The first item of `line`, and the rest behind its comma.
pub fn item(line: &str) -> (AcceptItem, &str) {
    let (name, mut rest) = token(line, false);
    let name = name.to_ascii_lowercase();
    let level = match name.as_str() {
        "text/html" | SERVER_PARSED => 2.0,
        SERVER_PARSED_3 => 3.0,
        _ => 0.0,
    };
    let mut item = AcceptItem { name, quality: 1.0, level, charset: String::new() };
    while let Some(parameters) = rest.strip_prefix(';') {
        let (parameter, behind) = token(parameters, true);
        item.add(parameter);
        rest = behind;
    }
    (item, rest.strip_prefix(',').unwrap_or(rest))
}

/// httpd's types of pages with server-side includes, which count as HTML.
pub const SERVER_PARSED: &str = "text/x-server-parsed-html";
/// As [`SERVER_PARSED`], of HTML 3.
pub const SERVER_PARSED_3: &str = "text/x-server-parsed-html3";

impl AcceptItem {
    fn add(&mut self, parameter: &str) {
        let end = parameter.find(|c: char| c == '=' || c.is_ascii_whitespace());
        let Some((name, value)) = end.and_then(|end| parameter.split_at_checked(end)) else { return };
        let value = value.trim_start_matches(|c: char| c == '=' || c.is_ascii_whitespace());
        let value = match value.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next(),
            None => value.split_ascii_whitespace().next(),
        };
        let value = value.unwrap_or_default().to_ascii_lowercase();
        match name.to_ascii_lowercase().as_str() {
            "q" | "qs" => self.quality = quality(&value),
            // An invalid number counts as 0, as with C's atoi.
            "level" => self.level = value.parse().unwrap_or(0.0),
            "charset" => self.charset = value,
            _ => {}
        }
    }
}

/// The text up to a comma or semicolon outside of quotes, or up to white space unless `spaces` belong to it; and the
/// rest.
fn token(line: &str, spaces: bool) -> (&str, &str) {
    let line = line.trim_ascii_start();
    let mut quoted = false;
    let end = line.find(|c: char| {
        quoted ^= c == '"';
        !quoted && (c == ',' || c == ';' || !spaces && c.is_ascii_whitespace())
    });
    let (token, rest) = line.split_at_checked(end.unwrap_or(line.len())).unwrap_or((line, ""));
    (token.trim_ascii_end(), rest.trim_ascii_start())
}

/// Up to three digits behind the point. Anything else than `0…` or `.…` counts as 1.
fn quality(text: &str) -> f32 {
    let text = text.trim_ascii_start();
    let digits = match text.strip_prefix('0').unwrap_or(text).strip_prefix('.') {
        Some(digits) => digits,
        None if text.starts_with('0') => "",
        None => return 1.0,
    };
    let digits = digits.bytes().take(3).take_while(u8::is_ascii_digit).map(|digit| u16::from(digit - b'0'));
    let thousandths: u16 = digits.zip([100, 10, 1]).map(|(digit, place)| digit * place).sum();
    f32::from(thousandths) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_read_as_httpd_reads_them() {
        let read = |line: &str| {
            let items = items(line);
            items.iter().map(|item| format!("{}={}", item.name, item.quality)).collect::<Vec<_>>().join(" ")
        };
        for (line, expected) in [
            ("", ""),
            ("DE, fr;q=0.5", "de=1 fr=0.5"),
            ("a;q=.25,b;q=0.1234,c;q=2,d;q=0,e;q=x", "a=0.25 b=0.123 c=1 d=0 e=1"),
            ("text/html text/plain", "text/html=1 text/plain=1"),
            (";;q=x,,de", "=1 =1 de=1"),
            ("a; q = 0.5 ; x=\"a,b;q=0\", b", "a=0.5 b=1"),
            ("a;qs=0.8", "a=0.8"),
        ] {
            assert_eq!(read(line), expected, "{line}");
        }
        let (html, _) = item("Text/HTML; level=3; charset=\"UTF-8\"");
        assert_eq!((html.level, html.charset.as_str()), (3.0, "utf-8"));
        assert_eq!(items(&"a,".repeat(1000)).len(), MAX_ITEMS);
    }
}
