//! A certificate counts in the host that asked for it, and in no other.

use super::{TLS, ask, people, site};
use crate::support::{Authority, Server, until};
use crate::tls::{GET, s_client};

/// `one` asks for certificates of Camel CA, `two` for those of another authority, `three` for none.
fn three_hosts() -> Server {
    let (site, _) = people();
    let other = Authority::new("Other CA");
    let site = site.file("other.crt", &other.pem()).client("ben", &other.sign("Ben", |_| {}));
    let names = "one.example two.example three.example";
    let site = site.certificate("all", &names.split(' ').collect::<Vec<_>>());
    let host = |name: &str, conf: &str| {
        format!(
            "<VirtualHost *:@PORT@>\nServerName {name}.example\nSSLEngine On\nSSLCertificateFile all.crt\n\
             SSLCertificateKeyFile all.key\n{conf}\n</VirtualHost>\n"
        )
    };
    let private = "<Location /private>\nSSLVerifyClient require\n</Location>";
    site.serve(&format!(
        "Protocols h2 http/1.1\n{}{}{}",
        host("one", &format!("SSLCACertificateFile ca.crt\n{private}")),
        host("two", &format!("SSLCACertificateFile other.crt\n{private}")),
        host("three", "")
    ))
}

/// The status for `client` at `name`, after further requests on the same connection if curl can use it.
fn status(server: &Server, client: &str, name: &str, more: &[&str]) -> String {
    let resolve: Vec<String> = ["one", "two", "three"].map(|it| format!("{it}.example:@PORT@:127.0.0.1")).to_vec();
    let url = format!("https://{name}.example:@PORT@/private/a.txt");
    let (certificate, key) = (format!("@DIR@/{client}.crt"), format!("@DIR@/{client}.key"));
    let mut arguments =
        vec!["-k", "-o", "/dev/null", "-w", "%{http_code}", "--cert", &certificate, "--key", &key, &url];
    resolve.iter().for_each(|resolve| arguments.extend(["--resolve", resolve]));
    arguments.extend(more);
    crate::tls::curl(server, &arguments).succeeded().out
}

#[test]
fn each_host_has_its_own_authorities() {
    let server = three_hosts();
    for kind in ["--http1.1", "--http2"] {
        assert_eq!(status(&server, "ana", "one", &[kind]), "200");
        assert_eq!(status(&server, "ana", "two", &[kind]), "403");
        assert_eq!(status(&server, "ben", "two", &[kind]), "200");
        assert_eq!(status(&server, "ben", "one", &[kind]), "403");
    }
}

#[test]
fn a_connection_to_one_host_is_misdirected_for_another() {
    let server = three_hosts();
    for kind in ["--http1.1", "--http2"] {
        for host in ["two.example", "three.example"] {
            let header = format!("Host: {host}");
            assert_eq!(status(&server, "ana", "one", &[kind, "-H", &header]), "421", "{kind} {host}");
        }
        assert_eq!(status(&server, "ana", "three", &[kind, "-H", "Host: one.example"]), "421");
    }
}

/// Without SNI the handshake is that of the first host, and may serve hosts that ask alike.
#[test]
fn a_connection_without_a_name_serves_no_host_that_asks_otherwise() {
    let server = three_hosts();
    let ana = "-noservername -cert @DIR@/ana.crt -key @DIR@/ana.key";
    let request =
        |host: &str| format!("GET /private/a.txt HTTP/1.1\\r\\nHost: {host}\\r\\nConnection: close\\r\\n\\r\\n");
    for (host, status) in [("one.example", "200 OK"), ("two.example", "421 "), ("three.example", "421 ")] {
        let output = s_client(&server, &[ana], &request(host));
        assert!(output.contains(&format!("HTTP/1.1 {status}")), "{host}: {output}");
    }
}

/// Tickets are good at all addresses, but a session without a certificate opens no host that requires one.
#[test]
fn a_session_of_a_host_that_does_not_ask_opens_none_that_requires_a_certificate() {
    for version in ["-tls1_3", "-tls1_2"] {
        let other = crate::support::Site::new();
        let (site, _) = people();
        let server = site.serve(&format!(
            "{TLS}Listen 127.0.0.1:{port} https\n<VirtualHost *:{port}>\nSSLVerifyClient require\nSSLCACertificateFile ca.crt\n\
             </VirtualHost>",
            port = other.port
        ));
        let (out, resume) =
            ("-servername localhost -sess_out @DIR@/session", "-servername localhost -sess_in @DIR@/session");
        assert!(s_client(&server, &[version, out], GET).contains("hello"));
        assert!(s_client(&server, &[version, resume], GET).contains("Reused"), "the session is good");
        s_client(&server, &[version, out], GET);
        let there = format!("-connect 127.0.0.1:{}", other.port);
        let output = s_client(&server, &[version, resume, &there], GET);
        assert!(!output.contains("hello"), "{version}: {output}");
    }
}

#[test]
fn after_a_reload_with_other_authorities_an_old_connection_is_misdirected() {
    let (old, later) = (Authority::new("Old"), Authority::new("Later"));
    let conf = |file: &str| format!("{TLS}SSLVerifyClient optional\nSSLCACertificateFile {file}\nKeepAliveTimeout 60s");
    let site =
        site().file("old.crt", &old.pem()).file("later.crt", &later.pem()).client("ana", &old.sign("Ana", |_| {}));
    let server = site.serve(&conf("old.crt"));
    assert!(ask(&server, Some("ana"), "/a.txt", &[]).succeeded().out.ends_with("200"));
    let mut connection = super::bounds::Raw::connect(&server, "ana");
    assert!(connection.get("/a.txt").starts_with("HTTP/1.1 200"));
    server.site.configure(&conf("later.crt"));
    server.reload().succeeded();
    let response = connection.get("/a.txt");
    assert!(response.starts_with("HTTP/1.1 421") || response.is_empty(), "{response}");
}

#[test]
fn after_a_reload_a_session_without_a_certificate_is_not_resumed_by_a_host_that_asks() {
    const PRIVATE: &str = "GET /private/a.txt HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n";
    for (version, tickets) in [("-tls1_3", "On"), ("-tls1_2", "On"), ("-tls1_3", "Off"), ("-tls1_2", "Off")] {
        let conf = format!("{TLS}SSLCACertificateFile ca.crt\nSSLSessionTickets {tickets}\n");
        let server = people().0.serve(&conf);
        let ana = "-cert @DIR@/ana.crt -key @DIR@/ana.key -servername localhost";
        let first = s_client(&server, &[version, ana, "-sess_out @DIR@/session"], GET);
        assert!(first.contains("hello"), "{version} {tickets}: {first}");
        server.site.configure(&format!("{conf}<Location /private>\nSSLVerifyClient require\n</Location>"));
        server.reload().succeeded();
        let resume = [version, ana, "-sess_in @DIR@/session"];
        until("the host asks", || s_client(&server, &resume, PRIVATE).contains("200 OK"));
    }
}
