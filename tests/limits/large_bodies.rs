//! Large request bodies, large responses, and a full disk.

use super::serve;
use crate::support::{Connection, Server, Site, own_memory, own_memory_if_it_runs, until};

const LARGE: usize = 256 << 20;
const ALLOWED: u64 = 100 << 20;

/// Memory of the front and all workers, in bytes.
fn memory(server: &Server) -> u64 {
    let front = server.status()["front_pid"].as_i64().expect("a front") as i32;
    let workers = server.workers().into_iter().filter_map(|(pid, _)| own_memory_if_it_runs(pid));
    workers.chain([own_memory(front)]).sum()
}

const STREAMS: &str = "my $piece = 'x' x 65536; sub {
    return [200, [], ['ok']] if $_[0]{PATH_INFO} eq '/';
    sub { my $w = $_[0]->([200, ['Content-Length', 256 << 20]]); $w->write($piece) for 1 .. 4096; $w->close } }";

#[test]
fn a_large_answer_that_is_read_slowly_or_not_at_all_is_not_kept_in_memory() {
    let server = serve(STREAMS, "MaxClients 3\nStartServers 3\nMinSpareServers 3\nMaxSpareServers 3");
    let before = memory(&server);
    let ask = |path: &str| {
        let mut connection = server.connect();
        connection.raw(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
        connection
    };
    let unread = ask("/unread");
    let mut read = ask("/read");
    assert_eq!(read.head().header("content-length"), Some(LARGE.to_string()));
    let mut most = 0;
    let whole = read.slowly_watching(64, || most = most.max(memory(&server)));
    assert_eq!(whole, LARGE);
    assert!(most < before + ALLOWED, "{most} of {before} before");
    assert_eq!(server.text("/"), "ok", "a third worker serves");
    drop(unread);
}

#[test]
fn a_large_body_that_no_program_reads_is_not_kept_in_memory_and_leaves_no_file() {
    let server = serve("sub { [200, [], ['not read']] }", "");
    let before = memory(&server);
    let mut connection = server.connect();
    connection.raw(format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {LARGE}\r\n\r\n"));
    let piece = vec![b'x'; 4 << 20];
    let mut most = 0;
    for n in 0..LARGE / piece.len() {
        connection.raw(&piece);
        if n % 8 == 0 {
            most = most.max(memory(&server));
        }
    }
    assert_eq!(connection.response().text(), "not read");
    assert!(most < before + ALLOWED, "{most} of {before} before");
    assert_eq!(std::fs::read_dir(server.site.path("tmp")).expect("TMPDIR").count(), 0);
}

/// A server whose TMPDIR is a file system of 1 MB in a mount namespace of its own.
fn serve_with_small_disk(app: &str) -> Server {
    let site = Site::new().file("app.psgi", app);
    site.configure("<Location />\nPsgiApp app.psgi\n</Location>");
    let mount = "mount -t tmpfs -o size=1m none \"$TMPDIR\" && exec \"$0\" \"$@\"";
    Server::start_by(site, &["unshare", "--map-root-user", "--mount", "sh", "-c", mount])
}

/// Bytes in use on the small disk in the front's mount namespace.
fn used(server: &Server) -> u64 {
    let front = server.status()["front_pid"].as_i64().expect("a front");
    let disk = format!("/proc/{front}/root{}", server.site.path("tmp").display());
    let disk = nix::sys::statvfs::statvfs(disk.as_str()).expect("the small disk");
    (disk.blocks() - disk.blocks_free()) as u64 * disk.fragment_size() as u64
}

#[test]
fn a_full_disk_costs_the_upload_that_filled_it() {
    let server =
        serve_with_small_disk("sub { my $e = shift; $e->{'psgi.input'}->read(my $b, 1e7); [200, [], [length $b]] }");
    let empty = used(&server);
    let upload = |size: usize| {
        let mut connection: Connection = server.connect();
        let head = format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n");
        let sent = connection.try_raw(head).and_then(|()| connection.try_raw(vec![b'x'; size]));
        (sent.is_ok(), connection.response())
    };
    upload(3_000_000).1.is(507);
    server.logged("cannot store a request's body");
    let (_, small) = upload(500_000);
    assert_eq!(small.is(200).text(), "500000");
    until("nothing is left on the disk", || used(&server) == empty);
}
