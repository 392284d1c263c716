//! HAProxy for tests: Debian's haproxy, in the site's folder, stopped on drop.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::{Address, Request, Response, Site, free_port, until};

/// A running HAProxy with one frontend, and the backend `nodes`.
pub struct Haproxy {
    /// The address of the frontend.
    pub address: Address,
    /// The port of the frontend.
    pub port: u16,
    socket: PathBuf,
    process: Child,
}

/// What HAProxy reports about a server of the backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeReport {
    /// `UP`, `DOWN`, `DRAIN (agent)`, `MAINT`, …
    pub status: String,
    /// Effective weight.
    pub weight: u32,
}

impl Haproxy {
    /// Starts HAProxy with these lines in its backend, and waits until it answers. `bind` is added to the line of the
    /// frontend. Times are in the lines, so that a test sets what it depends on.
    #[track_caller]
    pub fn start(site: &Site, bind: &str, backend: &str) -> Haproxy {
        let port = free_port();
        let config = format!(
            "defaults\n  mode http\n  timeout connect 5s\n  timeout client 120s\n  timeout server 120s\n\
             frontend site\n  bind 127.0.0.1:{port} {bind}\n  default_backend nodes\n\
             backend nodes\n{backend}"
        );
        Haproxy::with(site, port, &config)
    }

    /// Starts HAProxy with this configuration, whose frontend has this port, and whose backend is `nodes`.
    #[track_caller]
    pub fn with(site: &Site, port: u16, config: &str) -> Haproxy {
        let global = "global\n  stats socket @DIR@/haproxy.sock mode 600 level admin\n  hard-stop-after 1s\n";
        site.write("haproxy.cfg", &format!("{global}{config}"));
        let log = std::fs::File::create(site.path("haproxy.log")).expect("a file in TMPDIR");
        let mut command = Command::new("/usr/sbin/haproxy");
        command.args(["-db", "-f"]).arg(site.path("haproxy.cfg")).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(log);
        let process = command.spawn().expect("pkg/debian-packages/test.txt");
        let socket = site.path("haproxy.sock");
        let mut haproxy = Haproxy { address: Address::Tcp(port), port, socket, process };
        until("HAProxy answers", || {
            let ended = haproxy.process.try_wait().expect("our own child");
            assert!(ended.is_none(), "HAProxy ended: {}", site.read("haproxy.log"));
            UnixStream::connect(&haproxy.socket).is_ok()
        });
        haproxy
    }

    /// Sends a request on a new connection.
    #[track_caller]
    pub fn send(&self, request: Request) -> Response {
        let mut connection = super::Connection::open(&self.address).expect("HAProxy accepts");
        connection.ask(request.header("Connection", "close"))
    }

    /// Runs a command of HAProxy's Runtime API.
    #[track_caller]
    pub fn command(&self, command: &str) -> String {
        let mut socket = UnixStream::connect(&self.socket).expect("HAProxy runs");
        socket.write_all(format!("{command}\n").as_bytes()).expect("HAProxy reads");
        let mut answer = String::new();
        socket.read_to_string(&mut answer).expect("HAProxy answers");
        answer
    }

    /// What HAProxy reports about the server `name` of the backend.
    #[track_caller]
    pub fn node(&self, name: &str) -> NodeReport {
        let table = self.command("show stat");
        let mut lines = table.lines();
        let head: Vec<&str> = lines.next().unwrap_or_default().trim_start_matches("# ").split(',').collect();
        let column = |name: &str| head.iter().position(|column| *column == name).expect("a column of show stat");
        let row = lines.map(|line| line.split(',').collect::<Vec<_>>());
        let mut rows = row.filter(|row| row[column("pxname")] == "nodes" && row[column("svname")] == name);
        let row = rows.next().expect("a server of the backend");
        NodeReport {
            status: row[column("status")].to_owned(),
            weight: row[column("weight")].parse().expect("a number"),
        }
    }

    /// Waits until the status of a server begins with `status`.
    #[track_caller]
    pub fn until_node(&self, name: &str, status: &str) {
        until(&format!("HAProxy reports {name} as {status}"), || self.node(name).status.starts_with(status));
    }
}

impl Drop for Haproxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
