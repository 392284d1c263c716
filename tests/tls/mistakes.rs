//! Messages about certificates and keys that cannot be used.

use super::{TLS, site};
use crate::support::Site;

/// Asserts that `check` and `serve` reject the configuration with the message `what`. `conf` begins at line 2 of
/// site.conf.
#[track_caller]
fn refused(site: Site, conf: &str, what: &str) {
    site.configure(conf);
    site.cameleer(["check", "-f", &site.filled("@DIR@/site.conf")]).failed(78, &site.filled(what));
    site.cameleer(["serve", "-f", &site.filled("@DIR@/site.conf")]).failed(78, &site.filled(what));
}

#[test]
fn a_file_that_is_missing_is_named_with_its_line() {
    let conf = "SSLEngine On\nSSLCertificateFile nowhere.crt\nSSLCertificateKeyFile localhost.key";
    refused(site(), conf, "@DIR@/site.conf:3: SSLCertificateFile: @DIR@/nowhere.crt cannot be read: No such file");
    let conf = "SSLEngine On\nSSLCertificateFile localhost.crt\nSSLCertificateKeyFile nowhere.key";
    refused(site(), conf, "@DIR@/site.conf:4: SSLCertificateKeyFile: @DIR@/nowhere.key cannot be read: No such file");
}

#[test]
fn a_file_without_certificate_or_key_is_refused() {
    refused(
        site().file("localhost.crt", "hello"),
        TLS,
        "site.conf:3: SSLCertificateFile: @DIR@/localhost.crt contains no certificate",
    );
    refused(
        site().file("localhost.key", "hello"),
        TLS,
        "site.conf:4: SSLCertificateKeyFile: @DIR@/localhost.key contains no private key",
    );
    let locked =
        site().file("localhost.key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\n-----END ENCRYPTED PRIVATE KEY-----\n");
    refused(locked, TLS, "is protected by a password");
}

#[test]
fn a_key_of_another_certificate_is_refused() {
    let site = site().certificate("other", &["other"]);
    let key = site.read("other.key");
    refused(
        site.file("localhost.key", &key),
        TLS,
        "site.conf:4: SSLCertificateKeyFile: @DIR@/localhost.key is the key of another certificate",
    );
}

#[test]
fn tls_without_a_certificate_is_refused() {
    refused(site(), "SSLEngine On", "site.conf:2: SSLEngine: On, but there is no certificate");
    refused(site(), "Listen 127.0.0.1:1 https", "site.conf:2: Listen: https, but no host there has a certificate");
    refused(site(), "Listen @DIR@/a.sock https", "site.conf:2: Listen: TLS is not supported on unix sockets");
}

#[test]
fn directives_for_client_certificates_are_errors_everywhere() {
    for verify in ["optional", "optional_no_ca", "require"] {
        let refusal = |line: u8| {
            format!("site.conf:{line}: SSLVerifyClient: is not supported: client certificates are not supported")
        };
        refused(site(), &format!("{TLS}SSLVerifyClient {verify}"), &refusal(5));
        let conf = format!("{TLS}<Location /private>\nSSLVerifyClient {verify}\n</Location>");
        refused(site(), &conf, &refusal(6));
        let conf = format!("<VirtualHost *:@PORT@>\n{TLS}SSLVerifyClient {verify}\n</VirtualHost>");
        refused(site(), &conf, &refusal(6));
    }
    refused(
        site(),
        &format!("{TLS}SSLCACertificateFile localhost.crt"),
        "site.conf:5: SSLCACertificateFile: is not supported",
    );
    refused(site(), &format!("{TLS}SSLRequire true"), "site.conf:5: SSLRequire: is not supported");
    refused(site(), &format!("{TLS}SSLOptions +FakeBasicAuth"), "site.conf:5: SSLOptions: FakeBasicAuth");
}

#[test]
fn an_htaccess_file_that_asks_for_certificates_of_clients_closes_its_folder() {
    let server = site()
        .file("htdocs/private/.htaccess", "SSLVerifyClient require\n")
        .file("htdocs/private/a.txt", "secret")
        .serve(&format!("{TLS}<Directory \"@DIR@/htdocs\">\nAllowOverride All\n</Directory>"));
    let said = super::curl(&server, &["-w", "%{http_code}", "https://localhost:@PORT@/private/a.txt"]).succeeded().out;
    assert!(said.ends_with("500") && !said.contains("secret"), "{said}");
}

#[test]
fn versions_that_leave_nothing_are_refused() {
    refused(site(), &format!("{TLS}SSLProtocol -all +TLSv1"), "site.conf:5: SSLProtocol: leaves no supported version");
    refused(site(), &format!("{TLS}SSLProtocol TLSv9"), "site.conf:5: SSLProtocol: expected all, TLSv1.2 or TLSv1.3");
    refused(site(), &format!("{TLS}Protocols h3"), "site.conf:5: Protocols: expected h2, h2c or http/1.1, got \"h3\"");
}

#[test]
fn an_expired_certificate_and_one_for_another_name_are_warnings() {
    let site = site();
    site.certify("localhost", &["elsewhere.example"], 2001);
    site.configure(TLS);
    let said = site.cameleer(["check", "-f", &site.filled("@DIR@/site.conf")]).succeeded();
    let warning = |what: &str| site.filled(&format!("site.conf:3: SSLCertificateFile: @DIR@/localhost.crt {what}"));
    assert!(said.err.contains(&warning("expired on 2001-01-01")), "{said:?}");
    assert!(said.err.contains(&warning("is not valid for ServerName localhost")), "{said:?}");
}

#[test]
fn old_lines_of_mod_ssl_are_read() {
    let site = site();
    site.configure(&format!(
        "{TLS}SSLProtocol all -SSLv3 -TLSv1 -TLSv1.1\nSSLCipherSuite HIGH:!aNULL:!MD5\nSSLHonorCipherOrder On\n\
         SSLSessionCache shmcb:/tmp/cache(512000)\nSSLSessionCacheTimeout 300\nSSLSessionTickets Off\nSSLVerifyClient none\n\
         SSLOptions +StdEnvVars +StrictRequire\nSSLRandomSeed startup builtin\n<IfModule mod_ssl.c>\nServerAdmin x@y\n</IfModule>"
    ));
    site.cameleer(["check", "-f", &site.filled("@DIR@/site.conf")]).succeeded();
}
