//! `inspect` on the control socket: state that the mold and the workers report.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use serde_json::Value;

use crate::support::{Server, Site};

/// The names in `%INC` of each process, with its slot; the mold is first.
fn loaded(server: &Server) -> Vec<(Option<u64>, Value)> {
    let mut stream = UnixStream::connect(server.site.path("control.sock")).expect("connected");
    stream.write_all(b"{\"command\":\"inspect\",\"what\":\"loaded\"}\n").expect("asked");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("answered");
    let answer: Value = serde_json::from_str(&line).expect("JSON");
    let reports = answer["reports"].as_array().unwrap_or_else(|| panic!("{line}")).clone();
    let text = |one: &Value| {
        serde_json::from_str::<Value>(one["text"].as_str().expect("text")).expect("JSON")["modules"].clone()
    };
    reports.iter().map(|one| (one["worker"].as_u64(), text(one))).collect()
}

fn serve(app: &str) -> Server {
    Site::new().file("lib/Lazy.pm", "package Lazy; 1;").file("app.psgi", app).serve(
        "StartServers 2\nMinSpareServers 2\nMaxSpareServers 2\nMaxClients 2\nPerlLib lib\n<Location />\nPsgiApp app.psgi\n</Location>",
    )
}

#[test]
fn workers_report_the_code_that_they_have_loaded() {
    let server = serve("sub { require Lazy; $INC{qq{odd\\n\\x{e9}\\x{1f600}\\\"}} = 'x'; [200, [], ['']] }");
    server.until_idle(2);
    server.get("/").is(200);
    server.until_idle(2);
    let all = loaded(&server);
    assert_eq!(all.iter().filter(|(worker, _)| worker.is_none()).count(), 1, "one mold");
    assert_eq!(all.len(), 3);
    assert!(all.iter().all(|(_, loaded)| loaded["Cameleer.pm"].is_string()), "{all:?}");
    let lazy = all.iter().filter(|(_, loaded)| loaded["Lazy.pm"].is_string()).collect::<Vec<_>>();
    assert_eq!(lazy.len(), 1, "the worker that was asked");
    assert_eq!(lazy[0].1["odd\né😀\""], "x");
}

#[test]
fn a_busy_worker_is_left_out_of_an_inspection() {
    let server = serve(
        "sub { open my $f, '>', '@DIR@/begun'; close $f; select undef, undef, undef, 0.01 until -e '@DIR@/go'; [200, [], ['']] }",
    );
    server.until_idle(2);
    let mut busy = server.connect();
    busy.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    crate::support::until("the request runs", || server.site.has("begun"));
    let mut stream = UnixStream::connect(server.site.path("control.sock")).expect("connected");
    stream.write_all(b"{\"command\":\"inspect\",\"what\":\"loaded\"}\n").expect("asked");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("answered");
    let answer: Value = serde_json::from_str(&line).expect("JSON");
    let reports = answer["reports"].as_array().expect("an answer");
    assert_eq!(reports.iter().filter(|one| one["text"] == "").count(), 1, "{reports:?}");
    server.site.write("go", "");
    assert_eq!(busy.response().status, 200);
}
