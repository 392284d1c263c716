//! The requests that the server receives.

use super::{Scripted, report};
use crate::support::{Finished, Site};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

#[test]
fn method_headers_cookies_and_body_arrive() {
    let server = Scripted::saying(OK);
    let site = Site::new().file("form.txt", "a=1&b=2");
    let mut command = site.command(["bench", "-n", "3", "-c", "1", "-X", "PUT", "-H", "X-One: 1", "-H", "Host: other"]);
    command.args(["--cookie", "a=b", "--cookie", "c=d", "--body", "form.txt", &format!("{}x?y=z", server.url)]);
    Finished::of(&mut command).succeeded();
    for text in server.texts() {
        assert!(text.starts_with("PUT /x?y=z HTTP/1.1\n"), "{text}");
        for line in ["x-one: 1", "host: other", "cookie: a=b; c=d", "content-length: 7", "user-agent: cameleer-bench/"]
        {
            assert_eq!(text.matches(&format!("\n{line}")).count(), 1, "{line}: {text}");
        }
        assert!(text.ends_with("\n\na=1&b=2"), "{text}");
    }
    assert_eq!(server.requests(), 3);
}

#[test]
fn a_plain_request_is_a_get_and_has_a_host() {
    let server = Scripted::saying(OK);
    report("-n 1 -c 1", &server.url);
    let (text, host) =
        (server.texts().concat(), server.url.trim_start_matches("http://").trim_end_matches('/').to_owned());
    assert!(text.starts_with(&format!("GET / HTTP/1.1\nhost: {host}\n")), "{text}");
}

#[test]
fn a_large_body_arrives_whole() {
    let server = Scripted::saying(OK);
    let site = Site::new().file("large.txt", &"x".repeat(1_000_000));
    site.cameleer(["bench", "-n", "2", "-c", "1", "--body", "large.txt", &server.url]).succeeded();
    assert!(server.texts().iter().all(|text| text.starts_with("POST ") && text.ends_with(&"x".repeat(1_000_000))));
}

#[test]
fn a_body_without_end_is_refused() {
    Site::new()
        .cameleer(["bench", "--body", "/dev/zero", "http://localhost/"])
        .failed(1, "--body /dev/zero: more than 256 MB");
}

#[test]
fn a_unix_socket_url_sends_its_path() {
    let site = Site::new().file("app.psgi", "sub { [200, [], [\"$_[0]{HTTP_HOST} $_[0]{PATH_INFO}\"]] }");
    let server = site.serve("Listen unix:@DIR@/here.sock\n<Location />\nPsgiApp app.psgi\n</Location>");
    let socket = server.site.path("here.sock");
    let mut command = server.site.command(["bench", "-n", "5", "-c", "1", "--expect-body", "a.test /x"]);
    Finished::of(command.arg("--unix").arg(socket).arg("http://a.test/x")).succeeded();
    let socket = server.site.filled("unix:@DIR@/here.sock:/x?y=/z");
    let mut command = server.site.command(["bench", "-n", "1000", "-c", "1", "--expect-body", "localhost /x"]);
    let output = Finished::of(command.arg(&socket)).succeeded();
    assert!(output.out.starts_with(&format!("{socket}\n")), "{output:?}");
    let mut versus = server.site.command(["bench", "-n", "10", "-c", "1", &socket, "--vs"]);
    Finished::of(versus.arg(server.site.filled("http://127.0.0.1:@PORT@/x"))).succeeded();
    server.site.cameleer(["bench", "unix::/x"]).failed(2, "unix::/x: no socket; expected unix:/path/of.sock:/page");
    let mut missing = server.site.command(["bench", "-n", "1", "--unix", "missing.sock", "http://a.test/"]);
    Finished::of(&mut missing).failed(1, "requests failed");
}
