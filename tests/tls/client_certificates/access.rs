//! `SSLVerifyClient` of hosts, places and `.htaccess` files, `SSLVerifyDepth`, `SSLRequire`, `Require`.

use super::{ASKING, KINDS, TLS, fails, is, people, serve, site};
use crate::support::Authority;

#[test]
fn a_host_that_requires_a_certificate_serves_only_those_who_have_a_valid_one() {
    let server = serve("SSLVerifyClient require");
    for kind in KINDS {
        assert_eq!(is(&server, Some("ana"), "/a.txt", kind, "200"), "hello\n200");
        for client in [None, Some("old"), Some("zoe"), Some("self")] {
            fails(&server, client, kind);
        }
    }
    server.logged("invalid peer certificate: Expired");
}

#[test]
fn a_host_with_optional_certificates_serves_those_without() {
    let server = serve("SSLVerifyClient optional");
    for kind in KINDS {
        is(&server, None, "/a.txt", kind, "200");
        is(&server, Some("ana"), "/a.txt", kind, "200");
        fails(&server, Some("zoe"), kind);
        fails(&server, Some("old"), kind);
    }
}

#[test]
fn a_host_with_optional_no_ca_serves_those_of_unknown_authorities_but_no_invalid_ones() {
    let server = serve("SSLVerifyClient optional_no_ca");
    for kind in KINDS {
        for client in [None, Some("ana"), Some("zoe"), Some("self")] {
            is(&server, client, "/a.txt", kind, "200");
        }
        fails(&server, Some("old"), kind);
    }
}

#[test]
fn a_place_that_requires_a_certificate_refuses_others_and_leaves_the_rest_of_the_host_open() {
    let server = serve("<Location /private>\nSSLVerifyClient require\n</Location>");
    for kind in KINDS {
        assert_eq!(is(&server, Some("ana"), "/private/a.txt", kind, "200"), "secret\n200");
        for client in [None, Some("old"), Some("zoe"), Some("self")] {
            let output = is(&server, client, "/private/a.txt", kind, "403");
            assert!(!output.contains("secret"), "{output}");
            is(&server, client, "/a.txt", kind, "200");
        }
    }
    server.logged("SSLVerifyClient: the client has no certificate");
    server.logged("SSLVerifyClient: the client's certificate is refused: certificate has expired");
    server.logged("SSLVerifyClient: the client's certificate is refused: unable to get local issuer certificate");
}

#[test]
fn check_names_the_places_that_make_a_host_request_certificates() {
    let (site, _) = people();
    site.configure(&format!("{TLS}{ASKING}<Location /private>\nSSLVerifyClient require\n</Location>"));
    let output = site.cameleer(["check", "-f", &site.filled("@DIR@/site.conf")]).succeeded();
    let line =
        "site.conf:8: warning: SSLVerifyClient: the TLS handshake asks each client of this host for a certificate";
    assert_eq!(output.err.matches(&site.filled(line)).count(), 1, "{output:?}");
}

#[test]
fn places_accept_what_their_own_setting_allows() {
    let server = serve(
        "<Location /private>\nSSLVerifyClient optional_no_ca\n</Location>\n<Location /a.txt>\nSSLVerifyClient optional\n</Location>",
    );
    for client in [None, Some("ana"), Some("zoe")] {
        is(&server, client, "/private/a.txt", &[], "200");
    }
    is(&server, Some("old"), "/private/a.txt", &[], "403");
    is(&server, None, "/a.txt", &[], "200");
    is(&server, Some("zoe"), "/a.txt", &[], "403");
}

#[test]
fn an_htaccess_file_needs_a_host_that_asks() {
    for (host, with, without) in [("", "403", "403"), ("SSLVerifyClient optional\n", "200", "403")] {
        let (site, _) = people();
        let server = site
            .file("htdocs/private/.htaccess", "SSLVerifyClient require\n")
            .serve(&format!("{TLS}{ASKING}{host}<Directory \"@DIR@/htdocs\">\nAllowOverride AuthConfig\n</Directory>"));
        is(&server, Some("ana"), "/private/a.txt", &[], with);
        is(&server, None, "/private/a.txt", &[], without);
        is(&server, None, "/a.txt", &[], "200");
        if host.is_empty() {
            server.logged("the TLS handshake of this host asks for no certificate; write SSLVerifyClient optional");
        }
    }
}

#[test]
fn a_section_over_plain_http_too_is_open_there_with_a_warning() {
    let other = crate::support::Site::new();
    let (site, _) = people();
    let server = site.serve(&format!(
        "Listen 127.0.0.1:{}\n<Location /private>\nSSLVerifyClient require\n</Location>\n<VirtualHost *:@PORT@>\n{TLS}\
         SSLCACertificateFile ca.crt\n</VirtualHost>",
        other.port
    ));
    is(&server, None, "/private/a.txt", &[], "403");
    let plain = super::super::curl(&server, &[&format!("http://localhost:{}/private/a.txt", other.port)]);
    assert_eq!(plain.out, "secret\n", "as in httpd");
    server.logged("site.conf:3: SSLVerifyClient: this section is also sent over plain HTTP");
}

#[test]
fn ssl_verify_depth_limits_the_chain() {
    let root = Authority::new("Root");
    let below = root.below("Middle");
    let site = || {
        let site = site().file("ca.crt", &root.pem()).file("htdocs/private/a.txt", "secret\n");
        site.client("ana", &below.sign("Ana", |_| {})).client("near", &root.sign("Near", |_| {}))
    };
    let shallow = site().serve(&format!("{TLS}{ASKING}SSLVerifyClient require"));
    is(&shallow, Some("near"), "/a.txt", &[], "200");
    fails(&shallow, Some("ana"), &[]);
    let deep = site().serve(&format!(
        "{TLS}{ASKING}SSLVerifyClient require\nSSLVerifyDepth 2\n<Location /private>\nSSLVerifyDepth 1\n</Location>"
    ));
    is(&deep, Some("ana"), "/a.txt", &[], "200");
    is(&deep, Some("ana"), "/private/a.txt", &[], "403");
    is(&deep, Some("near"), "/private/a.txt", &[], "200");
    deep.logged("certificate chain too long");
}

