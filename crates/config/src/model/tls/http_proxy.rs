//! `MDHttpProxy`: the proxy between the server and the authorities that issue its certificates.

use std::fmt;

use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

/// An HTTP proxy without TLS.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpProxy {
    /// `host:port`
    pub address: String,
    /// `user:password`, percent-decoded. `None`: the proxy is used without a password.
    pub credentials: Option<String>,
}

/// Without the credentials, because this text may get into a log.
impl fmt::Debug for HttpProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpProxy").field("address", &self.address).finish_non_exhaustive()
    }
}

impl HttpProxy {
    /// Parses `[http://][user:password@]host:port[/]`. Errors contain the address, never the credentials.
    pub fn parse(url: &str) -> Result<HttpProxy, String> {
        let (scheme, rest) = scheme_of(url);
        let (credentials, address) = match rest.rsplit_once('@') {
            Some((credentials, address)) => (Some(credentials), address),
            None => (None, rest),
        };
        let address = address.strip_suffix('/').unwrap_or(address);
        if scheme.is_some_and(|scheme| !scheme.eq_ignore_ascii_case("http")) {
            return Err(format!("expected http://, the only scheme of a proxy, in front of \"{address}\""));
        }
        if !is_address(address) {
            return Err(format!(
                "expected http://host:port or http://user:password@host:port, got the address \"{address}\""
            ));
        }
        let credentials = credentials.map(decoded).transpose().map_err(|why| format!("{address}: {why}"))?;
        Ok(HttpProxy { address: address.to_owned(), credentials })
    }
}

/// The scheme in front of `://`, and the rest. A password may contain `://`, a scheme has no colon.
fn scheme_of(url: &str) -> (Option<&str>, &str) {
    match url.split_once("://") {
        Some((scheme, rest)) if !scheme.contains([':', '@']) => (Some(scheme), rest),
        _ => (None, url),
    }
}

fn is_address(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_[]:".contains(c);
    text.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && host.chars().all(is_plain) && port.parse::<u16>().is_ok_and(|port| port > 0)
    })
}

/// `user:password` for the scheme Basic, in which a user has no colon (RFC 7617, 2).
fn decoded(credentials: &str) -> Result<String, &'static str> {
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    let text = |part| percent_decode_str(part).decode_utf8().map_err(|_| "user and password must be UTF-8");
    let (user, password) = (text(user)?, text(password)?);
    if user.contains(':') {
        return Err("the user of a proxy cannot contain a colon");
    }
    if [&user, &password].iter().any(|part| part.contains(|c: char| c.is_ascii_control())) {
        return Err("user and password cannot contain control characters");
    }
    Ok(format!("{user}:{password}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(url: &str) -> Option<String> {
        let proxy = HttpProxy::parse(url).expect(url);
        assert_eq!(proxy.address, "proxy.test:3128");
        proxy.credentials
    }

    #[test]
    fn user_and_password_are_percent_decoded() {
        for url in ["http://proxy.test:3128", "HTTP://proxy.test:3128/", "proxy.test:3128"] {
            assert_eq!(credentials(url), None, "{url}");
        }
        for (url, expected) in [
            ("http://ana:secret@proxy.test:3128", "ana:secret"),
            ("ana:secret@proxy.test:3128/", "ana:secret"),
            ("http://ana:p%40ss%3Aw%2Frd%25@proxy.test:3128", "ana:p@ss:w/rd%"),
            ("http://ana:a@b:c@proxy.test:3128", "ana:a@b:c"),
            ("http://ana:x://y@proxy.test:3128", "ana:x://y"),
            ("http://ana@proxy.test:3128", "ana:"),
            ("http://%C3%A4:100%@proxy.test:3128", "ä:100%"),
        ] {
            assert_eq!(credentials(url).as_deref(), Some(expected), "{url}");
        }
        assert_eq!(HttpProxy::parse("http://[::1]:3128").expect("IPv6").address, "[::1]:3128");
    }

    #[test]
    fn errors_name_the_address_and_never_the_credentials() {
        for (url, expected) in [
            (
                "https://ana:secret@proxy.test:3128",
                "expected http://, the only scheme of a proxy, in front of \"proxy.test:3128\"",
            ),
            ("ana://secret@proxy.test:3128", "in front of \"proxy.test:3128\""),
            ("socks5h://ana:secret@proxy.test:3128", "in front of \"proxy.test:3128\""),
            (
                "https://proxy.test:3128",
                "expected http://, the only scheme of a proxy, in front of \"proxy.test:3128\"",
            ),
            ("http://ana:secret@proxy.test", "got the address \"proxy.test\""),
            ("ana:secret@proxy.test:0", "got the address \"proxy.test:0\""),
            ("http://ana:secret@proxy.test:3128/path", "got the address \"proxy.test:3128/path\""),
            ("ana:secret@:3128", "got the address \":3128\""),
            ("http://a%3Ana:secret@proxy.test:3128", "proxy.test:3128: the user of a proxy cannot contain a colon"),
            ("http://ana:secret%0D%0AX@proxy.test:3128", "proxy.test:3128: user and password cannot contain control"),
            ("http://ana:secret%FF@proxy.test:3128", "proxy.test:3128: user and password must be UTF-8"),
        ] {
            let error = HttpProxy::parse(url).expect_err(url);
            assert!(error.contains(expected) && !error.contains("secret") && !error.contains("ana"), "{url}: {error}");
        }
    }

    #[test]
    fn debug_output_hides_the_credentials() {
        let proxy = HttpProxy::parse("http://ana:secret@proxy.test:3128").expect("a proxy");
        assert_eq!(format!("{proxy:?}"), "HttpProxy { address: \"proxy.test:3128\", .. }");
    }
}
