//! Backends with TLS.

use super::{Backend, ok};
use crate::support::{Request, Server, Site};

/// A backend with a certificate for `host` that expires in the year `until`.
fn backend(host: &str, until: i32) -> Server {
    let site = Site::new().file("htdocs/a.txt", "hello");
    site.certify("backend", &[host], until);
    site.serve("SSLEngine On\nSSLCertificateFile backend.crt\nSSLCertificateKeyFile backend.key\n")
}

fn url(backend: &Server) -> String {
    format!("https://localhost:{}/", backend.site.port)
}

#[test]
fn a_certificate_is_checked_as_far_as_the_site_demands() {
    let (good, other, old) = (backend("localhost", 4000), backend("other.example", 4000), backend("localhost", 2001));
    let trust = |backend: &Server| {
        format!("SSLProxyVerify require\nSSLProxyCACertificateFile {}\n", backend.site.path("backend.crt").display())
    };
    let on = "SSLProxyEngine On\n".to_owned();
    for (backend, conf, status, why) in [
        (&good, String::new(), 500, "write SSLProxyEngine On"),
        (&good, on.clone(), 200, ""),
        (&good, on.clone() + &trust(&good), 200, ""),
        (&good, on.clone() + &trust(&other), 500, "invalid peer certificate"),
        (&other, on.clone(), 500, "not valid for"),
        (&other, on.clone() + "SSLProxyCheckPeerName Off\n", 200, ""),
        (&old, on.clone(), 500, "invalid peer certificate: Expired"),
        (&old, on.clone() + "SSLProxyCheckPeerExpire Off\n", 200, ""),
    ] {
        let server = Site::new().serve(&format!("{conf}ProxyPass / {}\n", url(backend)));
        assert_eq!(server.get("/a.txt").status, status, "{conf}: {}", server.log());
        if !why.is_empty() {
            server.logged(why);
        }
    }
}

#[test]
fn the_host_of_the_backend_or_the_preserved_one_is_named_in_the_handshake() {
    let site = Site::new().file("htdocs/a.txt", "hello");
    site.certify("backend", &["localhost", "public.example"], 4000);
    let backend = site.serve(
        "SSLEngine On\nSSLCertificateFile backend.crt\nSSLCertificateKeyFile backend.key\n\
         Header set X-Sni %{SSL_TLS_SNI}e\n",
    );
    let server = Site::new().serve(&format!(
        "SSLProxyEngine On\nProxyPass /a/ {}\nProxyPass /b/ {}\n<Location /b/>\nProxyPreserveHost On\n</Location>\n",
        url(&backend),
        url(&backend)
    ));
    for (target, name) in [("/a/a.txt", "localhost"), ("/b/a.txt", "public.example"), ("/a/a.txt", "localhost")] {
        let response = server.send(Request::get(target).header("Host", "public.example"));
        assert_eq!((response.status, response.header("X-Sni").as_deref()), (200, Some(name)), "{target}");
    }
}

#[test]
fn a_backend_without_tls_and_files_without_certificates_are_named() {
    let plain = Backend::new(|_| ok("plain"));
    let secure = plain.url("/").replace("http:", "https:");
    let server = Site::new().serve(&format!("SSLProxyEngine On\nProxyPass / {secure}\n"));
    assert_eq!(server.get("/").status, 500);
    server.logged("TLS handshake: ");
    let site = Site::new().file("no.pem", "nothing");
    site.configure("SSLProxyVerify require\nSSLProxyCACertificateFile no.pem\n");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "contains no certificate that can be used");
}

#[test]
fn a_name_that_a_client_invents_puts_no_member_in_error() {
    let good = backend("localhost", 4000);
    let server = Site::new().serve(&format!(
        "SSLProxyEngine On\nProxyPreserveHost On\n<Proxy balancer://group>\nBalancerMember {}\n</Proxy>\n\
         ProxyPass / balancer://group/\n",
        url(&good)
    ));
    let ask = |host: &str| server.send(Request::get("/a.txt").header("Host", host)).status;
    assert_eq!([ask("invented.example"), ask("localhost")], [500, 200]);
}
