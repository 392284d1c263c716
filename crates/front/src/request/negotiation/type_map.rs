//! Type maps: files that list the variants of a page (httpd manual, mod_negotiation).
//!
//! ```text
//! URI: page.en.html
//! Content-Type: text/html; qs=0.8        an empty line ends a variant
//! Content-Language: en
//! ```

use super::variant::Variant;

/// Maximum number of variants of a map: each is compared with the client's headers.
pub const MAX_VARIANTS: usize = 100;
/// Maximum number of languages of a variant: each is compared with those of the client.
const MAX_LANGUAGES: usize = 100;

/// The variants of a map. The error says where the map is invalid.
pub fn parse(text: &str, own_name: &str) -> Result<Vec<Variant>, String> {
    let mut map = MapReader { rest: text, line: 0, own_name, variants: Vec::new() };
    while !map.rest.is_empty() {
        map.variant()?;
    }
    Ok(map.variants)
}

struct MapReader<'a> {
    rest: &'a str,
    /// Number of the last line that was read.
    line: usize,
    /// Name of the map's file, which is that of variants with a body.
    own_name: &'a str,
    variants: Vec<Variant>,
}

impl<'a> MapReader<'a> {
    /// Reads the headers of a variant, up to an empty line.
    fn variant(&mut self) -> Result<(), String> {
        let (mut variant, mut has_content) = (Variant::default(), false);
        while let Some(header) = self.header() {
            let Some((name, value)) = header.split_once(':') else {
                return Err(format!("line {}: expected a header, got \"{}\"", self.line, header.trim_ascii()));
            };
            let value = without_comments(value);
            if value.trim_ascii().is_empty() {
                return Err(format!("line {}: {name} has no value", self.line));
            }
            has_content |= self.add(&mut variant, &name.to_ascii_lowercase(), value.trim_ascii())?;
        }
        if !variant.name.is_empty() && has_content {
            if self.variants.len() == MAX_VARIANTS {
                return Err(format!("line {}: a type map may have at most {MAX_VARIANTS} variants", self.line));
            }
            self.variants.push(variant);
        }
        Ok(())
    }

    /// Applies a header. Returns whether the header describes the content.
    fn add(&mut self, variant: &mut Variant, name: &str, value: &str) -> Result<bool, String> {
        let first = || value.split([',', ';']).next().unwrap_or_default().trim_ascii().to_owned();
        match name {
            "uri" => variant.name = first(),
            "content-type" => variant.describe(value),
            "content-length" => {
                let invalid = |_| format!("line {}: Content-Length \"{value}\" is no number", self.line);
                variant.length = Some(value.parse().map_err(invalid)?);
            }
            "content-language" => {
                variant.add_languages(value);
                if variant.languages.len() > MAX_LANGUAGES {
                    return Err(format!("line {}: a variant may have at most {MAX_LANGUAGES} languages", self.line));
                }
            }
            "content-encoding" => variant.encoding = first(),
            "description" => variant.description = value.replace(['\r', '\n'], " "),
            "body" => self.body(variant, value)?,
            _ => {}
        }
        Ok(name.starts_with("content-"))
    }

    /// Reads the text up to the next occurrence of `tag`, and the rest of that line.
    fn body(&mut self, variant: &mut Variant, tag: &str) -> Result<(), String> {
        let unended = || format!("line {}: the end \"{tag}\" of the body is missing", self.line);
        let (body, rest) = self.rest.split_once(tag).ok_or_else(unended)?;
        self.rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        self.line += body.matches('\n').count() + 1;
        variant.length = Some(body.len() as u64);
        variant.body = Some(body.as_bytes().to_vec());
        variant.name = self.own_name.to_owned();
        Ok(())
    }

    /// A header with its continuation lines; `None` at an empty line, or at the end.
    fn header(&mut self) -> Option<String> {
        let mut line = self.next_line()?;
        while line.starts_with('#') {
            line = self.next_line()?;
        }
        if line.trim_ascii().is_empty() {
            return None;
        }
        let mut header = line.to_owned();
        let has_body = line.get(..5).is_some_and(|name| name.eq_ignore_ascii_case("body:"));
        if has_body {
            return Some(header);
        }
        loop {
            if self.rest.starts_with('#') {
                self.next_line();
                continue;
            }
            let next = self.rest.split('\n').next().unwrap_or_default();
            if !next.starts_with([' ', '\t']) || next.trim_ascii().is_empty() {
                return Some(header);
            }
            header.extend(self.next_line());
        }
    }

    fn next_line(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        self.line += 1;
        Some(line)
    }
}

/// The value without `(comments)`.
fn without_comments(value: &str) -> String {
    let (mut depth, mut quoted) = (0_u32, false);
    let kept = value.chars().filter(|c| {
        match c {
            '"' if depth == 0 => quoted = !quoted,
            '(' if !quoted => depth = 1,
            ')' if !quoted && depth > 0 => {
                depth = 0;
                return false;
            }
            _ => {}
        }
        depth == 0
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Result<String, String> {
        let variants = parse(text, "own.var")?;
        let shown = variants.iter().map(|variant| {
            let body = variant.body.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
            format!("{}:{}:{}:{}", variant.name, variant.mime, variant.language_list(), body.trim_end())
        });
        Ok(shown.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn variants_are_separated_by_empty_lines() {
        for (text, expected) in [
            ("", ""),
            ("URI: a\n\nURI: b\nContent-Type: text/html\n", "b:text/html::"),
            ("#x\nuri: a.en (English)\ncontent-LANGUAGE: EN, fr\n", "a.en::en,fr:"),
            ("URI: a\nContent-Type:\n text/html;\n#x\n charset=utf-8\n\n", "a:text/html::"),
            (
                "Content-Type: a/b\nBody:--x--\nhello\n\nURI: c\n--x--\nContent-Language: de\n",
                "own.var:a/b:de:hello\n\nURI: c",
            ),
        ] {
            assert_eq!(names(text).expect("a map"), expected, "{text}");
        }
    }

    #[test]
    fn an_invalid_map_is_an_error_with_its_line() {
        for (text, expected) in [
            ("URI: a\nno header\n", "line 2: expected a header, got \"no header\""),
            ("URI:\n", "line 1: URI has no value"),
            ("Body:--x--\nhello\n", "line 1: the end \"--x--\" of the body is missing"),
            ("URI: a\nContent-Length: x\n", "line 2: Content-Length \"x\" is no number"),
        ] {
            assert_eq!(names(text).unwrap_err(), expected, "{text}");
        }
        let many = "URI: a\nContent-Language: en\n\n".repeat(MAX_VARIANTS + 1);
        assert!(names(&many).is_err());
        let languages = "en,".repeat(MAX_LANGUAGES + 1);
        assert!(names(&format!("URI: a\nContent-Language: {languages}\n")).is_err());
    }
}
