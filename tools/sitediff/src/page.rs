//! The comparison of one page.

use std::collections::{BTreeMap, BTreeSet};

use http::header::HeaderName;
use serde::Serialize;

use super::fetch::ServerResponse;
use super::headers::{ComparedHeaders, compared};
use super::normalized::{NormalizedBody, body};
use bench::RequestTarget;

/// Lines of a body that a report shows of each server.
const SHOWN: usize = 3;

/// The result for one path.
#[derive(Debug, Serialize)]
pub struct ComparedPage {
    /// Path and query.
    pub path: String,
    /// The differences; none: the servers answer alike.
    pub differences: Vec<Difference>,
    /// Whether the old server's own pages differ so much that the body was not compared.
    pub varies: bool,
    /// Whether each server sent its own page for this status, with another text: the bodies were not compared.
    pub own_pages: bool,
}

/// A difference between the servers.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Difference {
    /// A server did not answer.
    Failure {
        /// `old` or `new`
        server: &'static str,
        /// Text of the error, for the report.
        reason: String,
    },
    /// HTTP statuses that differ.
    Status {
        /// The old server's.
        old: u16,
        /// The new server's.
        new: u16,
    },
    /// A header; `None`: absent.
    Header {
        /// Name in lower case.
        name: String,
        /// The old server's value.
        old: Option<String>,
        /// The new server's value.
        new: Option<String>,
    },
    /// A body that is text, from the first line that differs.
    Text {
        /// Number of this line, from 1.
        line: usize,
        /// The old server's lines from `line` on, at most three.
        old: Vec<String>,
        /// The new server's lines from `line` on, at most three.
        new: Vec<String>,
    },
    /// Another body: the sizes in bytes.
    Bytes {
        /// Size at the old server.
        old: usize,
        /// Size at the new server.
        new: usize,
    },
}

/// The servers, and the headers that are not compared.
pub struct Sides<'a> {
    /// The old and the new server.
    pub servers: [&'a RequestTarget; 2],
    pub ignored: &'a [HeaderName],
}

impl Sides<'_> {
    /// Compares the new server's response with the old server's two.
    pub fn compare(&self, path: &str, old: [&ServerResponse; 2], new: &ServerResponse) -> ComparedPage {
        let [first, again] = old;
        let mut differences = Vec::new();
        if first.status != new.status {
            differences.push(Difference::Status { old: first.status, new: new.status });
        }
        let own_pages =
            first.status == new.status && first.body != new.body && is_of_server(first) && is_of_server(new);
        let headers = |answer: &ServerResponse, side: usize| {
            let mut headers = compared(&answer.headers, self.ignored, self.servers[side]);
            if own_pages {
                headers.remove("content-type");
            }
            headers
        };
        differences.extend(of_headers(&headers(first, 0), &headers(again, 0), &headers(new, 1)));
        if own_pages {
            return ComparedPage { path: path.to_owned(), differences, varies: false, own_pages };
        }
        let bodies = (body(first, self.servers[0]), body(again, self.servers[0]), body(new, self.servers[1]));
        let varies = match bodies {
            (NormalizedBody::Text(first), NormalizedBody::Text(again), NormalizedBody::Text(new)) => {
                match volatile_lines(&first, &again) {
                    Some(volatile) => {
                        differences.extend(of_lines(&first, &new, &volatile));
                        false
                    }
                    None => true,
                }
            }
            (first, again, _) if first != again => true,
            (first, _, new) => {
                if first != new {
                    differences.push(Difference::Bytes { old: old[0].body.len(), new: new_length(&new) });
                }
                false
            }
        };
        ComparedPage { path: path.to_owned(), differences, varies, own_pages }
    }
}

