//! Clients that take a large answer slowly, or not at all.

use crate::support::{Server, Site, until};

/// 32 MB, more than the sockets between us hold, of which each kilobyte says its number.
const APP: &str = r#"sub { my $e = shift; $e->{PATH_INFO} eq '/large' or return [200, [], ['small']];
    sub { my $w = $_[0]->([200, ['Content-Length' => 1024 * 32768]]);
          $w->write(join '', map { sprintf '%01024d', $_ } $_ * 64 .. $_ * 64 + 63) for 0 .. 511; $w->close } }"#;

fn serve() -> Server {
    Site::new().file("app.psgi", APP).serve("<Location />\nPsgiApp app.psgi\n</Location>\nMaxClients 1\nStartServers 1")
}

fn is_busy(server: &Server) -> bool {
    server.workers().iter().any(|(_, state)| state == "Busy")
}

#[test]
fn a_client_that_reads_nothing_gives_its_worker_to_others_and_gets_its_answer_whole() {
    let server = serve();
    let mut slow = server.connect();
    slow.raw("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the worker is held", || is_busy(&server));
    assert_eq!(server.text("/"), "small");
    let body = slow.response().is(200).body;
    assert_eq!(body.len(), 1024 * 32768);
    for (number, kilobyte) in body.chunks(1024).enumerate() {
        assert_eq!(kilobyte, format!("{number:01024}").as_bytes());
    }
    let left = std::fs::read_dir(server.site.path("tmp")).expect("TMPDIR").count();
    assert_eq!(left, 0, "what was kept for it has no name");
}

#[test]
fn a_client_that_leaves_what_was_kept_for_it_costs_nothing_further() {
    let server = serve();
    let mut slow = server.connect();
    slow.raw("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
    until("the worker is held", || is_busy(&server));
    assert_eq!(server.text("/"), "small");
    drop(slow);
    let front = server.status()["front_pid"].as_i64().expect("a front");
    until("nothing is kept", || {
        let held = std::fs::read_dir(format!("/proc/{front}/fd")).expect("the front runs");
        let links = held.filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok());
        !links.into_iter().any(|link: std::path::PathBuf| {
            link.to_string_lossy().contains("(deleted)") && link.starts_with(server.site.path("tmp"))
        })
    });
    assert_eq!(server.text("/"), "small");
}
