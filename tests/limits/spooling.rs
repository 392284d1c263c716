//! Storage of slow clients' bodies and responses: place and size.

use std::path::PathBuf;

use crate::support::{Connection, Server, Site, until};

/// A response of 32 MB, more than the socket buffers hold.
const APP: &str = r#"sub { my $e = shift; $e->{PATH_INFO} eq '/large' or return [200, [], ['small']];
    sub { my $w = $_[0]->([200, ['Content-Length' => 1 << 25]]); $w->write('x' x 65536) for 1 .. 512; $w->close } }"#;
const MEGABYTE: u64 = 1 << 20;
const LARGE: usize = 1 << 25;
/// Bytes that a slow client takes at a time.
const SMALL_PIECE: usize = 1 << 15;

fn site() -> Site {
    Site::new().file("app.psgi", APP).file("spool/keep", "")
}

fn serve(conf: &str) -> Server {
    let one = "MaxClients 1\nStartServers 1\nSpoolDirectory spool\n";
    site().serve(&format!("<Location />\nPsgiApp app.psgi\n</Location>\n{one}{conf}"))
}

/// Sizes in bytes of the unnamed files in `folder` that the front has open.
fn kept(server: &Server, folder: &str) -> Vec<u64> {
    let front = server.status()["front_pid"].as_i64().expect("a front");
    let held = std::fs::read_dir(format!("/proc/{front}/fd")).expect("the front runs");
    let lies_there = |fd: &PathBuf| {
        std::fs::read_link(fd).is_ok_and(|file| {
            file.starts_with(server.site.path(folder)) && file.to_string_lossy().ends_with("(deleted)")
        })
    };
    let files = held.filter_map(|fd| Some(fd.ok()?.path())).filter(lies_there);
    files.filter_map(|fd| Some(std::fs::metadata(fd).ok()?.len())).collect()
}

/// A client that has not read its response yet, and a second client that waits for the worker.
fn slow_and_waiting(server: &Server) -> (Connection, Connection) {
    let mut slow = server.connect();
    slow.raw("GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    until("the worker is held", || server.workers().iter().any(|(_, state)| state == "Busy"));
    let mut waiting = server.connect();
    waiting.raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    (slow, waiting)
}

#[test]
fn large_uploads_and_answers_lie_in_the_folder_that_is_named() {
    let server = serve("");
    let mut upload = server.connect();
    upload.raw(format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", 2 * MEGABYTE));
    upload.raw(vec![b'x'; MEGABYTE as usize]);
    until("the upload lies there", || *kept(&server, "spool") == [MEGABYTE]);
    upload.raw(vec![b'x'; MEGABYTE as usize]);
    assert_eq!(upload.response().is(200).text(), "small");
    let (mut slow, mut waiting) = slow_and_waiting(&server);
    assert_eq!(waiting.response().text(), "small");
    until("the answer lies there", || kept(&server, "spool").iter().sum::<u64>() > 16 * MEGABYTE);
    assert!(kept(&server, "tmp").is_empty());
    assert_eq!(slow.response().body.len(), LARGE);
    until("nothing is left", || kept(&server, "spool").is_empty());
}

#[test]
fn an_answer_takes_no_more_than_its_limit_and_is_whole_all_the_same() {
    let server = serve("SpoolLimit 1M\n");
    let (mut slow, mut waiting) = slow_and_waiting(&server);
    let stored = || kept(&server, "spool").iter().sum::<u64>();
    slow.head();
    // A client that reads nothing for a second while the file is full loses its response: this one goes on reading.
    let piece = "x".repeat(SMALL_PIECE);
    let mut read = 0;
    until("the file is full", || {
        slow.expect(&piece);
        read += SMALL_PIECE;
        stored() >= MEGABYTE
    });
    read += slow.slowly_watching(20, || {
        let stored = stored();
        assert!(stored < 2 * MEGABYTE, "{stored}");
    });
    assert_eq!(read, LARGE);
    assert_eq!(waiting.response().text(), "small");
}

#[test]
fn without_room_for_answers_a_worker_waits_for_its_client() {
    let server = serve("SpoolLimit 0\n");
    let (mut slow, mut waiting) = slow_and_waiting(&server);
    slow.head();
    let read = slow.slowly_watching(20, || assert!(kept(&server, "spool").is_empty()));
    assert_eq!(read, LARGE);
    assert_eq!(waiting.response().text(), "small");
}

#[test]
fn a_missing_spool_directory_fails_the_start_and_a_removed_one_fails_large_uploads() {
    let conf = "SpoolDirectory nowhere\n";
    let wrong = site();
    wrong.configure(conf);
    wrong.cameleer(["check", "-f", "site.conf"]).failed(78, "nowhere is not a folder");
    let server = serve("");
    std::fs::remove_dir_all(server.site.path("spool")).expect("our own folder");
    let mut upload = server.connect();
    upload.send_if_heard(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000\r\n\r\n");
    upload.send_if_heard(&vec![b'x'; 200_000]);
    upload.response().is(507);
    server.logged(&format!("cannot store a request's body in {}", server.site.path("spool").display()));
    assert_eq!(server.text("/"), "small");
}

#[test]
fn a_folder_that_the_user_may_not_write_to_is_named_at_the_start() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    serve("User nobody\n").logged("(SpoolDirectory): Permission denied");
}
