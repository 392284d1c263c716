//! `MaxConcurrentReqs`: the front counts the requests, so that excess requests take no worker.

use crate::support::{Connection, Request, Server, Site, until};

/// A handler that creates a file when it begins, then works until the file `go` exists.
fn serve(conf: &str) -> Server {
    let site = Site::new().file(
        "lib/Wait.pm",
        "package Wait;\nuse Apache::Constants qw(:common);\nmy $n = 0;\n\
         sub handler { my $r = shift; my $dir = $r->dir_config('Dir');\n\
         if ($r->args) { open my $f, '>', \"$dir/begun-$$-\" . ++$n or die $!; close $f; select undef, undef, undef, 0.01 until -e \"$dir/go\"; }\n\
         $r->send_http_header('text/plain'); $r->print('done'); OK }\n1;\n",
    );
    site.serve(&format!(
        "MaxClients 4\nMinSpareServers 4\nMaxSpareServers 4\nPerlLib lib\nPerlModule Wait\nPerlSetVar Dir @DIR@/tmp\n\
         <Location /work>\nSetHandler perl-script\nPerlHandler Wait\n{conf}\n</Location>\n\
         <Location /other>\nSetHandler perl-script\nPerlHandler Wait\n</Location>"
    ))
}

fn begun(server: &Server) -> usize {
    std::fs::read_dir(server.site.path("tmp"))
        .expect("our folder")
        .filter(|e| e.as_ref().is_ok_and(|e| e.file_name().to_string_lossy().starts_with("begun-")))
        .count()
}

/// Sends `request` and waits until a worker has begun to work on it.
fn start(server: &Server, request: &str) -> Connection {
    let before = begun(server);
    let mut connection = server.connect();
    connection.raw(request);
    until("a worker has begun", || begun(server) > before);
    connection
}

const POST: &str = "POST /work/x?wait HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx";
const GET: &str = "GET /work/x?wait HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[test]
fn a_request_above_max_concurrent_reqs_is_refused_at_once() {
    let server = serve("<Limit PUT POST>\nMaxConcurrentReqs 1\n</Limit>");
    let mut first = start(&server, POST);
    let refused = server.post("/work/y", "a=b").is(503);
    assert_eq!(refused.header("Retry-After").as_deref(), Some("2"));
    let line = server.logged("MaxConcurrentReqs 1 reached");
    assert!(line.contains("[client 127.0.0.1:") && line.contains("/work/y"), "{line}");
    assert_eq!(server.status()["front"]["shed"]["max_concurrent"], 1);
    server.get("/work/y").is(200);
    server.post("/other", "a=b").is(200);
    server.site.write("tmp/go", "");
    assert_eq!(first.response().is(200).text(), "done");
    until("there is room again", || server.post("/work/y", "a=b").status == 200);
}

#[test]
fn a_client_that_leaves_makes_room_when_the_worker_is_done() {
    let server = serve("MaxConcurrentReqs 2");
    let (first, second) = (start(&server, GET), start(&server, POST));
    server.get("/work/y").is(503);
    drop((first, second));
    // The workers go on after the clients have left, so the limit is still reached.
    server.get("/work/y").is(503);
    server.site.write("tmp/go", "");
    until("there is room again", || server.get("/work/y").status == 200);
    server.until_idle(4);
    // Every slot is free again, and the limit is unchanged.
    std::fs::remove_file(server.site.path("tmp/go")).expect("our file");
    let (mut first, mut second) = (start(&server, GET), start(&server, GET));
    server.get("/work/y").is(503);
    server.site.write("tmp/go", "");
    first.response().is(200);
    second.response().is(200);
}

#[test]
fn max_concurrent_reqs_counts_in_each_section() {
    let server = serve("MaxConcurrentReqs 1\n</Location>\n<Location /work/own>\nMaxConcurrentReqs 1");
    let mut first = start(&server, GET);
    server.get("/work/y").is(503);
    server.get("/work/own").is(200);
    server.send(Request::get("/work/own/deep")).is(200);
    server.site.write("tmp/go", "");
    first.response().is(200);
}
