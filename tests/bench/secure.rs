//! TLS and HTTP/2.

use super::read;
use crate::support::{Server, Site};

const APP: &str =
    "sub { [200, ['Content-Type' => 'text/plain'], [\"$_[0]{SERVER_PROTOCOL} $_[0]{'psgi.url_scheme'}\"]] }";
const CONF: &str = "SSLEngine on\nSSLCertificateFile own.crt\nSSLCertificateKeyFile own.key\nProtocols h2 http/1.1\n\
    <Location />\nPsgiApp app.psgi\n</Location>";

#[track_caller]
fn ask<const N: usize>(server: &Server, options: [&str; N]) -> crate::support::Finished {
    let mut command = server.site.command(["bench", "-n", "20", "-c", "2", "--json"]);
    command.args(options).arg(format!("https://localhost:{}/", server.site.port));
    crate::support::Finished::of(&mut command)
}

#[test]
fn a_certificate_is_trusted_when_it_is_named_or_any_is() {
    let server = Site::new().file("app.psgi", APP).certificate("own", &["localhost"]).serve(CONF);
    let report = read(&ask(&server, []).failed(1, "requests failed"));
    assert_eq!(report["failures"][0]["cause"], "tls", "{report}");
    for options in
        [["--insecure", "--expect-body=HTTP/1.1 https"], ["--cacert=own.crt", "--expect-body=HTTP/1.1 https"]]
    {
        let report = read(&ask(&server, options).succeeded());
        assert_eq!((&report["completed"], &report["connections_opened"]), (&20.into(), &2.into()), "{report}");
    }
}

#[test]
fn http2_is_spoken_with_tls_and_without() {
    let server = Site::new().file("app.psgi", APP).certificate("own", &["localhost"]).serve(CONF);
    let report = read(&ask(&server, ["--cacert=own.crt", "--http2", "--expect-body=HTTP/2"]).succeeded());
    assert_eq!((&report["completed"], &report["protocol"]), (&20.into(), &"HTTP/2".into()), "{report}");
    assert_eq!(report["connections_opened"], 2);
    let server =
        Site::new().file("app.psgi", APP).serve("Protocols h2c http/1.1\n<Location />\nPsgiApp app.psgi\n</Location>");
    super::report("-n 20 -c 2 --http2 --expect-body=HTTP/2", &format!("http://127.0.0.1:{}/", server.site.port));
}

#[test]
fn a_server_without_http2_is_an_error_of_its_own() {
    let conf = CONF.replace("h2 http/1.1", "http/1.1");
    let server = Site::new().file("app.psgi", APP).certificate("own", &["localhost"]).serve(&conf);
    let report = read(&ask(&server, ["--insecure", "--http2"]).failed(1, "requests failed"));
    assert_eq!(report["failures"][0]["cause"], "tls", "{report}");
}
