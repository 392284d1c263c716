//! Users by their certificates: `SSLUserName`, `SSLOptions +FakeBasicAuth`; and the response cache.

use super::{KINDS, is, people, serve};
use crate::support::until;

#[test]
fn ssl_user_name_names_the_user_for_programs_and_logs() {
    let app = "sub { [200, [], [join ' ', map { $_ // '-' } @{$_[0]}{qw(REMOTE_USER AUTH_TYPE)}]] }";
    let server = people().0.file("app.psgi", app).serve(&format!(
        "{}{}SSLVerifyClient optional\nSSLUserName SSL_CLIENT_S_DN_CN\nCustomLog tls.log %u\n<Location />\nPsgiApp app.psgi\n</Location>",
        super::TLS,
        super::ASKING
    ));
    for kind in KINDS {
        let said = is(&server, Some("ana"), "/", kind, "200");
        assert_eq!(said, "Ana ClientCert200");
    }
    let said = is(&server, None, "/", &[], "200");
    assert!(said.starts_with("- "), "{said}");
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
