//! TLS connections of clients.

mod acme;
mod client_certificates;
mod development;
mod hosts;
mod mistakes;
mod programs;
mod renewal;
mod slow_handshakes;
mod stops;
mod ticket_keys;
mod truncation;
mod versions;

use crate::support::{Finished, Server, Site};

/// The TLS lines of every site here: a certificate for localhost on the site's port.
const TLS: &str = "SSLEngine On\nSSLCertificateFile localhost.crt\nSSLCertificateKeyFile localhost.key\n";

/// A site with a certificate for localhost.
fn site() -> Site {
    Site::new().certificate("localhost", &["localhost"]).file("htdocs/a.txt", "hello\n")
}

/// Serves [`site`] over TLS, with `conf` appended.
#[track_caller]
fn serve(conf: &str) -> Server {
    site().serve(&format!("{TLS}{conf}"))
}

/// curl, which trusts the certificate for localhost; `@PORT@` and `@DIR@` in the arguments are replaced.
fn curl(server: &Server, arguments: &[&str]) -> Finished {
    let filled = arguments.iter().map(|argument| server.site.filled(argument));
    let trust = server.site.filled("@DIR@/localhost.crt");
    Finished::of(std::process::Command::new("curl").args(["-sS", "--noproxy", "*", "--cacert", &trust]).args(filled))
}

/// Runs `openssl` in the site's folder and returns its output.
#[track_caller]
fn openssl(site: &Site, arguments: &str) -> String {
    let command = format!("cd '{}' && openssl {arguments}", site.folder().display());
    Finished::of(std::process::Command::new("sh").args(["-c", &command])).succeeded().out
}

/// Runs `openssl s_client`, which sends `input` and prints the negotiated parameters.
fn s_client(server: &Server, arguments: &[&str], input: &str) -> String {
    let filled: Vec<String> = arguments.iter().map(|argument| server.site.filled(argument)).collect();
    let connect = server.site.filled("127.0.0.1:@PORT@");
    let command = format!(
        "printf '{input}' | openssl s_client -connect {connect} -ign_eof {} 2>&1 </dev/stdin",
        filled.join(" ")
    );
    let output = Finished::of(std::process::Command::new("sh").args(["-c", &command]));
    output.out
}

/// A request that closes its connection, in the form that `s_client` expects.
const GET: &str = "GET /a.txt HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n";
