//! Certificates that the server gets from an authority by ACME.

mod failures;
mod issue;
mod mistakes;
mod proxy;
mod renewal;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Finished, Pebble, Server, Site, free_port};

/// A site with the domain www.one.test, and an authority for it.
struct Managed {
    site: Site,
    pebble: Pebble,
    tls: u16,
}

impl Managed {
    fn new() -> Managed {
        let site = Site::new().file("htdocs/a.txt", "hello\n");
        let tls = free_port();
        let pebble = Pebble::new(&site, site.port, tls);
        Managed { site, pebble, tls }
    }

    /// With an authority that answers.
    #[track_caller]
    fn started() -> Managed {
        let mut managed = Managed::new();
        managed.pebble.start();
        managed.pebble.root(&managed.site);
        managed
    }

    /// Directives for the domain, with `more` at the end. `@TLS@` is the port of TLS, `@CA@` that of the authority.
    fn conf(&self, more: &str) -> String {
        let conf = format!(
            "Listen 127.0.0.1:@TLS@\nLogLevel info\n\
             MDCertificateAgreement accepted\nMDContactEmail admin@one.test\n\
             MDCertificateAuthority https://127.0.0.1:@CA@/dir\nMDCACertificateFile ca.crt\n\
             MDRetryDelay 200ms\nMDPortMap http:@PORT@ https:@TLS@\nMDStoreDir md\nMDomain www.one.test\n{}{more}\n",
            host("www.one.test")
        );
        conf.replace("@TLS@", &self.tls.to_string()).replace("@CA@", &self.pebble.port.to_string())
    }

    /// The site, served with these directives.
    #[track_caller]
    fn serve(self, more: &str) -> Running {
        let conf = self.site.filled(&self.conf(more));
        Running { server: self.site.serve(&conf), pebble: self.pebble, tls: self.tls }
    }
}

/// A virtual host with TLS.
fn host(name: &str) -> String {
    format!("<VirtualHost *:@TLS@>\nServerName {name}\nSSLEngine On\nDocumentRoot htdocs\n</VirtualHost>\n")
}

/// A server of managed domains, and their authority.
struct Running {
    server: Server,
    pebble: Pebble,
    tls: u16,
}

impl Running {
    /// curl for a URL of a name, without trust in any authority.
    fn curl(&self, name: &str, arguments: &[&str]) -> Finished {
        let resolve = format!("{name}:{}:127.0.0.1", self.tls);
        let url = format!("https://{name}:{}/a.txt", self.tls);
        let mut command = std::process::Command::new("curl");
        command.args(["-sS", "--noproxy", "*", "--resolve", &resolve]).args(arguments).arg(url);
        Finished::of(&mut command)
    }

    /// Whether a client that trusts only the authority gets a page.
    fn is_trusted(&self, name: &str) -> bool {
        let root = self.server.site.filled("@DIR@/root.crt");
        self.curl(name, &["--cacert", &root]).out == "hello\n"
    }

    /// Waits for the certificate of a name.
    #[track_caller]
    fn until_trusted(&self, name: &str) {
        crate::support::until(&format!("{name} has a certificate"), || self.is_trusted(name));
    }

    /// The certificate in the store.
    fn stored(&self, name: &str) -> String {
        self.server.site.read(&format!("md/domains/{name}/pubcert.secp256r1.pem"))
    }
}

/// The permissions of a file of the site.
fn mode(site: &Site, name: &str) -> u32 {
    fs::metadata(site.path(name)).expect("it is there").permissions().mode() & 0o777
}
