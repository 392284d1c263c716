//! Large bodies in both directions: they arrive complete, memory does not grow with them, and their clients do not
//! count as floods.

use std::fs::File;
use std::process::Command;

use super::{curl, serve, site};
use crate::support::{Finished, Server, peak_memory, peak_memory_if_it_runs, until};

const LARGE: u64 = 256 << 20;
const FEW_FRAMES: &str = "H2MaxControlFramesPerSecond 50\n";
const MAX_GROWTH: u64 = 100 << 20;

/// Sum of the peak memory of front and workers, in bytes.
fn memory(server: &Server) -> u64 {
    let front = server.status()["front_pid"].as_i64().expect("a front") as i32;
    let workers = server.workers().into_iter().filter_map(|(pid, _)| peak_memory_if_it_runs(pid));
    workers.chain([peak_memory(front)]).sum()
}

/// A sparse file, because an application that generates as much would dominate the run time.
fn with_a_large_file(conf: &str) -> Server {
    let server = site().serve(conf);
    let file = File::create(server.site.path("htdocs/large")).expect("a file in TMPDIR");
    file.set_len(LARGE).expect("a sparse file");
    server
}

#[test]
fn a_large_file_is_downloaded() {
    let server = with_a_large_file(&format!("Protocols h2c http/1.1\nCustomLog access.log \"%s %B %X\"\n{FEW_FRAMES}"));
    let (before, url) = (memory(&server), "http://localhost:@PORT@/large");
    let output =
        curl(&server, &["--http2-prior-knowledge", "-o", "/dev/null", "-w", "%{http_code} %{size_download}", url]);
    assert_eq!(output.succeeded().out, format!("200 {LARGE}"));
    // nghttp has a window of 64 kB, and sends a WINDOW_UPDATE for each half.
    let url = server.site.filled(url);
    Finished::of(Command::new("nghttp").args(["-n", &url])).succeeded();
    until("both are logged", || server.site.read("access.log") == format!("200 {LARGE} +\n").repeat(2));
    assert!(memory(&server) < before + MAX_GROWTH);
}

#[test]
fn a_large_answer_from_a_program_is_downloaded_over_tls() {
    let big = "sub { my $p = 'x' x 65536; sub { my $w = $_[0]->([200, []]); $w->write($p) for 1 .. 4096; $w->close } }";
    let server = site().file("big.psgi", big).serve(&format!(
        "Protocols h2\nSSLEngine On\nSSLCertificateFile localhost.crt\nSSLCertificateKeyFile localhost.key\n\
         <Location />\nPsgiApp big.psgi\n</Location>\n{FEW_FRAMES}"
    ));
    let before = memory(&server);
    let output = curl(
        &server,
        &["--http2", "-o", "/dev/null", "-w", "%{http_version} %{size_download}", "https://localhost:@PORT@/"],
    );
    assert_eq!(output.succeeded().out, format!("2 {LARGE}"));
    assert!(memory(&server) < before + MAX_GROWTH);
}

#[test]
fn a_large_file_is_uploaded() {
    let server = serve(FEW_FRAMES);
    let file = File::create(server.site.path("large")).expect("a file in TMPDIR");
    file.set_len(LARGE).expect("a sparse file");
    let before = memory(&server);
    let output = curl(&server, &["--http2-prior-knowledge", "-T", "@DIR@/large", "http://localhost:@PORT@/"]);
    let out = output.succeeded().out;
    assert!(out.starts_with("PUT HTTP/2.0"), "{out}");
    assert!(memory(&server) < before + MAX_GROWTH);
}
