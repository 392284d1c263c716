//! Certificates of clients, as mod_ssl has them: `SSLVerifyClient` and what follows from it.

mod access;
mod bounds;
mod hosts;
mod perl;
mod revocation;
mod users;
mod variables;

use super::{TLS, site};
use crate::support::{Authority, Finished, Server, Site};

/// Each version of HTTP and TLS.
const KINDS: [&[&str]; 3] = [&["--http1.1"], &["--http2"], &["--http1.1", "--tls-max", "1.2"]];
/// TLS, HTTP/2, and the authority of `ca.crt`.
const ASKING: &str = "Protocols h2 http/1.1\nLogLevel info\nSSLCACertificateFile ca.crt\n";

/// A site with `ca.crt`, and certificates of clients: `ana` (1) and `eva` (2) of that authority, `old` (3) which has
/// expired, `zoe` of another authority, and `self`, which is self-signed.
fn people() -> (Site, Authority) {
    let (authority, other) = (Authority::new("Camel CA"), Authority::new("Sand CA"));
    let (ana, eva) = (authority.sign("Ana", |_| {}), authority.sign("Eva", |_| {}));
    let old = authority.sign("Old", |it| it.not_after = rcgen::date_time_ymd(2001, 1, 1));
    let site = site()
        .file("ca.crt", &authority.pem())
        .file("htdocs/private/a.txt", "secret\n")
        .client("ana", &ana)
        .client("eva", &eva)
        .client("old", &old)
        .client("zoe", &other.sign("Zoe", |_| {}))
        .certificate("self", &["self"]);
    (site, authority)
}

/// Serves the site of [`people`] over TLS, with `conf` appended.
#[track_caller]
fn serve(conf: &str) -> Server {
    people().0.serve(&format!("{TLS}{ASKING}{conf}"))
}

/// curl as this client, or without a certificate; prints the body and the status.
fn ask(server: &Server, client: Option<&str>, path: &str, more: &[&str]) -> Finished {
    let url = format!("https://localhost:@PORT@{path}");
    let files = client.map(|name| [format!("@DIR@/{name}.crt"), format!("@DIR@/{name}.key")]);
    let mut arguments = vec!["-w", "%{http_code}", url.as_str()];
    if let Some([certificate, key]) = &files {
        arguments.extend(["--cert", certificate.as_str(), "--key", key.as_str()]);
    }
    arguments.extend(more);
    super::curl(server, &arguments)
}

/// Asserts the status of a request.
#[track_caller]
fn is(server: &Server, client: Option<&str>, path: &str, more: &[&str], status: &str) -> String {
    let response = ask(server, client, path, more).succeeded();
    assert!(response.out.ends_with(status), "{client:?} {path} {more:?}: {response:?}");
    response.out
}

/// Asserts that the client gets no response.
#[track_caller]
fn fails(server: &Server, client: Option<&str>, more: &[&str]) {
    let response = ask(server, client, "/a.txt", more);
    assert!(response.code != 0 && response.out == "000", "{client:?} {more:?}: {response:?}");
}
