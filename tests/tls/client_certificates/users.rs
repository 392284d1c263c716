//! Users by their certificates: `SSLUserName`, `SSLOptions +FakeBasicAuth`; and the response cache.

use super::{ASKING, KINDS, TLS, is, people, serve};
use crate::support::{Authority, Site, until};
use crate::tls::curl;

#[test]
fn ssl_user_name_names_the_user_for_programs_and_logs() {
    let app = "sub { [200, [], [join ' ', map { $_ // '-' } @{$_[0]}{qw(REMOTE_USER AUTH_TYPE)}]] }";
    let server = people().0.file("app.psgi", app).serve(&format!(
        "{}{}SSLVerifyClient optional\nSSLUserName SSL_CLIENT_S_DN_CN\nCustomLog tls.log %u\n<Location />\nPsgiApp app.psgi\n</Location>",
        super::TLS,
        super::ASKING
    ));
    for kind in KINDS {
        let output = is(&server, Some("ana"), "/", kind, "200");
        assert_eq!(output, "Ana ClientCert200");
    }
    let output = is(&server, None, "/", &[], "200");
    assert!(output.starts_with("- "), "{output}");
    until("all are logged", || server.site.read("tls.log").lines().count() == 4);
    assert_eq!(server.site.read("tls.log"), "Ana\nAna\nAna\n-\n");
}

/// A host whose users are certificates: Ana may come in, Eva is not in the file.
#[test]
fn fake_basic_auth_makes_the_subject_the_user() {
    // The password is always "password".
    let server = serve(
        "SSLVerifyClient optional_no_ca\n<Location /private>\nSSLOptions +FakeBasicAuth\nAuthType Basic\nAuthName camels\n\
         AuthUserFile users\nRequire valid-user\n</Location>\nCustomLog tls.log %u",
    );
    let hash = "{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=";
    server.site.write("users", &format!("/C=DE/CN=Ana:{hash}\n/C=DE/CN=Zoe:{hash}\n"));
    for kind in KINDS {
        is(&server, Some("ana"), "/private/a.txt", kind, "200");
        is(&server, Some("eva"), "/private/a.txt", kind, "401");
        is(&server, None, "/private/a.txt", kind, "401");
    }
    // In httpd the owner of any self-made certificate is the user that it names.
    is(&server, Some("zoe"), "/private/a.txt", &[], "401");
    let faked = ["-u", "/C=DE/CN=Ana:password"];
    is(&server, None, "/private/a.txt", &faked, "403");
    is(&server, Some("eva"), "/private/a.txt", &faked, "403");
    server.logged("a client sent the name and password of a user by certificate (FakeBasicAuth)");
    until("the first is logged", || server.site.read("tls.log").starts_with("/C=DE/CN=Ana\n"));
}

#[test]
fn a_response_to_a_client_with_a_certificate_is_not_shared() {
    let app = "sub { [200, ['Cache-Control', 'max-age=60'], [$_[0]{SSL_CLIENT_S_DN_CN} // 'nobody']] }";
    let server = people().0.file("app.psgi", app).serve(&format!(
        "{}{}SSLVerifyClient optional\nSSLOptions +StdEnvVars\n<Location />\nPsgiApp app.psgi\nCacheEnable memory\n</Location>",
        super::TLS,
        super::ASKING
    ));
    for (client, name) in
        [(Some("ana"), "Ana"), (Some("eva"), "Eva"), (None, "nobody"), (Some("ana"), "Ana"), (None, "nobody")]
    {
        assert_eq!(is(&server, client, "/", &[], "200"), format!("{name}200"));
    }
}

#[test]
fn a_certificate_that_the_place_refuses_names_nobody() {
    let app = "sub { my $e = shift; my @known = grep { /^SSL_CLIENT_/ && length $e->{$_} } sort keys %$e; \
        [200, [], [join ' ', $e->{REMOTE_USER} // '-', $e->{HTTP_X_CLIENT}, @known]] }";
    let forged = Authority::new("Sand CA").sign("Ana", |_| {});
    let server = people().0.client("forged", &forged).file("app.psgi", app).serve(&format!(
        "{TLS}{ASKING}SSLUserName SSL_CLIENT_S_DN_CN\nSSLOptions +StdEnvVars +ExportCertData\n\
         CustomLog tls.log \"%u %{{SSL_CLIENT_S_DN_CN}}x\"\nRequestHeader set X-Client \"%{{SSL_CLIENT_S_DN_CN}}s\"\n\
         <Location /app>\nPsgiApp app.psgi\n</Location>\n\
         <Location /app/loose>\nSSLVerifyClient optional_no_ca\n</Location>\n\
         <Location /private>\nSSLVerifyClient require\n</Location>"
    ));
    for kind in KINDS {
        assert_eq!(is(&server, Some("forged"), "/app", kind, "200"), "- (null) SSL_CLIENT_VERIFY200");
        for (client, path) in [("ana", "/app"), ("forged", "/app/loose")] {
            let output = is(&server, Some(client), path, kind, "200");
            assert!(output.starts_with("Ana Ana SSL_CLIENT_A_KEY "), "{client}: {output}");
        }
    }
    until("all are logged", || server.site.read("tls.log").lines().count() == 9);
    assert_eq!(server.site.read("tls.log"), "- -\nAna Ana\nAna Ana\n".repeat(3));
}

#[test]
fn nobody_becomes_a_user_by_certificate_with_a_password() {
    let plain = Site::new();
    let users = |name: &str, more: &str| {
        format!(
            "<Location /{name}>\nAuthType Basic\nAuthName camels\nAuthUserFile users\nRequire valid-user\n{more}\n</Location>\n"
        )
    };
    // The hash is DES, which looks at eight characters.
    let mut site = people().0.file("users", "/C=DE/CN=Ana:abJnggxhB/yWI\nbo:abJnggxhB/yWI\n");
    for name in ["same", "perl"] {
        site = site.file(&format!("htdocs/{name}/a.txt"), "secret\n");
    }
    let server = site.file("lib/My/Auth.pm", "package My::Auth;\nsub handler { return -1 }\n1;\n").serve(&format!(
        "Listen 127.0.0.1:{}\nPerlLib lib\n{}{}{}<VirtualHost *:@PORT@>\n{TLS}{ASKING}SSLVerifyClient optional\n</VirtualHost>",
        plain.port,
        users("private", "SSLOptions +FakeBasicAuth"),
        users("same", ""),
        users("perl", "SSLOptions +FakeBasicAuth\nPerlAuthenHandler My::Auth"),
    ));
    let over_http = |path: &str, who: &str| {
        let url = format!("http://localhost:{}{path}", plain.port);
        curl(&server, &["-o", "/dev/null", "-w", "%{http_code}", "-u", who, &url]).succeeded().out
    };
    for path in ["/private/a.txt", "/same/a.txt", "/perl/a.txt"] {
        for password in ["password", "password1"] {
            let faked = format!("/C=DE/CN=Ana:{password}");
            is(&server, None, path, &["-u", &faked], "403");
            assert_eq!(over_http(path, &faked), "403", "{path} {password}");
        }
        is(&server, None, path, &["-u", "bo:password"], "200");
        assert_eq!(over_http(path, "bo:password"), "200", "{path}");
    }
    is(&server, None, "/private/a.txt", &["-u", "/C=DE/CN=Ana:other"], "403");
    is(&server, None, "/same/a.txt", &["-u", "/C=DE/CN=Ana:other"], "401");
    is(&server, Some("ana"), "/private/a.txt", &[], "200");
}
