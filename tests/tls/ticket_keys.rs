//! `SSLSessionTicketKeyFile`: sessions that go on at another server with the same key.

use nix::sys::signal::Signal;

use super::mistakes::refused;
use super::{GET, TLS, s_client, site};
use crate::support::{Server, Site, until};

/// Tickets only: the cache of sessions belongs to one server.
const CONF: &str = "SSLSessionCache none\nSSLSessionTicketKeyFile tickets.key\n";
const VERSIONS: [&str; 2] = ["-tls1_2", "-tls1_3"];

fn key(byte: char) -> String {
    byte.to_string().repeat(48)
}

fn with_key(byte: char) -> Site {
    site().file("tickets.key", &key(byte))
}

fn serve(site: Site) -> Server {
    site.serve(&format!("{TLS}{CONF}"))
}

/// Begins a session at a server, which the client stores in this file.
fn begin(server: &Server, version: &str, file: &str) {
    let output = s_client(server, &["-servername localhost", version, "-sess_out", file], GET);
    assert!(output.contains("New, TLSv"), "{version}: {output}");
}

fn is_resumed(server: &Server, version: &str, file: &str) -> bool {
    let output = s_client(server, &["-servername localhost", version, "-sess_in", file], GET);
    assert!(output.contains("hello"), "{version}: {output}");
    output.contains("Reused, TLSv")
}

#[test]
fn a_session_goes_on_at_another_server_with_the_same_key() {
    let (one, other, stranger) = (serve(with_key('a')), serve(with_key('a')), serve(with_key('b')));
    for version in VERSIONS {
        let session = one.site.path(version).display().to_string();
        begin(&one, version, &session);
        assert!(is_resumed(&other, version, &session), "{version}");
        assert!(!is_resumed(&stranger, version, &session), "{version}: another key");
        one.reload().succeeded();
        assert!(is_resumed(&one, version, &session), "{version}: after a reload");
    }
}

#[test]
fn a_session_goes_on_after_a_restart() {
    let mut server = serve(with_key('a'));
    let session = server.site.path("session").display().to_string();
    begin(&server, "-tls1_3", &session);
    server.signal(Signal::SIGTERM);
    server.wait();
    server.restart();
    assert!(is_resumed(&server, "-tls1_3", &session));
}

#[test]
fn sessions_are_shared_by_all_threads_of_a_front() {
    let server = site().serve(&format!("{TLS}FrontThreads 4\nSSLSessionCache none\n"));
    let session = server.site.path("session").display().to_string();
    begin(&server, "-tls1_2", &session);
    for _ in 0..8 {
        assert!(is_resumed(&server, "-tls1_2", &session));
    }
}

#[test]
fn a_new_key_is_used_without_a_reload_and_the_old_one_is_accepted() {
    let conf = format!("{TLS}SSLSessionCache none\nSSLSessionTicketKeyFile new.key tickets.key\nLogLevel notice\n");
    let server = with_key('a').file("new.key", &key('n')).serve(&conf);
    let old = serve(with_key('a'));
    let session = server.site.path("session").display().to_string();
    begin(&old, "-tls1_3", &session);
    assert!(is_resumed(&server, "-tls1_3", &session), "the second key");
    begin(&server, "-tls1_3", &session);
    assert!(!is_resumed(&old, "-tls1_3", &session), "new tickets are made by the first key");
    let renewed = server.site.path("renewed").display().to_string();
    begin(&server, "-tls1_3", &renewed);
    server.site.write("new.key", &key('m'));
    server.logged("certificates have changed: new connections use the new ones");
    until("the replaced key is forgotten", || !is_resumed(&server, "-tls1_3", &renewed));
    assert_eq!(server.status()["generation"], 1, "nothing was reloaded");
}

#[test]
fn a_file_that_is_no_key_is_an_error_with_its_line() {
    let conf = format!("{TLS}{CONF}");
    let message = |why: &str| format!("@DIR@/site.conf:6: SSLSessionTicketKeyFile: @DIR@/tickets.key {why}");
    let short = message("expected 48 or 80 random bytes, got 5; create it with openssl rand -out FILE 48");
    refused(site().file("tickets.key", "short"), &conf, &short);
    refused(site().file("tickets.key", &"x".repeat(48_000)), &conf, &message("cannot be read: the file is longer"));
    refused(site(), &conf, &message("cannot be read: No such file"));
    let device = conf.replace("tickets.key", "/dev/zero");
    refused(site(), &device, "@DIR@/site.conf:6: SSLSessionTicketKeyFile: /dev/zero cannot be read");
}
