//! Lines of access logs, in Apache's common and combined formats.

use chrono::DateTime;

/// The request in a line of an access log.
#[derive(Debug, PartialEq, Eq)]
pub struct LoggedRequest<'l> {
    /// `GET`
    pub method: &'l str,
    /// Path and query.
    pub path: &'l str,
    /// When the request arrived, in seconds since 1970.
    pub second: i64,
}

impl LoggedRequest<'_> {
    /// Parses `host ident user [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 …`; the user's name may have
    /// blanks.
    pub fn parse(line: &str) -> Option<LoggedRequest<'_>> {
        let (_, rest) = line.split_once(" [")?;
        let (time, rest) = rest.split_once("] \"")?;
        let (request, _) = rest.split_once('"')?;
        let second = DateTime::parse_from_str(time, "%d/%b/%Y:%H:%M:%S %z").ok()?.timestamp();
        let mut words = request.split(' ');
        let (method, target) = (words.next()?, words.next()?);
        let is_whole = words.next().is_some_and(|version| version.starts_with("HTTP/")) && words.next().is_none();
        is_whole.then_some(LoggedRequest { method, path: path(target), second })
    }

    /// Whether the path can be sent unchanged: logs escape special characters.
    pub fn is_sendable(&self) -> bool {
        let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
        self.path.starts_with('/') && self.path.bytes().all(is_plain)
    }
}

/// The path of a target, which is a whole URL in requests to a proxy.
fn path(target: &str) -> &str {
    let Some((_, rest)) = target.split_once("://").filter(|_| !target.starts_with('/')) else { return target };
    rest.find('/').and_then(|slash| rest.get(slash..)).unwrap_or("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_line_has_method_path_and_time() {
        let common = r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a.gif?b=c HTTP/1.0" 200 2326"#;
        let expected = LoggedRequest { method: "GET", path: "/a.gif?b=c", second: 971_211_336 };
        assert_eq!(LoggedRequest::parse(common), Some(expected));
        let line =
            |request: &str| format!(r#"::1 - - [10/Oct/2000:13:55:36 +0000] "{request}" 200 5 "http://r/" "Agent""#);
        for (request, expected) in [
            ("GET / HTTP/1.1", Some("/")),
            ("GET http://localhost/x?http://y HTTP/1.1", Some("/x?http://y")),
            ("GET /?u=http://y/ HTTP/1.1", Some("/?u=http://y/")),
            ("POST /form HTTP/1.1", Some("/form")),
            ("GET /a\\\"b HTTP/1.1", None),
            ("GET /\\xc3 HTTP/1.1", None),
            ("OPTIONS * HTTP/1.1", None),
            ("-", None),
            ("\\x16\\x03\\x01", None),
        ] {
            let line = line(request);
            let path =
                LoggedRequest::parse(&line).filter(LoggedRequest::is_sendable).map(|entry| entry.path.to_owned());
            assert_eq!(path.as_deref(), expected, "{request}");
        }
        for wrong in ["", "[", " [x] \"GET / HTTP/1.1\"", " [10/Oct/2000:13:55:36 +0000] \"GET"] {
            assert_eq!(LoggedRequest::parse(wrong), None, "{wrong}");
        }
    }
}
