//! `SSL_CLIENT_…` for programs, expressions, rules, headers and logs.

use super::{ASKING, TLS, ask, is, people};
use crate::support::{Server, until};
use crate::tls::openssl;

const CGI: &str = "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\n\";\nprint map { \"$_=$ENV{$_}\\n\" } grep { /^SSL_(CLIENT|SERVER_CERT)/ } sort keys %ENV;";

/// A site whose /cgi/env.pl prints the variables.
fn serve(conf: &str) -> Server {
    let site = people().0.script("scripts/env.pl", CGI);
    site.serve(&format!("{TLS}{ASKING}ScriptAlias /cgi/ scripts/\n{conf}"))
}

fn programs(server: &Server, client: Option<&str>, path: &str) -> String {
    let response = ask(server, client, path, &[]).succeeded();
    response.out.strip_suffix("200").unwrap_or_else(|| panic!("{response:?}")).to_owned()
}

#[test]
fn programs_get_the_fields_of_the_clients_certificate() {
    let server = serve("SSLVerifyClient optional_no_ca\nSSLOptions +StdEnvVars");
    let output = programs(&server, Some("ana"), "/cgi/env.pl");
    let format = "x509 -in ana.crt -noout -serial -startdate -enddate -subject -issuer -nameopt RFC2253";
    let expected = openssl(&server.site, format);
    let mut expected = expected.lines().map(|line| line.split_once('=').expect("name=value").1.trim());
    for name in ["M_SERIAL", "V_START", "V_END", "S_DN", "I_DN"] {
        let line = format!("SSL_CLIENT_{name}={}\n", expected.next().expect("a line for each"));
        assert!(output.contains(&line), "{line}{output}");
    }
    for line in [
        "VERIFY=SUCCESS",
        "S_DN_CN=Ana",
        "S_DN_C=DE",
        "I_DN_CN=Camel CA",
        "M_VERSION=3",
        "A_KEY=id-ecPublicKey",
        "CERT_RFC4523_CEA={ serialNumber 1, issuer rdnSequence:\"CN=Camel CA\" }",
    ] {
        assert!(output.contains(&format!("SSL_CLIENT_{line}\n")), "{line}: {output}");
    }
    let days = output.lines().find_map(|line| line.strip_prefix("SSL_CLIENT_V_REMAIN=")).expect("days");
    assert!(days.parse::<u64>().expect("a number") > 100_000, "{output}");
    assert!(!output.contains("SSL_CLIENT_CERT="), "{output}");
    assert_eq!(programs(&server, None, "/cgi/env.pl"), "SSL_CLIENT_VERIFY=NONE\n");
    assert!(programs(&server, Some("zoe"), "/cgi/env.pl").contains("SSL_CLIENT_VERIFY=GENEROUS\n"));
}

#[test]
fn programs_see_why_a_certificate_is_not_valid() {
    let server = serve("SSLOptions +StdEnvVars\n<Location /private>\nSSLVerifyClient require\n</Location>");
    for (client, verify) in [
        ("ana", "SUCCESS"),
        ("old", "FAILED:certificate has expired"),
        ("zoe", "FAILED:unable to get local issuer certificate"),
        ("self", "FAILED:self-signed certificate"),
    ] {
        let output = programs(&server, Some(client), "/cgi/env.pl");
        assert!(output.contains(&format!("SSL_CLIENT_VERIFY={verify}\n")), "{client}: {output}");
    }
}

#[test]
fn export_cert_data_has_the_certificates_in_pem() {
    let server = serve("SSLVerifyClient optional\nSSLOptions ExportCertData");
    let output = programs(&server, Some("ana"), "/cgi/env.pl");
    let one_line = |text: &str| text.split_whitespace().collect::<String>();
    let own = one_line(&server.site.read("ana.crt"));
    assert!(one_line(&output).contains(&format!("SSL_CLIENT_CERT={own}")), "{output}");
    let servers = one_line(&server.site.read("localhost.crt"));
    assert!(one_line(&output).contains(&format!("SSL_SERVER_CERT={servers}")), "{output}");
}

#[test]
fn logs_headers_rules_and_handlers_know_the_certificate() {
    let handler = "package My::Who; sub handler { my $r = shift; $r->send_http_header('text/plain'); \
        $r->print(join ' ', map { $r->subprocess_env(\"SSL_CLIENT_$_\") // '-' } qw(VERIFY S_DN_CN)); return 0 } 1;";
    let server = people().0.file("lib/My/Who.pm", handler).serve(&format!(
        "{}{}SSLVerifyClient optional\nCustomLog tls.log \"%{{SSL_CLIENT_S_DN_CN}}x %{{SSL_CLIENT_VERIFY}}x\"\n\
         Header set X-Certificate \"%{{SSL_CLIENT_CERT}}s\"\nHeader set X-Serial \"%{{SSL_CLIENT_M_SERIAL}}s\"\nRewriteEngine On\n\
         RewriteCond %{{SSL:SSL_CLIENT_S_DN_CN}} ^Ana$\nRewriteRule ^/me$ /a.txt\n\
         PerlLib lib\n<Location /who>\nSSLOptions +StdEnvVars\nSetHandler perl-script\nPerlHandler My::Who\n</Location>",
        TLS, ASKING
    ));
    let output = is(&server, Some("ana"), "/me", &["-i", "--http2"], "200");
    assert!(output.contains("x-serial: 01"), "{output}");
    let pem = server.site.read("ana.crt").lines().collect::<Vec<_>>().join(" ");
    assert!(output.contains(&format!("x-certificate: {pem}")), "{output}");
    is(&server, Some("eva"), "/me", &[], "404");
    assert_eq!(is(&server, Some("eva"), "/who", &[], "200"), "SUCCESS Eva200");
    assert_eq!(is(&server, None, "/who", &[], "200"), "NONE -200");
    until("all are logged", || server.site.read("tls.log").lines().count() == 4);
    assert_eq!(server.site.read("tls.log"), "Ana SUCCESS\nEva SUCCESS\nEva SUCCESS\n- NONE\n");
}

#[test]
fn a_name_of_several_lines_leaves_no_header_of_the_client() {
    let (site, authority) = people();
    let mallory = authority.sign("Mallory\r\nX-Admin: 1", |_| {});
    let app = "sub { [200, [], [join ' ', map { $_ // '-' } @{$_[0]}{qw(HTTP_X_CLIENT HTTP_X_EXPR HTTP_X_ADMIN)}]] }";
    let server = site.client("mallory", &mallory).file("app.psgi", app).serve(&format!(
        "{TLS}{ASKING}SSLVerifyClient optional\nRequestHeader set X-Client \"%{{SSL_CLIENT_S_DN_CN}}s\"\n\
         RequestHeader set X-Expr \"expr=%{{SSL_CLIENT_S_DN_CN}}\"\n<Location />\nPsgiApp app.psgi\n</Location>"
    ));
    let own = ["-H", "X-Client: Ana", "-H", "X-Expr: Ana"];
    assert_eq!(is(&server, Some("mallory"), "/", &own, "200"), "- - -200");
    assert_eq!(is(&server, Some("eva"), "/", &own, "200"), "Eva Eva -200");
}