/// Whether the body is the page that httpd or Cameleer sends for a status without one: its title is the status.
fn is_of_server(answer: &ServerResponse) -> bool {
    let text = String::from_utf8_lossy(&answer.body);
    let [first, second, third] = [0, 1, 2].map(|at| text.lines().nth(at).unwrap_or_default());
    let title = format!("<title>{} ", answer.status);
    let is_httpd = first.starts_with("<!DOCTYPE HTML PUBLIC ") && second == "<html><head>" && third.starts_with(&title);
    let is_ours =
        first == "<!DOCTYPE html>" && second.starts_with("<html lang=\"en\"><head>") && second.contains(&title);
    answer.status >= 300 && (is_httpd || is_ours)
}

fn new_length(body: &NormalizedBody) -> usize {
    match body {
        NormalizedBody::Bytes(bytes) => bytes.len(),
        NormalizedBody::Text(lines) => lines.iter().map(|line| line.len() + 1).sum(),
    }
}

/// Headers that differ, unless the old server's own values do.
fn of_headers(first: &ComparedHeaders, again: &ComparedHeaders, new: &ComparedHeaders) -> Vec<Difference> {
    let names: BTreeSet<&String> = first.keys().chain(new.keys()).collect();
    let differs = |name: &&&String| {
        let [first, again, new] = [first, again, new].map(|headers| headers.get(**name));
        // A value that varies must be there.
        first != new && (first == again || (first.is_some() && again.is_some() && new.is_none()))
    };
    let shown = |name: &String| Difference::Header {
        name: name.clone(),
        old: first.get(name).cloned(),
        new: new.get(name).cloned(),
    };
    names.iter().filter(differs).map(|name| shown(name)).collect()
}

/// The lines in which two pages of one server differ, each with the bytes that both have at the begin and at the end;
/// `None`: the pages have different numbers of lines.
fn volatile_lines(first: &[String], again: &[String]) -> Option<BTreeMap<usize, (usize, usize)>> {
    let differing = || first.iter().zip(again).enumerate().filter(|(_, (one, other))| one != other);
    (first.len() == again.len()).then(|| differing().map(|(at, (one, other))| (at, stable(one, other))).collect())
}

/// Lengths of the words that two lines have in common at their begin and at their end. A word that begins alike may be
/// a time or a token.
fn stable(one: &str, other: &str) -> (usize, usize) {
    let is_end = |byte: u8| byte.is_ascii_whitespace() || b"\"'<>=&;()".contains(&byte);
    let (bytes, others) = (one.as_bytes(), other.as_bytes());
    let same = bytes.iter().zip(others).take_while(|(one, other)| one == other).count();
    let begin = bytes[..same].iter().rposition(|byte| is_end(*byte)).map_or(0, |at| at + 1);
    let (bytes, others) = (&bytes[begin..], &others[begin..]);
    let same = bytes.iter().rev().zip(others.iter().rev()).take_while(|(one, other)| one == other).count();
    let end = bytes[bytes.len() - same..].iter().position(|byte| is_end(*byte)).map_or(0, |at| same - at);
    (begin, end)
}

/// Whether a line has the begin and the end of a line that varies.
fn is_like(line: &str, old: &str, stable: (usize, usize)) -> bool {
    let (begin, end) = stable;
    let (line, old) = (line.as_bytes(), old.as_bytes());
    line.len() >= begin + end && line[..begin] == old[..begin] && line[line.len() - end..] == old[old.len() - end..]
}

