//! Perl code in front of places that need a certificate: redirects, subrequests, and rules that a worker judges.

use super::{ASKING, TLS, is, people};
use crate::support::{Server, Site};
use crate::tls::curl;

const LED: &str = "package My::Led;
sub redirect { my $r = shift; $r->internal_redirect(scalar $r->args); 0 }
sub subrequest { my $r = shift; shown($r, $r->lookup_uri(scalar $r->args)) }
sub file { my $r = shift; shown($r, $r->lookup_file($r->document_root . '/up/a.txt')) }
sub shown { my ($r, $s) = @_; return $s->status if $s->status != 200; $r->send_http_header('text/plain'); $s->run; 0 }
sub move { my $r = shift; $r->uri(scalar $r->args) if $r->uri eq '/move'; -1 }
sub declined { -1 }
1;
";

/// A host with such code over TLS, and over plain HTTP at the port of `plain`.
fn serve(plain: &Site, conf: &str) -> Server {
    let handler =
        |name: &str| format!("<Location /{name}>\nSetHandler perl-script\nPerlHandler My::Led::{name}\n</Location>\n");
    let mut site = people().0.file("lib/My/Led.pm", LED);
    for folder in ["up", "tls", "cond", "not", "not/known"] {
        site = site.file(&format!("htdocs/{folder}/a.txt"), "secret\n");
    }
    site.serve(&format!(
        "Listen 127.0.0.1:{}\nPerlLib lib\nPerlModule My::Led\n{}{}{}{conf}\n<VirtualHost *:@PORT@>\n{TLS}{ASKING}\
         PerlTransHandler My::Led::move\n</VirtualHost>",
        plain.port,
        handler("redirect"),
        handler("subrequest"),
        handler("file"),
    ))
}

#[test]
fn redirects_subrequests_and_moves_need_the_certificate_too() {
    let plain = Site::new();
    let server = serve(
        &plain,
        "<Location /private>\nSSLVerifyClient require\n</Location>\n\
         <Directory \"@DIR@/htdocs/up\">\nSSLVerifyClient require\n</Directory>\n\
         <Location /tls>\nSSLRequireSSL\n</Location>\n\
         <Location /cond>\nSSLRequire %{SSL_CLIENT_VERIFY} eq \"SUCCESS\"\n</Location>",
    );
    for path in ["/redirect?/private/a.txt", "/subrequest?/private/a.txt", "/move?/private/a.txt", "/file"] {
        let output = is(&server, Some("ana"), path, &[], "200");
        assert!(output.contains("secret"), "{path}: {output}");
        for client in [None, Some("old"), Some("zoe"), Some("self")] {
            let output = is(&server, client, path, &[], "403");
            assert!(!output.contains("secret"), "{path}: {output}");
        }
    }
    server.logged("SSLVerifyClient: the client has no certificate");
    for way in ["redirect", "subrequest"] {
        is(&server, None, &format!("/{way}?/tls/a.txt"), &[], "200");
        let url = format!("http://localhost:{}/{way}?/tls/a.txt", plain.port);
        let output = curl(&server, &["-w", "%{http_code}", &url]).succeeded();
        assert!(output.out.ends_with("403") && !output.out.contains("secret"), "{way}: {output:?}");
    }
    // The variables of TLS are not known there: nobody is let in.
    for way in ["redirect", "subrequest", "move"] {
        for client in [Some("ana"), None, Some("old")] {
            let output = is(&server, client, &format!("/{way}?/cond/a.txt"), &[], "403");
            assert!(!output.contains("secret"), "{way}: {output}");
        }
    }
    server.logged("is not known to Perl workers here; write SSLOptions +StdEnvVars");
    is(&server, Some("ana"), "/cond/a.txt", &[], "200");
}

#[test]
fn conditions_about_tls_hold_in_redirects_and_subrequests_where_the_variables_are_known() {
    let server = serve(
        &Site::new(),
        "<Location />\nSSLOptions +StdEnvVars\n</Location>\n<Location /cond>\nSSLVerifyClient optional_no_ca\n\
         SSLRequire %{SSL_CLIENT_S_DN_CN} eq \"Ana\" and %{SSL_CIPHER_USEKEYSIZE} >= 128\n</Location>",
    );
    for path in ["/cond/a.txt", "/redirect?/cond/a.txt", "/subrequest?/cond/a.txt", "/move?/cond/a.txt"] {
        let output = is(&server, Some("ana"), path, &[], "200");
        assert!(output.contains("secret"), "{path}: {output}");
        for client in [None, Some("old"), Some("self")] {
            let output = is(&server, client, path, &[], "403");
            assert!(!output.contains("secret"), "{path}: {output}");
        }
    }
    server.logged("SSLRequire %{SSL_CLIENT_S_DN_CN} eq");
}

#[test]
fn a_negated_rule_that_a_worker_judges_needs_the_variables() {
    let rules = "PerlAccessHandler My::Led::declined\n<RequireAll>\nRequire all granted\n\
        Require not expr %{SSL_CLIENT_VERIFY} == 'NONE'\n</RequireAll>\n";
    let server = serve(
        &Site::new(),
        &format!(
            "<Location /private>\nSSLVerifyClient require\n</Location>\n<Location /not>\n{rules}</Location>\n\
             <Location /not/known>\nSSLOptions +StdEnvVars\n</Location>"
        ),
    );
    for client in [None, Some("ana")] {
        let output = is(&server, client, "/not/a.txt", &[], "500");
        assert!(!output.contains("secret"), "{output}");
    }
    server.logged("is not known to Perl workers here; write SSLOptions +StdEnvVars");
    is(&server, Some("ana"), "/not/known/a.txt", &[], "200");
    is(&server, None, "/not/known/a.txt", &[], "403");
}
