//! Large, malformed and hostile certificates, lists and names: each ends in time, and the server serves on.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::{ASKING, TLS, fails, is, people, serve};
use crate::support::{Authority, Server};
use crate::tls::{GET, s_client};

/// A client of rustls, which sends any bytes as its certificates.
pub struct Raw(StreamOwned<ClientConnection, TcpStream>);

/// A resolver that sends this chain even if the server accepts none of its authorities.
#[derive(Debug)]
struct Always(Arc<CertifiedKey>);

impl rustls::client::ResolvesClientCert for Always {
    fn resolve(&self, _: &[&[u8]], _: &[rustls::SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(self.0.clone())
    }

    fn has_certs(&self) -> bool {
        true
    }
}

impl Raw {
    /// A client with the files of this name.
    pub fn connect(server: &Server, name: &str) -> Raw {
        let file = |end: &str| server.site.path(&format!("{name}.{end}"));
        let chain = CertificateDer::pem_file_iter(file("crt")).expect("a file").flatten().collect();
        let key = PrivateKeyDer::from_pem_file(file("key")).expect("a key");
        Raw::with(server, chain, key)
    }

    /// A client with these certificates.
    pub fn with(server: &Server, chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Raw {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(server.site.path("localhost.crt")).expect("a file")).expect("a root");
        let key = rustls::crypto::ring::sign::any_supported_type(&key).expect("a key");
        let always = Always(Arc::new(CertifiedKey::new(chain, key)));
        let config = ClientConfig::builder().with_root_certificates(roots).with_client_cert_resolver(Arc::new(always));
        let name = ServerName::try_from("localhost").expect("a name");
        let socket = TcpStream::connect(("127.0.0.1", server.site.port)).expect("a connection");
        socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        Raw(StreamOwned::new(ClientConnection::new(Arc::new(config), name).expect("a client"), socket))
    }

    /// The begin of the response; empty if the connection ends.
    pub fn get(&mut self, path: &str) -> String {
        self.try_get(path).unwrap_or_default()
    }

    fn try_get(&mut self, path: &str) -> io::Result<String> {
        self.0.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes())?;
        let mut bytes = [0; 4096];
        let length = self.0.read(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
    }
}

fn key(server: &Server, name: &str) -> PrivateKeyDer<'static> {
    PrivateKeyDer::from_pem_file(server.site.path(&format!("{name}.key"))).expect("a key")
}

fn leaf(server: &Server, name: &str) -> Vec<u8> {
    CertificateDer::from_pem_file(server.site.path(&format!("{name}.crt"))).expect("a certificate").to_vec()
}

#[test]
fn a_malformed_certificate_ends_its_connection_only() {
    for verify in ["require", "optional", "optional_no_ca"] {
        let server = serve(&format!("SSLVerifyClient {verify}"));
        let good = leaf(&server, "ana");
        let cut = good[..good.len() / 2].to_vec();
        let mut long = good.clone();
        long[2..4].copy_from_slice(&[0xff, 0xff]);
        let zeros = vec![0; 60_000];
        let nested = [[0x30, 0x80].repeat(20_000), vec![0; 4]].concat();
        for bytes in [b"camel".to_vec(), cut, long, zeros, nested] {
            let mut client = Raw::with(&server, vec![CertificateDer::from(bytes)], key(&server, "ana"));
            assert_eq!(client.get("/a.txt"), "", "{verify}");
        }
        // A certificate whose key the client does not have.
        let stolen = vec![CertificateDer::from(good)];
        assert_eq!(Raw::with(&server, stolen, key(&server, "eva")).get("/a.txt"), "", "{verify}");
        is(&server, Some("ana"), "/a.txt", &[], "200");
    }
}

