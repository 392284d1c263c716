//! Places of CGI programs, their handlers by name, their environment and their responses. Each case was tried with
//! httpd 2.4, mod_cgi and mod_perl 2.

mod headers;
mod indexes;
mod places;
mod redirects;
mod variables;

use crate::support::{Response, Server};

/// A shell script that prints its environment.
const ENV: &str = "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nenv\n";

/// Fails the test unless the response has the line `line`.
#[track_caller]
fn has(server: &Server, target: &str, line: &str) {
    let text = server.get(target).text();
    assert!(text.lines().any(|found| found == line), "{target}: {line} is missing in {text}");
}

#[track_caller]
fn lacks(server: &Server, target: &str, word: &str) {
    let text = server.get(target).text();
    assert!(!text.contains(word), "{target}: {word} in {text}");
}

/// The values of a header, in their order.
fn values(response: &Response, name: &str) -> Vec<String> {
    response.headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone()).collect()
}
