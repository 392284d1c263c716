//! The files of tests/http1/corpus: the bytes to send, and the responses that must follow.
//!
//! ```text
//!   # title of the case
//!   GET / HTTP/1.1\r\n           lines are concatenated; \r \n \t \\ \xNN, and \(text*300)
//!   Host: a\r\n\r\n
//!   => 200[GET / ] 400 close     each response in order, some with their body; then `close` or `open`
//! ```
//!
//! A response to HEAD is written `HEAD:200`. Each case is sent whole, and then byte by byte. Neither way may any part
//! of it count as a further request, in particular a line that contains `smuggled`.

use std::path::Path;

use super::ECHO;
use crate::support::{Connection, Request, Server, Site};

struct Case {
    about: String,
    sent: Vec<u8>,
    answers: Vec<Response>,
    stays_open: bool,
}

struct Response {
    status: u16,
    to_head: bool,
    body: Option<String>,
}

/// The two ways to send a case.
const WAYS: [&str; 2] = ["whole", "byte by byte"];

#[test]
fn request_lines() {
    run("request-line");
}

#[test]
fn hosts() {
    run("host");
}

#[test]
fn header_fields() {
    run("fields");
}

#[test]
fn lengths_of_bodies() {
    run("length");
}

#[test]
fn bodies_in_chunks() {
    run("chunked");
}

#[test]
fn paths() {
    run("path");
}

#[test]
fn connection_cases_of_the_corpus_pass() {
    run("connection");
}

#[track_caller]
fn run(file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/http1/corpus/{file}.txt"));
    let cases = read(&std::fs::read_to_string(path).expect("a corpus"));
    let server = serve();
    for case in &cases {
        for (way, piece) in WAYS.iter().zip([case.sent.len(), 1]) {
            let mut connection = server.connect();
            case.sent.chunks(piece).for_each(|bytes| connection.send_if_heard(bytes));
            case.check(&mut connection, way);
            assert_eq!(server.text("/alive"), "GET /alive ", "{} ({way}): the server lives", case.about);
        }
    }
    let log = log_of(server);
    // The log quotes a refused request line as it arrived, with status 400.
    let taken =
        |line: &str| line.starts_with("GET /smuggled") || !line.ends_with(" - 400") && line.contains("smuggled");
    assert!(!log.lines().any(taken), "{log}");
}

fn serve() -> Server {
    let app = "<Location />\nPsgiApp app.psgi\n</Location>\n";
    let files = "<Location /files>\nSetHandler default-handler\n</Location>\n";
    let secret =
        "<Location /files/secret>\nOrder Allow,Deny\n</Location>\n<Location /secret>\nOrder Allow,Deny\n</Location>\n";
    let limits = "LimitRequestLine 600\nLimitRequestFieldSize 400\nLimitRequestFields 20\nLimitRequestBody 1000\n";
    let log = "CustomLog access.log \"%r %U %>s\"\n";
    Site::new()
        .file("app.psgi", ECHO)
        .file("htdocs/files/a.txt", "a file")
        .file("htdocs/files/secret/b.txt", "smuggled")
        .file("outside.txt", "smuggled")
        .serve(&[app, files, secret, limits, log].concat())
}

/// Stops the server and returns its access log.
fn log_of(mut server: Server) -> String {
    server.signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
    server.site.read("access.log")
}

impl Case {
    fn check(&self, connection: &mut Connection, way: &str) {
        let about = format!("{} ({way})", self.about);
        for (n, answer) in self.answers.iter().enumerate() {
            let response = match answer.to_head {
                true => connection.head(),
                false => connection.response(),
            };
            let text = response.text();
            assert_eq!(response.status, answer.status, "{about}: answer {n}: {response:?}");
            assert!(answer.body.as_ref().is_none_or(|body| *body == text), "{about}: answer {n}: {text}");
            assert!(!text.contains("smuggled"), "{about}: answer {n}: {text}");
        }
        match self.stays_open {
            true => assert_eq!(connection.ask(Request::get("/next")).text(), "GET /next ", "{about}"),
            false => assert_eq!(String::from_utf8_lossy(&connection.rest()), "", "{about}: more than was expected"),
        }
    }
}

fn read(text: &str) -> Vec<Case> {
    let mut cases = Vec::new();
    let (mut about, mut sent) = (String::new(), Vec::new());
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(title) = line.strip_prefix("# ") {
            about = title.to_owned();
        } else if let Some(expected) = line.strip_prefix("=> ") {
            let (answers, end) = expected.rsplit_once(' ').unwrap_or(("", expected));
            let stays_open = match end {
                "open" => true,
                "close" => false,
                _ => panic!("{about}: {expected}"),
            };
            let answers = split_answers(answers).map(|word| answer(&word)).collect();
            cases.push(Case {
                about: std::mem::take(&mut about),
                sent: std::mem::take(&mut sent),
                answers,
                stays_open,
            });
        } else {
            unescape(line, &mut sent);
        }
    }
    assert!(about.is_empty() && sent.is_empty(), "{about}: without an end");
    cases
}

/// The words of the expected responses; a body in brackets may contain blanks.
fn split_answers(text: &str) -> impl Iterator<Item = String> {
    let pattern = regex::Regex::new(r"(?:HEAD:)?\d+(?:\[[^\]]*\])?").expect("a pattern");
    pattern.find_iter(text).map(|found| found.as_str().to_owned()).collect::<Vec<_>>().into_iter()
}

fn answer(word: &str) -> Response {
    let (word, to_head) = (word.trim_start_matches("HEAD:"), word.starts_with("HEAD:"));
    let (status, body) = match word.strip_suffix(']').and_then(|word| word.split_once('[')) {
        Some((status, body)) => (status, Some(body.to_owned())),
        None => (word, None),
    };
    Response { status: status.parse().expect("a status"), to_head, body }
}

fn unescape(line: &str, out: &mut Vec<u8>) {
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('\\') {
        out.extend_from_slice(before.as_bytes());
        rest = match after.split_at(1) {
            ("r", after) => push(out, b"\r", after),
            ("n", after) => push(out, b"\n", after),
            ("t", after) => push(out, b"\t", after),
            ("\\", after) => push(out, b"\\", after),
            ("x", after) => push(out, &[u8::from_str_radix(&after[..2], 16).expect("two digits")], &after[2..]),
            ("(", after) => {
                let (repeated, after) = after.split_once(')').expect("an end of the repetition");
                let (what, times) = repeated.rsplit_once('*').expect("how often");
                push(out, what.repeat(times.parse().expect("a number")).as_bytes(), after)
            }
            _ => panic!("what is {after:?}?"),
        };
    }
    out.extend_from_slice(rest.as_bytes());
}

fn push<'a>(out: &mut Vec<u8>, bytes: &[u8], rest: &'a str) -> &'a str {
    out.extend_from_slice(bytes);
    rest
}

#[test]
fn the_corpus_has_more_than_150_cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/http1/corpus");
    let files = std::fs::read_dir(folder).expect("the corpora");
    let texts = files.map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("text"));
    let cases: usize = texts.map(|text| read(&text).len()).sum();
    assert!(cases > 150, "{cases}");
}
