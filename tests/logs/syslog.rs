//! `ErrorLog syslog:facility:tag`, with a socket of the test in place of the daemon's.

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use crate::support::{Request, Server, Site};

/// The daemon's socket: a message that does not come fails the test.
fn daemon(site: &Site) -> UnixDatagram {
    let socket = UnixDatagram::bind(site.path("syslog.sock")).expect("a socket in TMPDIR");
    socket.set_read_timeout(Some(Duration::from_secs(120))).expect("a timeout");
    socket
}

/// The next message that contains `what`.
#[track_caller]
fn message(socket: &UnixDatagram, what: &str) -> String {
    let mut buffer = [0; 16 * 1024];
    loop {
        let length = socket.recv(&mut buffer).expect("a message for syslog");
        let text = String::from_utf8_lossy(&buffer[..length]).into_owned();
        if text.contains(what) {
            return text;
        }
    }
}

fn serve(site: Site, conf: &str) -> Server {
    let site = site.file("app.psgi", "sub { warn \"a warning\\n\"; die \"an error\\n\" }");
    site.configure(&format!("<Location /app>\nPsgiApp app.psgi\n</Location>\n{conf}"));
    let mut command = site.serve_command();
    command.env("CAMELEER_SYSLOG_SOCKET", site.path("syslog.sock"));
    Server::start(site, command)
}

#[track_caller]
fn is_message(text: &str, begin: &str, shape: &str) {
    let time = r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d";
    let pattern = format!("^<{begin}>{time} {shape}");
    assert!(regex::Regex::new(&pattern).expect("a pattern").is_match(text), "{text}\nis not {pattern}");
}

#[test]
fn the_error_log_of_a_virtual_host_goes_to_syslog() {
    let site = Site::new();
    let socket = daemon(&site);
    let server = serve(
        site,
        "<VirtualHost *>\nServerName localhost\n</VirtualHost>\n\
         <VirtualHost *>\nServerName shop.example\nErrorLog syslog:local3:shop\n</VirtualHost>",
    );
    server.send(Request::get("/app").header("Host", "shop.example")).is(500);
    // local3 is 19: 19 * 8 + 3 for an error.
    for text in ["a warning", "an error"] {
        is_message(&message(&socket, text), "155", r"shop\[\d+\]: \[perl:error\] ");
    }
    server.get("/app").is(500);
    server.logged("an error");
}

#[test]
fn the_servers_error_log_goes_to_syslog_and_ends_with_it() {
    let site = Site::new();
    let socket = daemon(&site);
    let mut server = serve(site, "ErrorLog syslog\nLogLevel notice");
    // local7 is 23: 23 * 8 + 5 for a notice.
    is_message(&message(&socket, ":notice]"), "189", r"cameleer\[\d+\]: \[\w+:notice\] ");
    server.get("/app").is(500);
    message(&socket, "an error");
    server.signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
    server.until_gone();
}

#[test]
fn a_daemon_that_starts_again_gets_the_messages() {
    let site = Site::new();
    let socket = daemon(&site);
    let server = serve(site, "ErrorLog syslog:daemon");
    server.get("/app").is(500);
    is_message(&message(&socket, "an error"), "27", r"cameleer\[");
    drop(socket);
    std::fs::remove_file(server.site.path("syslog.sock")).expect("the old socket");
    let socket = daemon(&server.site);
    server.get("/app").is(500);
    message(&socket, "an error");
}
