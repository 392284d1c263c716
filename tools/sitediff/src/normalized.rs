//! A body in a form that does not depend on the server's address, cut into lines for the comparison.

use super::fetch::ServerResponse;
use bench::RequestTarget;

/// Stands for the server's scheme, host and port in pages and headers.
const SITE: &str = "http://SITE";

/// Lines of a text, or the bytes of anything else.
#[derive(Debug, PartialEq, Eq)]
pub enum NormalizedBody {
    /// Lines without their ends.
    Text(Vec<String>),
    /// An image, an archive.
    Bytes(Vec<u8>),
}

/// The body of a response, without what differs between two servers of one site.
pub fn body(response: &ServerResponse, server: &RequestTarget) -> NormalizedBody {
    match std::str::from_utf8(&response.body) {
        Ok(text) if !text.contains('\0') => NormalizedBody::Text(lines(text, server)),
        _ if is_text(response) => NormalizedBody::Text(lines(&latin_1(&response.body), server)),
        _ => NormalizedBody::Bytes(response.body.clone()),
    }
}

/// A text in which the server's own URLs are the same for both servers.
pub fn without_address(text: &str, server: &RequestTarget) -> String {
    let scheme = if server.tls { "https" } else { "http" };
    let own = format!("{scheme}://{}", server.authority);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(&own) {
        let after = rest.get(at + own.len()..).unwrap_or_default();
        // `http://host:80` is not an address of `http://host:8080`.
        let is_whole = !after.starts_with(|next: char| next.is_ascii_alphanumeric() || matches!(next, '.' | '-'));
        out.push_str(rest.get(..at).unwrap_or_default());
        out.push_str(if is_whole { SITE } else { &own });
        rest = after;
    }
    out + rest
}

fn lines(text: &str, server: &RequestTarget) -> Vec<String> {
    without_address(text, server).lines().map(|line| line.trim_end().to_owned()).collect()
}

fn is_text(response: &ServerResponse) -> bool {
    let kind = response.headers.get(http::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    ["text/", "application/xml", "application/xhtml", "application/javascript", "application/json"]
        .iter()
        .any(|prefix| kind.starts_with(prefix))
}

fn latin_1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_servers_own_address_is_replaced() {
        let server = RequestTarget::parse("http://localhost:80/").expect("a URL");
        let page = "http://localhost:80/a http://localhost:8080/ https://localhost:80/ (http://localhost:80)";
        let expected = "http://SITE/a http://localhost:8080/ https://localhost:80/ (http://SITE)";
        assert_eq!(without_address(page, &server), expected);
    }
}
