//! Messages about certificates and keys that cannot be used.

use super::{TLS, site};
use crate::support::{Connection, Site};

/// Asserts that `check` and `serve` reject the configuration with the message `what`. `conf` begins at line 2 of
/// site.conf.
#[track_caller]
pub(super) fn refused(site: Site, conf: &str, what: &str) {
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
fn a_handshake_on_a_plain_port_names_the_listener_for_tls() {
    let other = Site::new();
    let hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\xff";
    let logs = |conf: &str, advice: &str| {
        let server = site().serve(conf);
        Connection::open(&server.address).expect("accepted").raw(hello);
        let line = server.logged("the client speaks TLS on the plain port");
        let reason = format!("the request cannot be read: the client speaks TLS on the plain port @PORT@; {advice}");
        assert!(line.trim_end().ends_with(&server.site.filled(&reason)), "{line}");
    };
    let host = format!("Listen 127.0.0.1:{0}\n<VirtualHost *:{0}>\n{TLS}</VirtualHost>", other.port);
    logs(&host, &format!("the listener for TLS is 127.0.0.1:{}", other.port));
    logs("", "write Listen @PORT@ https, or SSLEngine On in the virtual host, with a certificate");
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
    refused(site(), "SSLEngine On", "site.conf:2: SSLEngine: no certificate; set SSLCertificateFile");
    refused(site(), "Listen 127.0.0.1:1 https", "site.conf:2: Listen: https, but no host there has a certificate");
    refused(site(), "Listen @DIR@/a.sock https", "site.conf:2: Listen: TLS is not supported on unix sockets");
}

#[test]
fn directives_about_certificates_of_clients_that_cannot_act_are_errors() {
    let line = |text: &str| format!("{TLS}SSLVerifyClient require\n{text}");
    refused(site(), &format!("{TLS}SSLVerifyClient maybe"), "site.conf:5: SSLVerifyClient: expected none, optional");
    refused(
        site(),
        &line("SSLCACertificateFile nowhere.crt"),
        "site.conf:6: SSLCACertificateFile: @DIR@/nowhere.crt cannot be read",
    );
    refused(
        site(),
        &line("SSLCACertificateFile localhost.key"),
        "site.conf:6: SSLCACertificateFile: @DIR@/localhost.key contains no certificate",
    );
    refused(
        site(),
        &line("SSLCARevocationCheck chain"),
        "site.conf:6: SSLCARevocationCheck: needs a list of revoked certificates",
    );
    refused(
        site(),
        &line("SSLCARevocationCheck chain maybe"),
        "site.conf:6: SSLCARevocationCheck: expected no_crl_for_cert_ok",
    );
    let list = line("SSLCARevocationCheck leaf\nSSLCARevocationFile localhost.crt");
    refused(
        site(),
        &list,
        "site.conf:7: SSLCARevocationFile: @DIR@/localhost.crt contains no list of revoked certificates",
    );
    refused(
        site(),
        &format!("{TLS}<Location />\nSSLRequire %{{CAMEL}} eq 'x'\n</Location>"),
        "site.conf:6: SSLRequire: ",
    );
    refused(
        site(),
        &format!("{TLS}SSLUserName REMOTE_ADDR"),
        "site.conf:5: SSLUserName: expected a variable such as SSL_CLIENT_S_DN_CN",
    );
    refused(site(), &format!("{TLS}SSLOptions +LegacyDNStringFormat"), "site.conf:5: SSLOptions: LegacyDNStringFormat");
    refused(
        site(),
        &format!("{TLS}SSLOCSPEnable on"),
        "site.conf:5: SSLOCSPEnable: is not supported: responders are not asked",
    );
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
    let output = site.cameleer(["check", "-f", &site.filled("@DIR@/site.conf")]).succeeded();
    let warning =
        |what: &str| site.filled(&format!("site.conf:3: warning: SSLCertificateFile: @DIR@/localhost.crt {what}"));
    assert!(output.err.contains(&warning("expired on 2001-01-01")), "{output:?}");
    assert!(output.err.contains(&warning("is not valid for ServerName localhost")), "{output:?}");
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
