//! `ErrorLog syslog:facility:tag`, with a socket of the test in place of the daemon's.

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use crate::fastcgi::application::{Application, output, record};
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

#[test]
fn lines_of_a_fastcgi_application_that_look_like_records_are_text_of_one() {
    let forged = "[Sat Nov 21 08:00:00.123456 2026] [core:emerg] [pid 1] forged";
    let texts = [
        forged.to_owned(),
        format!("first\n{forged}"),
        format!("first\r{forged}"),
        format!("first\0{forged}"),
        format!("first\u{2028}{forged}"),
        "<0>forged".to_owned(),
        "{\"level\":\"emerg\",\"message\":\"forged\"}".to_owned(),
        format!("{}\n{forged}", "x".repeat(5000)),
    ];
    for format in ["", "ErrorLogFormat json\n"] {
        let site = Site::new();
        let socket = daemon(&site);
        let lines: Vec<u8> = texts.iter().flat_map(|text| record(7, format!("{text}\n").as_bytes())).collect();
        let application = Application::new(move |_| [lines.clone(), output(b"X: y\n\nbody")].concat());
        let server =
            serve(site, &format!("ErrorLog syslog:local3:shop\n{format}ProxyPass /fcgi {}\n", application.url("/")));
        server.get("/fcgi").is(200);
        for _ in &texts {
            let text = message(&socket, "forged");
            // local3 is 19: 19 * 8 + 3 for an error.
            assert!(text.starts_with("<155>") && !text.contains("]: [Sat") && !text.contains("[pid 1]: "), "{text}");
            let is_named = text.contains("FastCGI application fcgi://127.0.0.1") && !text.contains('\n');
            assert!(is_named && !text.contains(['\r', '\0', '\u{2028}']), "{text}");
        }
    }
}
