//! Access logs are compared byte by byte.

use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use wire::control::ToFront;

use super::Server;
use super::worker::Script;

const APP: &str = "DocumentRoot ROOT/www\n<Location /app>\nSetHandler perl-script\nPerlHandler X\n</Location>\n";

/// The log of one request, with variable values replaced.
fn logged(format: &str, request: &str) -> String {
    let text = format!("{APP}LogFormat \"{}\" x\nCustomLog ROOT/log x\n", format.replace('"', "\\\""));
    let mut server = Server::with_workers(&text, 1, Script::default());
    let mut client = server.client();
    let method = request.split(' ').next().expect("a method");
    let status = client.send(request).answer_to(method).status;
    assert_ne!(status, 0);
    drop(client);
    let log = server.log();
    let time = regex::Regex::new(r"\[\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [-+]\d{4}\]").expect("a pattern");
    time.replace_all(&log, "[TIME]").into_owned()
}

fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: www.example\r\n{headers}\r\n")
}

#[test]
fn common_and_combined_are_apaches() {
    let common = r#"%h %l %u %t "%r" %>s %b"#;
    let combined = r#"%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i""#;
    let cases = [
        (common, get("/app/x?y=1", ""), "127.0.0.1 - - [TIME] \"GET /app/x?y=1 HTTP/1.1\" 200 5\n"),
        (common, get("/app/notes", ""), "127.0.0.1 - joe [TIME] \"GET /app/notes HTTP/1.1\" 200 5\n"),
        (common, get("/app/empty", ""), "127.0.0.1 - - [TIME] \"GET /app/empty HTTP/1.1\" 200 -\n"),
        (common, "HEAD /app HTTP/1.0\r\n\r\n".to_owned(), "127.0.0.1 - - [TIME] \"HEAD /app HTTP/1.0\" 200 -\n"),
        (common, get("/none", ""), "127.0.0.1 - - [TIME] \"GET /none HTTP/1.1\" 404 "),
        (combined, get("/app", ""), "127.0.0.1 - - [TIME] \"GET /app HTTP/1.1\" 200 5 \"-\" \"-\"\n"),
        (
            combined,
            get("/app", "Referer: http://a/\"\\\r\nUser-Agent: x\ty\u{e9}\r\n"),
            "127.0.0.1 - - [TIME] \"GET /app HTTP/1.1\" 200 5 \"http://a/\\\"\\\\\" \"x\\ty\\xc3\\xa9\"\n",
        ),
    ];
    for (format, request, expected) in cases {
        let line = logged(format, &request);
        assert!(line.starts_with(expected), "{line:?} is not {expected:?}");
    }
}

#[test]
fn every_item_says_what_its_table_promises() {
    let notes = get("/app/notes", "X-A: 1\r\nX-A: 2\r\n");
    let cases = [
        ("%a %A %m %H %U%q %%", &notes, "127.0.0.1 127.0.0.1 GET HTTP/1.1 /app/notes %\n"),
        ("%{X-A}i %{x-a}o %{None}o", &notes, "1, 2 b -\n"),
        ("%{n}n|%{E}e|%{none}n|%{none}e|%u", &notes, "a note|an env|-|-|joe\n"),
        ("%B %b %s %>s %<s %k %l %X", &notes, "5 5 200 200 200 0 - +\n"),
        ("%{cameleer:cpu_us}x %{cameleer:worker}x %P", &notes, "42 0 1000\n"),
        ("%!200{X-A}i|%!404{X-A}i|%200,404{X-A}i|%500{X-A}i", &notes, "-|1, 2|1, 2|-\n"),
        ("%v %V", &notes, "main.example www.example\n"),
    ];
    for (format, request, expected) in cases {
        let text = format!("{APP}ServerName main.example\nLogFormat \"{format}\" x\nCustomLog ROOT/log x\n");
        let mut server = Server::with_workers(&text, 1, Script::default());
        assert_eq!(server.client().send(request).answer().status, 200);
        assert_eq!(server.log(), expected, "{format}");
    }
}

#[test]
fn bytes_are_counted_on_the_wire() {
    let text = format!("{APP}LogFormat \"%I %O\" x\nCustomLog ROOT/log x\n");
    let mut server = Server::with_workers(&text, 1, Script::default());
    let mut client = server.client();
    let request = get("/app", "Connection: close\r\n");
    let received = client.send(&request).rest().len();
    drop(client);
    assert_eq!(server.log(), format!("{} {received}\n", request.len()));
}

#[test]
fn a_client_that_left_is_logged_so() {
    let (script, gate) = Script::gated();
    let text = format!("{APP}LogFormat \"%s %X %r\" x\nCustomLog ROOT/log x\n");
    let mut server = Server::with_workers(&text, 1, script);
    let mut client = server.client();
    client.send(get("/app/late", ""));
    client.head();
    client.reset();
    server.wait_for(|status| status.connections == 0);
    gate.send(()).expect("opened");
    assert_eq!(server.client().send(get("/app", "Connection: close\r\n")).answer().status, 200);
    assert_eq!(server.log(), "200 X GET /app/late HTTP/1.1\n200 - GET /app HTTP/1.1\n");
}

#[test]
fn logs_go_on_in_new_files() {
    let text = format!("{APP}LogFormat \"%U\" x\nCustomLog ROOT/log x\n");
    let mut server = Server::with_workers(&text, 1, Script::default());
    assert_eq!(server.client().get("/app/1").status, 200);
    let new = tempfile::tempfile().expect("a file");
    let errors = std::io::stderr();
    server.control.send(&ToFront::Logs, &[errors.as_raw_fd(), new.as_raw_fd()]).expect("sent");
    server.status();
    assert_eq!(server.client().get("/app/2").status, 200);
    assert_eq!(server.log(), "/app/1\n");
    let mut text = [0; 20];
    let n = new.read_at(&mut text, 0).expect("read");
    assert_eq!(&text[..n], b"/app/2\n");
}