#[test]
fn an_authority_that_is_not_self_signed_is_no_root() {
    let root = Authority::new("Root");
    let below = root.below("Middle");
    let files = || site().client("ana", &below.sign("Ana", |_| {}));
    let only_below =
        files().file("ca.crt", &below.pem()).serve(&format!("{TLS}{ASKING}SSLVerifyClient require\nSSLVerifyDepth 5"));
    fails(&only_below, Some("ana"), &[]);
    only_below.logged("ca.crt has no self-signed certificate, so no certificate of a client is valid");
    // A client need not send the intermediate certificates that the server has.
    let alone = below.sign("Bo", |_| {});
    let both = files()
        .file("bo.crt", alone.chain.split_inclusive("-----END CERTIFICATE-----\n").next().expect("a certificate"))
        .file("bo.key", &alone.key.serialize_pem())
        .file("ca/root.pem", &root.pem())
        .file("ca/middle.pem", &below.pem())
        .serve(&format!("{TLS}SSLCACertificatePath ca\nSSLVerifyClient require\nSSLVerifyDepth 2"));
    is(&both, Some("ana"), "/a.txt", &[], "200");
    is(&both, Some("bo"), "/a.txt", &[], "200");
}

#[test]
fn a_self_signed_certificate_among_the_authorities_is_valid() {
    let (site, _) = people();
    let own = site.read("self.crt");
    let server = site.file("ca.crt", &own).serve(&format!("{TLS}{ASKING}SSLVerifyClient require\nSSLVerifyDepth 0"));
    is(&server, Some("self"), "/a.txt", &[], "200");
    fails(&server, Some("ana"), &[]);
}

#[test]
fn ssl_require_and_require_look_at_the_certificate() {
    let server = serve(
        "SSLVerifyClient optional\n\
         <Location /a.txt>\nSSLRequire %{SSL_CLIENT_S_DN_CN} in {\"Ana\", \"Bo\"} and %{SSL_CLIENT_S_DN_C} eq \"DE\"\n</Location>\n\
         <Location /private/>\nRequire expr %{SSL:SSL_CLIENT_S_DN_CN} == 'Eva'\n</Location>\n\
         <Location /private/a.txt>\nRequire ssl-verify-client\n</Location>\n\
         <Location /private/tls.txt>\nRequire ssl\n</Location>",
    );
    server.site.write("htdocs/private/b.txt", "b\n");
    server.site.write("htdocs/private/tls.txt", "tls\n");
    for kind in KINDS {
        is(&server, Some("ana"), "/a.txt", kind, "200");
        is(&server, Some("eva"), "/a.txt", kind, "403");
        is(&server, None, "/a.txt", kind, "403");
        is(&server, Some("ana"), "/private/a.txt", kind, "200");
        is(&server, None, "/private/a.txt", kind, "403");
        is(&server, Some("eva"), "/private/b.txt", kind, "200");
        is(&server, Some("ana"), "/private/b.txt", kind, "403");
        is(&server, None, "/private/tls.txt", kind, "200");
    }
    server.logged("SSLRequire %{SSL_CLIENT_S_DN_CN} in {");
}

#[test]
fn an_index_hides_files_that_need_a_certificate() {
    let server = serve("Options +Indexes\n<Files a.txt>\nSSLVerifyClient require\n</Files>\nDirectoryIndex none");
    assert!(is(&server, Some("ana"), "/private/", &[], "200").contains("a.txt"));
    assert!(!is(&server, None, "/private/", &[], "200").contains("a.txt"));
}

#[test]
fn ssl_require_compares_texts_longer_ones_being_greater() {
    let server = serve(
        "SSLVerifyClient optional\n\
         <Location /a.txt>\nSSLRequire %{SSL_CLIENT_S_DN_CN} eq \"Ana\"\n</Location>\n\
         <Location /private/a.txt>\nSSLRequire %{SSL_CLIENT_VERIFY} ne \"NONE\"\n</Location>\n\
         <Location /private/key.txt>\nSSLRequire %{SSL_CIPHER_USEKEYSIZE} >= 99 and %{SSL_CIPHER_USEKEYSIZE} lt \"1000\"\n</Location>",
    );
    server.site.write("htdocs/private/key.txt", "key\n");
    for kind in KINDS {
        is(&server, Some("ana"), "/a.txt", kind, "200");
        is(&server, Some("eva"), "/a.txt", kind, "403");
        is(&server, None, "/a.txt", kind, "403");
        is(&server, Some("eva"), "/private/a.txt", kind, "200");
        is(&server, None, "/private/a.txt", kind, "403");
        is(&server, None, "/private/key.txt", kind, "200");
    }
}

#[test]
fn ssl_require_waits_for_variables_that_need_the_disk() {
    let server = serve(
        "SSLVerifyClient optional\nRewriteEngine on\nRewriteRule ^/moved.txt$ /a.txt [PT]\n\
         <Location /a.txt>\nSetEnvIfExpr \"-f '/etc/passwd'\" closed\nSSLRequire %{ENV:closed} ne \"1\"\n</Location>",
    );
    for path in ["/a.txt", "/moved.txt"] {
        for kind in KINDS {
            is(&server, Some("ana"), path, kind, "403");
        }
    }
}