fn of_lines(old: &[String], new: &[String], volatile: &BTreeMap<usize, (usize, usize)>) -> Option<Difference> {
    let is_same = |at: usize| match (volatile.get(&at), old.get(at), new.get(at)) {
        (Some(stable), Some(old), Some(new)) => is_like(new, old, *stable),
        (_, old, new) => old == new,
    };
    let at = (0..old.len().max(new.len())).find(|at| !is_same(*at))?;
    let from = |lines: &[String]| lines.iter().skip(at).take(SHOWN).cloned().collect();
    Some(Difference::Text { line: at + 1, old: from(old), new: from(new) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderMap;

    fn answer(status: u16, body: &str) -> ServerResponse {
        ServerResponse { status, headers: HeaderMap::new(), body: body.as_bytes().to_vec() }
    }

    fn compared(old: [&ServerResponse; 2], new: &ServerResponse) -> ComparedPage {
        let server = RequestTarget::parse("http://h/").expect("a URL");
        Sides { servers: [&server, &server], ignored: &[] }.compare("/", old, new)
    }

    #[test]
    fn lines_that_vary_on_the_old_server_are_not_compared() {
        let (first, again) = (answer(200, "a\nat 10:00\nb"), answer(200, "a\nat 10:01\nb"));
        let same = compared([&first, &again], &answer(200, "a\nat 10:02\nb"));
        assert!(same.differences.is_empty() && !same.varies);
        let other = compared([&first, &again], &answer(200, "a\nat 10:02\nc\nd"));
        let shown = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        assert_eq!(other.differences, [Difference::Text { line: 3, old: shown(&["b"]), new: shown(&["c", "d"]) }]);
        let cut = compared([&first, &again], &answer(200, "a"));
        assert_eq!(cut.differences.len(), 1, "a line that varies must be there");
        assert!(compared([&first, &answer(200, "a\nb")], &first).varies);
        let gone = compared([&first, &again], &answer(200, "a\nerror\nb"));
        assert_eq!(gone.differences.len(), 1, "of a line that varies, the other words are compared");
        let [one, other] = ["<i id=\"ab1\" x=\"1\">", "<i id=\"ab2\" x=\"1\">"].map(|body| answer(200, body));
        assert!(compared([&one, &other], &answer(200, "<i id=\"f\" x=\"1\">")).differences.is_empty());
        assert_eq!(compared([&one, &other], &answer(200, "<i id=\"f\" x=\"2\">")).differences.len(), 1);
    }

    #[test]
    fn the_servers_own_pages_for_a_status_are_alike() {
        let httpd = "<!DOCTYPE HTML PUBLIC \"-//IETF//DTD HTML 2.0//EN\">\n<html><head>\n<title>404 Not Found</title>\n</head><body>\n";
        let ours =
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>404 Not Found</title></head>\n";
        let old = answer(404, httpd);
        let page = compared([&old, &old], &answer(404, ours));
        assert!(page.own_pages && page.differences.is_empty(), "{page:?}");
        let page = compared([&old, &old], &answer(404, "<!DOCTYPE html>\n<html>\n<title>404 of the site</title>"));
        assert!(!page.own_pages && page.differences.len() == 1, "{page:?}");
        let other = compared([&old, &old], &answer(403, &ours.replace("404", "403")));
        assert_eq!(other.differences[0], Difference::Status { old: 404, new: 403 });
    }

    #[test]
    fn statuses_and_other_bodies_are_compared() {
        let old = answer(200, "a\0b");
        let differences = compared([&old, &old], &answer(404, "a\0bc")).differences;
        assert_eq!(differences, [Difference::Status { old: 200, new: 404 }, Difference::Bytes { old: 3, new: 4 }]);
    }

    #[test]
    fn headers_are_compared_unless_they_vary() {
        let with = |name: &str, value: &str| ComparedHeaders::from([(name.to_owned(), value.to_owned())]);
        assert_eq!(of_headers(&with("x", "1"), &with("x", "2"), &with("x", "3")), []);
        assert_eq!(of_headers(&with("x", "1"), &with("x", "2"), &ComparedHeaders::new()).len(), 1);
        let found = of_headers(&with("x", "1"), &with("x", "1"), &ComparedHeaders::new());
        assert_eq!(found, [Difference::Header { name: "x".to_owned(), old: Some("1".to_owned()), new: None }]);
        assert_eq!(of_headers(&ComparedHeaders::new(), &ComparedHeaders::new(), &with("y", "1")).len(), 1);
    }
}