#[test]
fn a_chain_of_a_hundred_certificates_is_decided_in_time() {
    let server = serve("SSLVerifyClient optional_no_ca\nSSLVerifyDepth 100\nSSLOptions +StdEnvVars +ExportCertData");
    // All are named like the issuer of the first: the verifier may try each of them.
    let hostile = Authority::new("Hostile");
    let signed = hostile.sign("Mallory", |_| {});
    let pem = |text: String| CertificateDer::from_pem_slice(text.as_bytes()).expect("PEM");
    let alike = (0..100).map(|_| pem(Authority::new("Hostile").pem()));
    let chain: Vec<_> = [CertificateDer::from(signed.der)].into_iter().chain(alike).collect();
    let mallory = PrivateKeyDer::try_from(signed.key.serialize_der()).expect("a key");
    let response = Raw::with(&server, chain, mallory).get("/a.txt");
    assert!(response.is_empty() || response.starts_with("HTTP/1.1"), "{response}");
    // A chain of real authorities, each below the other.
    let mut lowest = Authority::new("Level 0");
    for level in 1..100 {
        lowest = lowest.below(&format!("Level {level}"));
    }
    let signed = lowest.sign("Deep", |_| {});
    let chain: Vec<_> = CertificateDer::pem_slice_iter(signed.chain.as_bytes()).flatten().collect();
    assert_eq!(chain.len(), 100);
    let deep = PrivateKeyDer::try_from(signed.key.serialize_der()).expect("a key");
    let response = Raw::with(&server, chain, deep).get("/a.txt");
    assert!(response.is_empty() || response.starts_with("HTTP/1.1"), "{response}");
    is(&server, Some("ana"), "/a.txt", &[], "200");
}

#[test]
fn programs_get_at_most_a_hundred_names_of_a_kind() {
    let app = "sub { my $e = shift; [200, [], [scalar grep { /^SSL_CLIENT_SAN_DNS_/ } keys %$e]] }";
    let (site, authority) = people();
    let many = authority.sign("Many", |it| {
        it.subject_alt_names =
            (0..1500).map(|n| rcgen::SanType::DnsName(format!("n{n}.example").try_into().expect("a name"))).collect();
    });
    let server = site.client("many", &many).file("app.psgi", app).serve(&format!(
        "{TLS}{ASKING}SSLVerifyClient require\nSSLOptions +StdEnvVars +ExportCertData\n<Location />\nPsgiApp app.psgi\n</Location>"
    ));
    for kind in ["--http1.1", "--http2"] {
        assert_eq!(is(&server, Some("many"), "/", &[kind], "200"), "100200");
    }
}

#[test]
fn the_names_of_many_authorities_are_not_sent() {
    let (site, authority) = people();
    let many: String =
        (0..1200).map(|n| Authority::new(&format!("Authority with a rather long name, number {n}")).pem()).collect();
    let few = authority.pem();
    let site = site.file("ca.crt", &(few.clone() + &many)).file("few.crt", &few);
    let server = site.serve(&format!("{TLS}{ASKING}SSLVerifyClient require"));
    server.logged("site.conf:7: SSLCACertificateFile: ");
    server.logged("none is sent, and clients choose a certificate without them; name fewer with SSLCADNRequestFile");
    is(&server, Some("ana"), "/a.txt", &[], "200");
    fails(&server, Some("zoe"), &[]);
    server.site.configure(&format!("{TLS}{ASKING}SSLVerifyClient require\nSSLCADNRequestFile few.crt"));
    server.reload().succeeded();
    let output = s_client(&server, &["-servername localhost -cert @DIR@/ana.crt -key @DIR@/ana.key"], GET);
    assert!(output.contains("Acceptable client certificate CA names\nCN = Camel CA\n"), "{output}");
    assert!(output.contains("hello"), "{output}");
}

#[test]
fn a_list_of_ten_megabytes_is_read_once_and_searched_quickly() {
    let (site, authority) = people();
    // 400 000 certificates; Eva's is the last.
    let list = authority.list((1000..401_000).chain([2]), 4000);
    assert!(list.len() > 10_000_000, "{}", list.len());
    let server = site.file("crl.pem", &list).serve(&format!(
        "{TLS}{ASKING}SSLVerifyClient require\nSSLCARevocationFile crl.pem\nSSLCARevocationCheck chain"
    ));
    for _ in 0..20 {
        is(&server, Some("ana"), "/a.txt", &[], "200");
    }
    fails(&server, Some("eva"), &[]);
}
