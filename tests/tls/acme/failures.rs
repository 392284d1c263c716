//! Authorities that are down, slow, or refuse.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::spawn;

use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::{Managed, host};
use crate::support::{REFUSED, until};

#[test]
fn an_authority_that_is_down_at_the_start_is_logged_once_and_tried_again() {
    let mut running = Managed::new().serve("");
    let line = running.server.logged("no new certificate");
    assert!(line.contains(": Connection refused"), "{line}");
    assert!(line.contains("cannot connect to 127.0.0.1:"), "{line}");
    assert!(line.contains("the next attempt is in") && line.contains("requests are answered 503"), "{line}");
    let table = running.server.control(["status"]).succeeded().out;
    assert!(table.contains("certificate www.one.test  not there yet\n  "), "{table}");
    let failures = |running: &super::Running| running.server.status()["certificates"][0]["failures"].as_u64();
    until("the authority is asked again", || failures(&running) > Some(2));
    let log = running.server.log();
    let errors = log.lines().filter(|line| line.contains(":error]") && line.contains("no new certificate"));
    assert_eq!(errors.count(), 1, "{log}");
    running.pebble.start();
    running.pebble.root(&running.server.site);
    running.until_trusted("www.one.test");
    assert_eq!(failures(&running), Some(0));
    assert_eq!(running.server.status()["generation"], 1);
}

#[test]
fn a_name_that_the_authority_refuses_is_named_in_the_log_and_others_get_their_certificates() {
    let managed = Managed::started();
    let running = managed.serve(&format!("MDomain {REFUSED}\n{}", host(REFUSED)));
    running.until_trusted("www.one.test");
    let line = running.server.logged(&format!("MDomain {REFUSED}: no new certificate"));
    assert!(line.contains("refused: ") && line.contains("rejectedIdentifier"), "{line}");
}

#[test]
fn a_name_that_the_authority_cannot_verify_is_named_in_the_log() {
    let managed = Managed::started();
    let conf = managed.site.read("pebble.json");
    let nobody = crate::support::free_port();
    let ours = format!("\"httpPort\": {}", managed.site.port);
    managed.site.write("pebble.json", &conf.replace(&ours, &format!("\"httpPort\": {nobody}")));
    let managed = Managed { pebble: managed.pebble.restarted(), ..managed };
    let running = managed.serve("MDCAChallenges http-01");
    let line = running.server.logged("no new certificate");
    assert!(line.contains("www.one.test could not be verified by http-01: "), "{line}");
    assert!(line.contains("refused"), "{line}");
}

/// Something other than an authority, with the authority's certificate: `answer` writes to each client.
fn impostor(managed: &Managed, answer: fn(&mut dyn Write)) {
    let chain = managed.site.read("pebble.crt");
    let chain =
        rustls::pki_types::CertificateDer::pem_slice_iter(chain.as_bytes()).map(|it| it.expect("PEM")).collect();
    let key = PrivateKeyDer::from_pem_slice(managed.site.read("pebble.key").as_bytes()).expect("PEM");
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a certificate");
    let config = Arc::new(config);
    let listener = TcpListener::bind(("127.0.0.1", managed.pebble.port)).expect("its port");
    spawn(move || {
        for socket in listener.incoming().flatten() {
            let config = config.clone();
            spawn(move || {
                let mut stream = StreamOwned::new(ServerConnection::new(config).expect("TLS"), socket);
                let mut head = [0; 4096];
                if stream.read(&mut head).is_ok_and(|count| count > 0) {
                    answer(&mut stream);
                    let _ = stream.flush();
                }
            });
        }
    });
}

#[test]
fn an_answer_that_is_not_acme_is_named_in_the_log() {
    let managed = Managed::new();
    impostor(&managed, |client| {
        let _ = client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>");
    });
    let running = managed.serve("");
    let line = running.server.logged("no new certificate");
    assert!(
        line.contains("answered something that is not ACME") && line.contains("URL of an ACME directory"),
        "{line}"
    );
    assert_eq!(running.server.text("/a.txt"), "hello\n");
}

#[test]
fn an_answer_without_end_is_cut_and_the_site_is_served() {
    let managed = Managed::new();
    impostor(&managed, |client| {
        let _ = client.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        let block = [b' '; 65536];
        while client.write_all(&block).is_ok() {}
    });
    let running = managed.serve("");
    running.server.logged("no new certificate");
    assert_eq!(running.server.text("/a.txt"), "hello\n");
}

