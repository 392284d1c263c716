//! A directory server for tests: slapd of Debian, in the site's folder, stopped on drop.

use std::fs;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::Signal;

use super::{Finished, Site, free_port, signal, until};

/// Configuration of slapd. Only `cn=reader` may read entries, and users those below `ou=open`. No one may read
/// passwords.
const CONF: &str = r#"
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
include /etc/ldap/schema/nis.schema
modulepath /usr/lib/ldap
moduleload back_mdb
@TLS@
database mdb
suffix "dc=example,dc=org"
directory @FOLDER@
maxsize 10485760
access to attrs=userPassword by anonymous auth by * none
access to dn.subtree="ou=open,dc=example,dc=org" by users read by anonymous auth by * none
access to * by dn.exact="cn=reader,dc=example,dc=org" read by anonymous auth by * none
"#;

/// Entries above those of the test.
const BASE: &str = "dn: dc=example,dc=org\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: Example\n\n\
    dn: cn=reader,dc=example,dc=org\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\ncn: reader\n\
    userPassword: readerpw\n\n\
    dn: ou=people,dc=example,dc=org\nobjectClass: organizationalUnit\nou: people\n\n\
    dn: ou=groups,dc=example,dc=org\nobjectClass: organizationalUnit\nou: groups\n\n";

/// A running slapd.
pub struct Directory {
    /// The port of `ldap://127.0.0.1`.
    pub port: u16,
    /// The port of `ldaps://127.0.0.1`, where the site has the certificate `ldap`.
    pub secure_port: u16,
    conf: String,
    process: Child,
}

impl Directory {
    /// Starts a directory with these entries in LDIF below `dc=example,dc=org`. Where the site has the certificate
    /// `own`, clients must have it.
    #[track_caller]
    pub fn start(site: &Site, entries: &str) -> Directory {
        let folder = site.path("directory");
        fs::create_dir_all(&folder).expect("a folder in TMPDIR");
        let tls = match site.has("ldap.crt") {
            true => site.filled("TLSCertificateFile @DIR@/ldap.crt\nTLSCertificateKeyFile @DIR@/ldap.key"),
            false => String::new(),
        };
        let clients = match site.has("own.crt") {
            true => site.filled("\nTLSCACertificateFile @DIR@/own.crt\nTLSVerifyClient demand"),
            false => String::new(),
        };
        let tls = tls + &clients;
        let folder = folder.to_string_lossy().into_owned();
        site.write("slapd.conf", &CONF.replace("@TLS@", &tls).replace("@FOLDER@", &folder));
        site.write("entries.ldif", &format!("{BASE}{entries}"));
        let conf = site.path("slapd.conf");
        let mut add = Command::new("/usr/sbin/slapadd");
        add.args(["-q", "-f"]).arg(&conf).arg("-l").arg(site.path("entries.ldif"));
        Finished::of(&mut add).succeeded();
        let (port, secure_port) = (free_port(), free_port());
        let process = Directory::serve(&conf.to_string_lossy(), port, secure_port, !tls.is_empty());
        Directory { port, secure_port, conf: conf.to_string_lossy().into_owned(), process }
    }

    #[track_caller]
    fn serve(conf: &str, port: u16, secure_port: u16, is_secure: bool) -> Child {
        let mut addresses = format!("ldap://127.0.0.1:{port}/");
        if is_secure {
            addresses += &format!(" ldaps://127.0.0.1:{secure_port}/");
        }
        let mut command = Command::new("/usr/sbin/slapd");
        command.args(["-d", "0", "-f", conf, "-h", &addresses]);
        let process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let process = process.expect("pkg/debian-packages/test.txt");
        until("the directory answers", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        process
    }

    /// Ends the server.
    #[track_caller]
    pub fn stop(&mut self) {
        signal(self.process.id() as i32, Signal::SIGTERM);
        self.process.wait().expect("our own child");
    }

    /// Starts the server again on the same data and port.
    #[track_caller]
    pub fn restart(&mut self) {
        self.process = Directory::serve(&self.conf, self.port, self.secure_port, false);
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if self.process.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.stop();
        }
    }
}
