//! TLS as clients speak it.

mod development;
mod hosts;
mod mistakes;
mod programs;
mod renewal;
mod slow_handshakes;
mod stops;
mod truncation;
mod versions;

use crate::support::{Finished, Server, Site};

/// What every site here has: one host on the site's port, with a certificate for localhost.
const TLS: &str = "SSLEngine On\nSSLCertificateFile localhost.crt\nSSLCertificateKeyFile localhost.key\n";

/// A site whose certificate is there.
fn site() -> Site {
    Site::new().certificate("localhost", &["localhost"]).file("htdocs/a.txt", "hello\n")
}

/// Serves it over TLS, with `conf` beside that.
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

/// `openssl` in the site's folder; what it has printed.
#[track_caller]
fn openssl(site: &Site, arguments: &str) -> String {
    let command = format!("cd '{}' && openssl {arguments}", site.folder().display());
    Finished::of(std::process::Command::new("sh").args(["-c", &command])).succeeded().out
}

/// `openssl s_client`, which sends `input` and prints what it has agreed on.
fn s_client(server: &Server, arguments: &[&str], input: &str) -> String {
    let filled: Vec<String> = arguments.iter().map(|argument| server.site.filled(argument)).collect();
    let connect = server.site.filled("127.0.0.1:@PORT@");
    let command = format!(
        "printf '{input}' | openssl s_client -connect {connect} -ign_eof {} 2>&1 </dev/stdin",
        filled.join(" ")
    );
    let said = Finished::of(std::process::Command::new("sh").args(["-c", &command]));
    said.out
}

/// A request that ends its connection, as `s_client` takes it.
const GET: &str = "GET /a.txt HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n";