#[test]
fn an_authority_that_never_answers_does_not_delay_the_server_nor_its_stop() {
    let managed = Managed::new();
    impostor(&managed, |_| {
        loop {
            std::thread::park();
        }
    });
    let running = managed.serve("");
    running.server.logged("acme pid=");
    assert_eq!(running.server.text("/a.txt"), "hello\n");
    running.server.reload().succeeded();
    assert_eq!(running.server.text("/a.txt"), "hello\n");
}

#[test]
fn a_retry_after_of_the_authority_delays_the_next_attempt() {
    let managed = Managed::new();
    impostor(&managed, |client| {
        let body = r#"{"type":"urn:ietf:params:acme:error:rateLimited","detail":"too many"}"#;
        let head =
            format!("HTTP/1.1 429 Slow Down\r\nRetry-After: 7200\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let _ = client.write_all(head.as_bytes());
    });
    let running = managed.serve("");
    let line = running.server.logged("no new certificate");
    assert!(line.contains("the next attempt is in 2 h"), "{line}");
}

#[test]
fn a_process_that_dies_while_it_gets_a_certificate_is_replaced() {
    let managed = Managed::new();
    impostor(&managed, |_| {
        loop {
            std::thread::park();
        }
    });
    let running = managed.serve("");
    let line = running.server.logged("acme pid=");
    let pid = line.split("acme pid=").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).expect("a pid");
    crate::support::signal(pid, nix::sys::signal::Signal::SIGKILL);
    running.server.logged("no new certificate: the process that gets certificates ended");
    let started = || running.server.log().lines().filter(|line| line.contains("acme pid=")).count();
    until("another one is started", || started() > 1);
    assert_eq!(running.server.text("/a.txt"), "hello\n");
}

#[test]
fn a_front_that_dies_meanwhile_answers_the_challenges_all_the_same() {
    let running = Managed::new().serve("MDCAChallenges http-01");
    running.server.logged("no new certificate");
    let mut running = running;
    running.pebble.start();
    running.pebble.root(&running.server.site);
    let front = running.server.status()["front_pid"].as_i64().expect("a pid") as i32;
    crate::support::signal(front, nix::sys::signal::Signal::SIGKILL);
    running.until_trusted("www.one.test");
}

#[test]
fn an_account_that_the_authority_has_forgotten_is_opened_anew() {
    let running = Managed::started().serve("");
    running.until_trusted("www.one.test");
    let super::Running { mut server, pebble, tls } = running;
    server.signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
    std::fs::remove_dir_all(server.site.path("md/domains/www.one.test")).expect("our own folder");
    // It keeps accounts in memory.
    let pebble = pebble.restarted();
    pebble.root(&server.site);
    server.restart();
    let running = super::Running { server, pebble, tls };
    running.until_trusted("www.one.test");
    assert!(!running.server.log().contains("no new certificate"), "{}", running.server.log());
}

#[test]
fn the_process_that_talks_to_the_authority_has_the_rights_of_user() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let managed = Managed::new();
    impostor(&managed, |_| {
        loop {
            std::thread::park();
        }
    });
    let running = managed.serve("User nobody\nGroup nogroup");
    let line = running.server.logged("acme pid=");
    let pid: i32 = line.split("acme pid=").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).expect("a pid");
    let status = || std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let nobody = nix::unistd::User::from_name("nobody").expect("a database").expect("a user").uid;
    until("the process is nobody's", || status().contains(&format!("Uid:\t{nobody}\t{nobody}\t{nobody}\t{nobody}")));
    assert!(status().contains("CapEff:\t0000000000000000"), "{}", status());
}

#[test]
fn an_error_of_the_authority_is_cut_in_the_log_and_in_the_status() {
    let managed = Managed::new();
    impostor(&managed, |client| {
        let body = format!("\"{}\"", "too many ".repeat(100_000));
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let _ = client.write_all(head.as_bytes());
    });
    let running = managed.serve("");
    let line = running.server.logged("no new certificate");
    assert!(line.contains("too many too many") && line.contains("…; the next attempt is in"), "{line}");
    assert!(line.len() < 1000, "{}", line.len());
    let error = running.server.status()["certificates"][0]["error"].as_str().map(str::len);
    assert!(error.is_some_and(|length| length < 500), "{error:?}");
}
