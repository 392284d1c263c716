//! Clients that read a large response slowly or not at all.

use std::process::{Child, Command, Stdio};

use crate::http2::raw::Raw;
use crate::support::{Connection, Server, Site, Trace, own_memory, until};

/// A response of 32 MB, more than the socket buffers hold. Each kilobyte contains its number.
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
fn a_client_that_leaves_its_spooled_response_frees_it() {
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

/// The path `/N` has a response of N megabytes.
const OF_ANY_SIZE: &str = r#"sub { my $e = shift; $e->{PATH_INFO} =~ m{^/(\d+)} or return [200, [], ['small']]; my $pieces = $1 * 16;
    sub { my $w = $_[0]->([200, ['Content-Type' => 'text/plain']]); $w->write('x' x 65536) for 1 .. $pieces; $w->close } }"#;

/// The protocol of the slow clients.
#[derive(Debug, Clone, Copy)]
enum Protocol {
    Http1,
    /// All slow clients are streams of one connection whose flow-control windows are full.
    Http2,
    Tls,
}

const PROTOCOLS: [Protocol; 3] = [Protocol::Http1, Protocol::Http2, Protocol::Tls];

/// Clients that have requested a large response and read none of it. Dropping the value disconnects them.
enum Slow {
    Connections(#[expect(dead_code, reason = "only held")] Vec<Connection>),
    Streams(#[expect(dead_code, reason = "only held")] Raw),
    Programs(Vec<Child>),
}

impl Drop for Slow {
    fn drop(&mut self) {
        let Slow::Programs(programs) = self else { return };
        for program in programs {
            program.kill().expect("it is ours");
            program.wait().expect("it ends");
        }
    }
}

impl Protocol {
    fn serve(self, conf: &str) -> Server {
        let site =
            Site::new().certificate("localhost", &["localhost"]).file("app.psgi", OF_ANY_SIZE).file("spool/keep", "");
        let tls = "SSLEngine On\nSSLCertificateFile localhost.crt\nSSLCertificateKeyFile localhost.key\n";
        let protocol = if matches!(self, Protocol::Tls) { tls } else { "Protocols h2c http/1.1\n" };
        let pool = "StartServers 2\nMinSpareServers 2\nMaxSpareServers 2\nMaxClients 2\n";
        // Overload shedding is off: these tests are about slow readers only.
        let pool = format!("{pool}QueueStale 300s\nQueueTimeout 300s\n");
        let place = "<Location />\nPsgiApp app.psgi\n</Location>\nSpoolDirectory spool\n";
        site.serve(&format!("{protocol}{pool}{place}{conf}"))
    }

    fn ask(self, server: &Server, clients: u32, megabytes: u32) -> Slow {
        let path = format!("/{megabytes}");
        match self {
            Protocol::Http1 => Slow::Connections(
                (0..clients)
                    .map(|_| {
                        let mut connection = server.connect();
                        connection.raw(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
                        connection
                    })
                    .collect(),
            ),
            Protocol::Http2 => {
                let mut raw = Raw::open(server, &[(4, 0)]);
                (0..clients).for_each(|n| raw.get(2 * n + 1, &path));
                Slow::Streams(raw)
            }
            Protocol::Tls => Slow::Programs((0..clients).map(|_| curl(server, &path)).collect()),
        }
    }

    /// Sends a small request as another client.
    fn other(self, server: &Server) {
        let text = match self {
            Protocol::Http1 | Protocol::Http2 => server.text("/"),
            Protocol::Tls => {
                let output = curl(server, "/").wait_with_output().expect("curl");
                String::from_utf8(output.stdout).expect("text")
            }
        };
        assert_eq!(text, "small", "{self:?}");
    }

    /// Sends small requests until every slow client has had a worker and at least 20 small requests are served.
    fn others_are_served(self, server: &Server, slow: u64) {
        let (mut others, mut all) = (0, 0);
        while all < slow + others || others < 20 {
            self.other(server);
            others += 1;
            all = server.status()["front"]["worker_requests"].as_u64().expect("a number");
        }
    }
}

/// Starts curl with a pipe as its output. Nothing reads the pipe until the caller waits for curl.
fn curl(server: &Server, path: &str) -> Child {
    let url = server.site.filled(&format!("https://localhost:@PORT@{path}"));
    let arguments = ["--silent", "--insecure", "--http1.1", "--no-buffer", &url];
    Command::new("curl").args(arguments).stdout(Stdio::piped()).spawn().expect("curl")
}

#[test]
fn many_clients_that_read_nothing_delay_no_other_response() {
    for protocol in PROTOCOLS {
        for (clients, megabytes) in [(1, 100), (10, 16), (100, 8)] {
            let server = protocol.serve("");
            let slow = protocol.ask(&server, clients, megabytes);
            protocol.others_are_served(&server, clients.into());
            assert_eq!(server.status()["front"]["slow_readers"], 0, "{protocol:?}: all answers could be stored");
            drop(slow);
        }
    }
}

#[test]
fn without_room_for_their_answers_only_the_clients_that_read_nothing_lose_something() {
    for protocol in PROTOCOLS {
        for conf in ["", "SpoolLimit 1M", "SpoolLimit 0", "SpoolTotalLimit 1M"] {
            let server = protocol.serve(conf);
            if conf.is_empty() {
                std::fs::remove_dir_all(server.site.path("spool")).expect("our own folder");
            }
            let slow = protocol.ask(&server, 10, 16);
            protocol.others_are_served(&server, 10);
            let lost = server.status()["front"]["slow_readers"].as_u64().expect("a number");
            assert!((1..=10).contains(&lost), "{protocol:?} {conf}: {lost}");
            server.logged("GET /16: a slow client loses the rest of its response");
            drop(slow);
        }
    }
}

/// A server whose TMPDIR is a file system of 4 MB in a mount namespace of its own.
fn serve_with_small_disk() -> Server {
    let site = Site::new().file("app.psgi", OF_ANY_SIZE);
    let pool =
        "StartServers 2\nMinSpareServers 2\nMaxSpareServers 2\nMaxClients 2\nQueueStale 300s\nQueueTimeout 300s\n";
    site.configure(&format!("{pool}<Location />\nPsgiApp app.psgi\n</Location>"));
    let mount = "mount -t tmpfs -o size=4m none \"$TMPDIR\" && exec \"$0\" \"$@\"";
    Server::start_by(site, &["unshare", "--map-root-user", "--mount", "sh", "-c", mount])
}

/// Bytes in use on the small disk in the front's mount namespace.
fn used(server: &Server) -> u64 {
    let disk = format!("/proc/{}/root{}", server.front(), server.site.path("tmp").display());
    let disk = nix::sys::statvfs::statvfs(disk.as_str()).expect("the small disk");
    (disk.blocks() - disk.blocks_free()) as u64 * disk.fragment_size() as u64
}

#[test]
fn a_full_disk_costs_only_the_clients_that_read_nothing() {
    let server = serve_with_small_disk();
    let empty = used(&server);
    let slow = Protocol::Http1.ask(&server, 10, 16);
    Protocol::Http1.others_are_served(&server, 10);
    let lost = server.status()["front"]["slow_readers"].as_u64().expect("a number");
    assert!((1..=10).contains(&lost), "{lost}");
    server.logged("cannot store a response in");
    let log = server.log().matches("cannot store a response in").count();
    assert!((1..=10).contains(&log), "each of the ten at most once: {log}");
    drop(slow);
    until("the disk is empty again", || used(&server) == empty);
    let mut quick = server.connect();
    quick.raw("GET /16 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    assert_eq!(quick.response().is(200).body.len(), 16 << 20, "whoever reads is answered in full");
}

/// The traced calls of pwrite64 and ftruncate, each with the thread that made the call.
fn disk_calls(trace: Trace) -> Vec<(i32, String)> {
    let calls = trace.end_of_all().into_iter().filter(|line| line.contains("pwrite64(") || line.contains("ftruncate("));
    calls
        .map(|line| (line.split_whitespace().next().and_then(|pid| pid.parse().ok()).expect("a thread"), line))
        .collect()
}

#[test]
fn the_threads_that_have_the_clients_write_no_answer_to_a_file() {
    let server = Protocol::Http1.serve("");
    let clients: Vec<i32> = threads_of_clients(&server);
    let trace = Trace::of(&server, &[server.front()], "pwrite64,ftruncate");
    let slow = Protocol::Http1.ask(&server, 4, 16);
    Protocol::Http1.others_are_served(&server, 4);
    until("all of it is stored", || stored(&server) > 32 << 20);
    drop(slow);
    until("nothing is stored", || stored(&server) == 0);
    let calls = disk_calls(trace);
    assert!(calls.len() > 32, "{calls:?}");
    let wrong: Vec<_> = calls.iter().filter(|(thread, _)| clients.contains(thread)).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_threads_that_have_the_clients_write_no_upload_to_a_file() {
    let server = Protocol::Http1.serve("");
    let clients: Vec<i32> = threads_of_clients(&server);
    let trace = Trace::of(&server, &[server.front()], "write");
    let mut upload = server.connect();
    upload.raw(format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", 4 << 20));
    upload.raw(vec![b'x'; 4 << 20]);
    assert_eq!(upload.response().is(200).text(), "small");
    let calls = trace.end_of_all().into_iter().filter(|line| line.contains("xxxx"));
    let calls: Vec<i32> = calls.filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect();
    assert!(calls.len() > 4, "{calls:?}");
    assert!(!calls.iter().any(|thread| clients.contains(thread)), "{calls:?} of {clients:?}");
}

/// The front's threads before a response is spooled.
fn threads_of_clients(server: &Server) -> Vec<i32> {
    assert_eq!(server.text("/"), "small");
    let threads = std::fs::read_dir(format!("/proc/{}/task", server.front())).expect("the front runs").flatten();
    threads.filter_map(|thread| thread.file_name().to_str()?.parse().ok()).collect()
}

/// Bytes of the unnamed spool files that the front has open.
fn stored(server: &Server) -> u64 {
    let held = std::fs::read_dir(format!("/proc/{}/fd", server.front())).expect("the front runs").flatten();
    let of_spool = held.map(|fd| fd.path()).filter(|fd| {
        std::fs::read_link(fd).is_ok_and(|file| {
            file.starts_with(server.site.path("spool")) && file.to_string_lossy().ends_with("(deleted)")
        })
    });
    of_spool.filter_map(|fd| Some(std::fs::metadata(fd).ok()?.len())).sum()
}

#[test]
fn a_client_that_reads_nothing_holds_little_of_a_file_in_memory() {
    const CLIENTS: u64 = 100;
    let server = Site::new().serve("");
    let large = std::fs::File::create(server.site.path("htdocs/large")).expect("a file");
    large.set_len(64 << 20).expect("a sparse file");
    server.get("/none").is(404);
    let before = own_memory(server.front());
    let slow: Vec<Connection> = (0..CLIENTS)
        .map(|_| {
            let mut connection = server.connect();
            connection.raw("GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n");
            connection.head();
            connection
        })
        .collect();
    let held = own_memory(server.front()).saturating_sub(before) / CLIENTS;
    // The limit covers two or three pieces of the response and the memory of an idle connection.
    assert!(held < 320 << 10, "{held} bytes for each client");
    drop(slow);
}
