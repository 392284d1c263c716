//! Common HTTP/2 clients.

use std::process::Command;

use super::{curl, serve, serve_tls};
use crate::support::Finished;

#[test]
fn curl_fetches_many_pages_over_one_connection() {
    let server = serve_tls("");
    let urls: Vec<String> = (0..50).map(|n| format!("https://localhost:@PORT@/bytes/{}", 1000 + n)).collect();
    let mut arguments = vec!["--http2", "-Z", "--parallel-max", "50"];
    arguments.extend(urls.iter().map(String::as_str));
    let output = curl(&server, &arguments).succeeded().out;
    assert_eq!(output.len(), (0..50).map(|n| 1000 + n).sum::<usize>());
}

#[test]
fn h2load_gets_every_answer() {
    let server = serve_tls("");
    let url = server.site.filled("https://localhost:@PORT@/bytes/5000");
    let output =
        Finished::of(Command::new("h2load").args(["-n", "2000", "-c", "10", "-m", "20", &url])).succeeded().out;
    assert!(output.contains("2000 succeeded, 0 failed, 0 errored, 0 timeout"), "{output}");
}

#[test]
fn h2load_gets_every_answer_without_tls() {
    let server = serve("");
    let url = server.site.filled("http://localhost:@PORT@/");
    let load = ["-n", "1000", "-c", "5", "-m", "50", "-p", "h2c"];
    let output = Finished::of(Command::new("h2load").args(load).arg(&url)).succeeded().out;
    assert!(output.contains("1000 succeeded, 0 failed, 0 errored, 0 timeout"), "{output}");
}

#[test]
fn uploads_larger_than_a_window_arrive() {
    let server = serve_tls("");
    server.site.write_bytes("body", &vec![b'y'; 5_000_000]);
    let body = ["--http2", "--data-binary", "@@DIR@/body", "https://localhost:@PORT@/"];
    assert!(curl(&server, &body).succeeded().out.ends_with(" 5000000"));
}

#[test]
fn a_browser_shows_a_page_over_tls_and_http_2() {
    let server = serve_tls("");
    let profile = server.site.filled("--user-data-dir=@DIR@/chromium");
    let url = server.site.filled("https://localhost:@PORT@/page");
    let options = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--ignore-certificate-errors",
        "--dump-dom",
        &profile,
        &url,
    ];
    let page = Finished::of(Command::new("chromium").args(options)).out;
    assert!(page.contains("GET HTTP/2.0 https localhost"), "{page}");
}
