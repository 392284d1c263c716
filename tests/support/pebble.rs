//! A certificate authority for tests: Pebble, an ACME server, with a DNS server that resolves every name to 127.0.0.1.
//! `pkg/pebble/install` builds both.

use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::Signal;

use super::{Authority, Finished, Site, free_port, signal, until};

const PEBBLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/tools/pebble");
const DNS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/target/tools/pebble-challtestsrv");

/// A name for which the authority signs nothing.
pub const REFUSED: &str = "refused.test";

/// A running authority, stopped on drop.
pub struct Pebble {
    /// The port of the directory, `https://127.0.0.1:PORT/dir`. The site has the certificate to trust in `ca.crt`.
    pub port: u16,
    management: u16,
    dns: u16,
    conf: String,
    processes: Vec<Child>,
}

impl Pebble {
    /// An authority that is not started yet. It connects to these ports of this machine for `http-01` and
    /// `tls-alpn-01`.
    pub fn new(site: &Site, http: u16, tls: u16) -> Pebble {
        let authority = Authority::new("the authority's own");
        let signed = authority.sign("pebble", |params| {
            let address = std::net::Ipv4Addr::LOCALHOST.into();
            params.subject_alt_names.push(rcgen::SanType::IpAddress(address));
        });
        site.write("ca.crt", &authority.pem());
        site.write("pebble.crt", &signed.chain);
        site.write("pebble.key", &signed.key.serialize_pem());
        let (port, management, dns) = (free_port(), free_port(), free_port());
        let conf = format!(
            r#"{{"pebble": {{"listenAddress": "127.0.0.1:{port}", "managementListenAddress": "127.0.0.1:{management}",
            "certificate": "@DIR@/pebble.crt", "privateKey": "@DIR@/pebble.key", "httpPort": {http}, "tlsPort": {tls},
            "externalAccountMACKeys": {{"kid-1": "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W"}},
            "externalAccountBindingRequired": @BINDING@, "domainBlocklist": ["{REFUSED}"]}}}}"#
        );
        site.write("pebble.json", &conf.replace("@BINDING@", "false"));
        let conf = site.path("pebble.json").to_string_lossy().into_owned();
        Pebble { port, management, dns, conf, processes: Vec::new() }
    }

    /// Refuses accounts without an external binding. Before the start.
    pub fn require_binding(&self, site: &Site) {
        let text = site.read("pebble.json");
        site.write("pebble.json", &text.replace("Required\": false", "Required\": true"));
    }

    /// Starts the authority.
    #[track_caller]
    pub fn start(&mut self) {
        let address = |port: u16| format!("127.0.0.1:{port}");
        let mut dns = Command::new(DNS);
        dns.args(["-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-http01", "", "-https01", "", "-tlsalpn01", ""]);
        dns.args(["-doh", "", "-dns01", &address(self.dns), "-management", &address(free_port())]);
        let mut pebble = Command::new(PEBBLE);
        pebble.args(["-config", &self.conf, "-dnsserver", &address(self.dns)]);
        pebble.env("PEBBLE_VA_NOSLEEP", "1").env("PEBBLE_AUTHZREUSE", "0");
        for mut command in [dns, pebble] {
            let process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
            self.processes.push(process.expect("pkg/pebble/install"));
        }
        for port in [self.port, self.management, self.dns] {
            until("the authority answers", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        }
    }

    /// The authority after its end and another start, with the configuration as it is now.
    #[track_caller]
    pub fn restarted(mut self) -> Pebble {
        self.stop();
        self.start();
        self
    }

    /// Ends the authority.
    pub fn stop(&mut self) {
        for mut process in self.processes.drain(..) {
            if process.try_wait().is_ok_and(|ended| ended.is_none()) {
                signal(process.id() as i32, Signal::SIGKILL);
                let _ = process.wait();
            }
        }
    }

    /// Writes the authority's root to `root.crt`, which it makes anew at each start.
    #[track_caller]
    pub fn root(&self, site: &Site) {
        let url = format!("https://127.0.0.1:{}/roots/0", self.management);
        let got = Finished::of(Command::new("curl").args(["-sSfk", "--noproxy", "*", &url])).succeeded();
        site.write("root.crt", &got.out);
    }
}

impl Drop for Pebble {
    fn drop(&mut self) {
        self.stop();
    }
}
