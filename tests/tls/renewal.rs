//! New certificates without a restart, and session resumption.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use super::{GET, TLS, curl, s_client, serve, site};
use crate::support::{Server, until};

/// The certificate that a new client gets.
fn certificate(server: &Server) -> String {
    let output = s_client(server, &["-servername localhost"], GET);
    let (_, rest) = output.split_once("-----BEGIN CERTIFICATE-----").expect("a certificate");
    rest.split("-----END").next().unwrap_or_default().split_whitespace().collect()
}

fn on_disk(server: &Server, name: &str) -> String {
    server.site.read(name).lines().filter(|line| !line.starts_with("-----")).collect()
}

#[test]
fn a_certificate_that_changes_is_used_without_a_reload() {
    let server = serve("LogLevel notice");
    assert_eq!(certificate(&server), on_disk(&server, "localhost.crt"));
    let before = on_disk(&server, "localhost.crt");
    server.site.certify("localhost", &["localhost"], 4001);
    until("new connections get the new certificate", || certificate(&server) == on_disk(&server, "localhost.crt"));
    assert_ne!(before, on_disk(&server, "localhost.crt"));
    server.logged("certificates have changed: new connections use the new ones");
    assert_eq!(server.status()["generation"], 1, "nothing was reloaded");
}

#[test]
fn an_open_connection_outlives_the_certificate_of_its_handshake() {
    let server = serve("LogLevel notice\nKeepAliveTimeout 60s");
    let connect = server.site.filled("127.0.0.1:@PORT@");
    let mut client = Command::new("openssl")
        .args(["s_client", "-connect", &connect, "-quiet", "-servername", "localhost"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("openssl is there");
    let mut input = client.stdin.take().expect("a pipe");
    let mut output = BufReader::new(client.stdout.take().expect("a pipe"));
    let mut ask = |more: &str| {
        let request = format!("GET /a.txt HTTP/1.1\r\nHost: localhost\r\n{more}\r\n");
        input.write_all(request.as_bytes()).expect("the client reads");
        let mut line = String::new();
        while line != "hello\n" {
            line.clear();
            assert_ne!(output.read_line(&mut line).expect("text"), 0, "the connection goes on");
        }
    };
    ask("");
    server.site.certify("localhost", &["localhost"], 4001);
    server.logged("certificates have changed: new connections use the new ones");
    ask("");
    ask("Connection: close\r\n");
    assert!(client.wait().expect("our own child").success());
}

#[test]
fn early_data_is_not_taken() {
    let server = serve("CustomLog access.log %r");
    server.site.write("early", "GET /early HTTP/1.1\r\nHost: localhost\r\n\r\n");
    s_client(&server, &["-servername localhost -tls1_3 -sess_out @DIR@/session"], GET);
    let again = ["-servername localhost -tls1_3 -sess_in @DIR@/session -early_data @DIR@/early"];
    let output = s_client(&server, &again, GET);
    assert!(output.contains("Reused, TLSv1.3") && output.contains("Early data was not sent"), "{output}");
    until("the others are logged", || server.site.read("access.log").lines().count() == 2);
    assert!(!server.site.read("access.log").contains("early"), "it could be sent again by anybody");
}

#[test]
fn a_link_that_is_led_elsewhere_is_a_change() {
    let site = site().certificate("archive/one", &["localhost"]).certificate("archive/two", &["localhost"]);
    let point = |site: &crate::support::Site, to: &str| {
        for end in ["crt", "key"] {
            fs::create_dir_all(site.path("live")).expect("a folder");
            std::os::unix::fs::symlink(format!("../archive/{to}.{end}"), site.path("live/next")).expect("a link");
            fs::rename(site.path("live/next"), site.path(&format!("live/site.{end}"))).expect("renamed");
        }
    };
    point(&site, "one");
    let server = site.serve("SSLEngine On\nSSLCertificateFile live/site.crt\nSSLCertificateKeyFile live/site.key");
    assert_eq!(certificate(&server), on_disk(&server, "archive/one.crt"));
    point(&server.site, "two");
    until("new connections get the new certificate", || certificate(&server) == on_disk(&server, "archive/two.crt"));
}

#[test]
fn an_unusable_certificate_changes_nothing() {
    let server = serve("");
    let before = certificate(&server);
    server.site.write("localhost.crt", "broken");
    server.logged("certificates have changed and cannot be used; the old ones stay in use");
    assert_eq!(certificate(&server), before);
    server.reload().failed(1, "contains no certificate");
    assert_eq!(certificate(&server), before);
}

#[test]
fn a_reload_reads_certificates_anew() {
    let server = serve("");
    server.site.certificate_elsewhere();
    server.site.configure(&TLS.replace("localhost.", "other."));
    server.reload().succeeded();
    assert_eq!(certificate(&server), on_disk(&server, "other.crt"));
}

impl crate::support::Site {
    fn certificate_elsewhere(&self) {
        self.certify("other", &["localhost"], 4000);
    }
}

#[test]
fn sessions_are_resumed_over_reloads_and_with_both_versions() {
    let server = serve("");
    for version in ["-tls1_2", "-tls1_3"] {
        let save = ["-servername localhost", version, "-sess_out @DIR@/session"];
        let again = ["-servername localhost", version, "-sess_in @DIR@/session"];
        assert!(s_client(&server, &save, GET).contains("New, TLSv"), "{version}");
        assert!(s_client(&server, &again, GET).contains("Reused, TLSv"), "{version}");
        server.reload().succeeded();
        assert!(s_client(&server, &again, GET).contains("Reused, TLSv"), "{version} after a reload");
    }
}

#[test]
fn sessions_are_resumed_within_session_cache_timeout() {
    for (version, tickets) in [("-tls1_2", "On"), ("-tls1_2", "Off"), ("-tls1_3", "On"), ("-tls1_3", "Off")] {
        let conf = format!("{TLS}SSLSessionTickets {tickets}\n");
        let server = site().serve(&conf);
        let save = ["-servername localhost", version, "-sess_out @DIR@/session"];
        let again = ["-servername localhost", version, "-sess_in @DIR@/session"];
        s_client(&server, &save, GET);
        // With TLS 1.3 and no tickets, a stored session can be resumed only once.
        if (version, tickets) != ("-tls1_3", "Off") {
            assert!(s_client(&server, &again, GET).contains("Reused, TLSv"), "{version} {tickets}");
        }
        // The client's session lasts twelve hours by the old configuration; the reload shortens that to a second.
        server.site.configure(&format!("{conf}SSLSessionCacheTimeout 1\n"));
        server.reload().succeeded();
        until("the session is too old to be resumed", || !s_client(&server, &again, GET).contains("Reused, TLSv"));
        s_client(&server, &save, GET);
        let text = super::openssl(&server.site, "sess_id -in session -noout -text");
        if tickets == "On" {
            assert!(text.contains("lifetime hint: 1 (seconds)"), "{text}");
        }
    }
}

#[test]
fn without_tickets_and_without_a_cache_nothing_is_resumed() {
    let server = serve("SSLSessionTickets Off\nSSLSessionCache none");
    let save = ["-servername localhost", "-tls1_2", "-sess_out @DIR@/session"];
    s_client(&server, &save, GET);
    let again = ["-servername localhost", "-tls1_2", "-sess_in @DIR@/session"];
    assert!(!s_client(&server, &again, GET).contains("Reused, TLSv"));
}

#[test]
fn keys_are_read_by_root_only() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let site = site();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(site.path("localhost.key"), fs::Permissions::from_mode(0o600)).expect("our own file");
    let app = r#"sub { my $ok = open(my $f, '<', "@DIR@/localhost.key"); [200, [], [$ok ? 'read' : 'refused']] }"#;
    let server =
        site.file("app.psgi", app).serve(&format!("User nobody\n{TLS}<Location />\nPsgiApp app.psgi\n</Location>"));
    assert_eq!(curl(&server, &["https://localhost:@PORT@/"]).succeeded().out, "refused");
}
