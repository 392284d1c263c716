//! `cameleer run --tls`

use super::curl;
use crate::support::{Server, Site};

#[test]
fn run_tls_serves_with_a_certificate_of_its_own_making() {
    let site = Site::new().file("app.psgi", "sub { [200, [], [\"$_[0]{'psgi.url_scheme'} $_[0]{SERVER_PROTOCOL}\"]] }");
    let listen = site.filled("127.0.0.1:@PORT@");
    let mut command = site.command(["run", "--tls", "--workers", "1", "--listen", &listen, "app.psgi"]);
    command.env("XDG_CONFIG_HOME", site.path("config"));
    let server = Server::start(site, command);
    let trust = "@DIR@/config/cameleer/development/certificate.pem";
    let said = curl(&server, &["--cacert", trust, "--http2", "https://localhost:@PORT@/"]).succeeded().out;
    assert_eq!(said, "https HTTP/2.0");
    let key = std::fs::metadata(server.site.path("config/cameleer/development/key.pem")).expect("a key");
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&key.permissions()) & 0o777, 0o600);
}
