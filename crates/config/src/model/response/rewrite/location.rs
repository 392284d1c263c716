//! URLs that rules send clients to.

use percent_encoding::{AsciiSet, percent_encode};

use base::path::{PATH, Text};

/// Bytes of a path that are escaped in `Location`, as in httpd.
const SENT: &AsciiSet = &PATH
    .remove(b'$')
    .remove(b'!')
    .remove(b'*')
    .remove(b'(')
    .remove(b')')
    .remove(b',')
    .remove(b';')
    .remove(b':')
    .remove(b'@')
    .remove(b'&')
    .remove(b'=');

/// Bytes that are escaped in any URL, even with `NE`.
const UNESCAPED: &AsciiSet = &percent_encoding::CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>');

/// Whether a text begins with a URL scheme.
pub fn is_absolute(text: &str) -> bool {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_word = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let rest = text.get(scheme.len()..).unwrap_or_default();
    is_word && (rest.starts_with("://") || matches!(scheme, "mailto" | "news"))
}

/// URL for `Location`. A query that the client sent is not escaped again.
pub fn location(url: &str, query: Option<&str>, is_escaped: bool, is_sent_query: bool) -> String {
    let escape = |part: &str| match is_escaped {
        true => percent_encode(&Text::bytes_in(part), SENT).to_string(),
        false => percent_encode(&Text::bytes_in(part), UNESCAPED).to_string(),
    };
    // Only a question mark of the configuration begins a query; any other is part of the path.
    let escape_path = |path: &str| escape(path).replace('?', "%3F");
    let authority = url.find("://").map_or(0, |at| at + 3);
    let path = url.get(authority..).and_then(|rest| rest.find('/')).map_or(url.len(), |at| authority + at);
    let (origin, path) = url.split_at(path);
    let query = query.map(|query| match is_sent_query {
        true => format!("?{query}"),
        false => format!("?{}", escape(query)),
    });
    format!("{origin}{}{}", escape_path(path), query.unwrap_or_default())
}
