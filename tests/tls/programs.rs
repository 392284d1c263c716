//! TLS as programs and logs see it, and responses to clients without TLS.

use nix::sys::signal::Signal;

use super::{TLS, curl, openssl, s_client, serve, site};
use crate::support::{Request, Server, until};

const URL: &str = "https://localhost:@PORT@/";

#[test]
fn files_are_served_over_tls_as_without() {
    let server = serve("");
    assert_eq!(curl(&server, &["https://localhost:@PORT@/a.txt"]).succeeded().out, "hello\n");
    assert!(server.site.read("out.txt").contains(&server.site.filled("https://127.0.0.1:@PORT@/")));
}

#[test]
fn listen_https_turns_on_tls() {
    let site = site();
    let conf = site.filled("SSLCertificateFile localhost.crt\nSSLCertificateKeyFile localhost.key\n");
    let base = site.read("base.conf").replace(&site.filled("@PORT@"), &site.filled("@PORT@ https"));
    let server = site.file("base.conf", &base).serve(&conf);
    assert_eq!(curl(&server, &["https://localhost:@PORT@/a.txt"]).succeeded().out, "hello\n");
}

#[test]
fn psgi_applications_know_the_scheme() {
    let app = r#"sub { my $e = shift; [200, [], [join ' ', map { $_ // '-' } @$e{qw(psgi.url_scheme HTTPS SSL_PROTOCOL SERVER_PORT)}]] }"#;
    let server = site().file("app.psgi", app).serve(&format!("{TLS}<Location />\nPsgiApp app.psgi\n</Location>"));
    let output = curl(&server, &[URL]).succeeded().out;
    assert_eq!(output, server.site.filled("https on - @PORT@"));
}

#[test]
fn std_env_vars_has_the_negotiated_protocol_and_cipher() {
    let script = "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\n\";\n\
        print join ' ', map { $ENV{$_} // '-' } qw(HTTPS SSL_TLS_SNI SSL_PROTOCOL SSL_CIPHER SSL_CIPHER_USEKEYSIZE SSL_SESSION_RESUMED);";
    let server = site()
        .script("scripts/env.pl", script)
        .serve(&format!("{TLS}ScriptAlias /plain/ scripts/\nScriptAlias /told/ scripts/\n<Location /told>\nSSLOptions +StdEnvVars\n</Location>"));
    let ask = |path: &str| {
        curl(&server, &["--tls13-ciphers", "TLS_AES_128_GCM_SHA256", &format!("{URL}{path}/env.pl")]).succeeded().out
    };
    assert_eq!(ask("plain"), "on localhost - - - -");
    assert_eq!(ask("told"), "on localhost TLSv1.3 TLS_AES_128_GCM_SHA256 128 Initial");
}

#[test]
fn std_env_vars_has_the_fields_of_the_servers_certificate() {
    let script = "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\n\";\n\
        print map { \"$_=$ENV{$_}\\n\" } grep { /^SSL_(SERVER|CLIENT)_/ } sort keys %ENV;";
    let site = site().script("scripts/env.pl", script);
    openssl(
        &site,
        "req -x509 -newkey rsa:2048 -nodes -keyout rsa.key -out rsa.crt -days 30 -set_serial 0xab0c \
        -subj '/C=DE/O=Camel, Ltd/OU=Sand/OU=Dune/CN=localhost' -addext subjectAltName=DNS:localhost,DNS:www.example.org,email:a@example.org",
    );
    let server = site.serve(&format!(
        "{TLS}SSLCertificateFile rsa.crt\nSSLCertificateKeyFile rsa.key\nScriptAlias /told/ scripts/\nCustomLog tls.log \"%{{SSL_SERVER_S_DN_CN}}x\"\n\
         <Location /told>\nSSLOptions +StdEnvVars\n</Location>"
    ));
    let ask = |signatures: &str| {
        let request = "GET /told/env.pl HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n";
        s_client(&server, &["-servername localhost -sigalgs", signatures], request)
    };
    let response = ask("rsa_pss_rsae_sha256");
    let expected =
        openssl(&server.site, "x509 -in rsa.crt -noout -serial -startdate -enddate -subject -issuer -nameopt RFC2253");
    let mut expected = expected.lines().map(|line| line.split_once('=').expect("name=value").1.trim());
    for name in ["M_SERIAL", "V_START", "V_END", "S_DN", "I_DN"] {
        let line = format!("SSL_SERVER_{name}={}\n", expected.next().expect("a line for each"));
        assert!(response.contains(&line), "{line}{response}");
    }
    for line in [
        "SSL_SERVER_S_DN_CN=localhost",
        "SSL_SERVER_S_DN_C=DE",
        "SSL_SERVER_S_DN_OU=Sand",
        "SSL_SERVER_S_DN_OU_1=Dune",
        "SSL_SERVER_I_DN_O=Camel, Ltd",
        "SSL_SERVER_SAN_DNS_0=localhost",
        "SSL_SERVER_SAN_DNS_1=www.example.org",
        "SSL_SERVER_SAN_Email_0=a@example.org",
        "SSL_SERVER_M_VERSION=3",
        "SSL_SERVER_A_KEY=rsaEncryption",
        "SSL_SERVER_A_SIG=sha256WithRSAEncryption",
        "SSL_CLIENT_VERIFY=NONE",
    ] {
        assert!(response.contains(&format!("{line}\n")), "{line}: {response}");
    }
    let other = ask("ecdsa_secp256r1_sha256");
    assert!(other.contains("SSL_SERVER_A_KEY=id-ecPublicKey\n"), "the certificate that this client was shown: {other}");
    until("both are logged", || server.site.read("tls.log").lines().count() == 2);
    assert!(server.site.read("tls.log").starts_with("localhost\n"));
}

#[test]
fn handlers_find_https_in_subprocess_env_and_make_links_with_it() {
    let handler = "package My::Scheme; use Apache::Constants ':common'; use Apache::URI; sub handler { my $r = shift;\n\
        $r->content_type('text/plain'); $r->send_http_header;\n\
        $r->print(join ' ', $r->subprocess_env('HTTPS'), Apache::URI->parse($r)->unparse); return OK } 1;";
    let server = site().file("lib/My/Scheme.pm", handler).serve(&format!(
        "{TLS}PerlLib lib\n<Location /scheme>\nSetHandler perl-script\nPerlHandler My::Scheme\n</Location>"
    ));
    let output = curl(&server, &["https://localhost:@PORT@/scheme"]).succeeded().out;
    assert_eq!(output, server.site.filled("on https://localhost:@PORT@/scheme"));
}

#[test]
fn redirections_stay_within_tls() {
    let server = site().file("htdocs/sub/index.html", "index").serve(TLS);
    let output = curl(&server, &["-L", "-w", " %{url_effective}", "https://localhost:@PORT@/sub"]).succeeded().out;
    assert_eq!(output, server.site.filled("index https://localhost:@PORT@/sub/"));
}

#[test]
fn headers_and_logs_see_the_tls_variables() {
    let server = serve(
        "Header always set Strict-Transport-Security max-age=600 env=HTTPS\n\
         CustomLog tls.log \"%{SSL_PROTOCOL}x %{SSL_CIPHER}x %{SSL_CLIENT_S_DN}x %s %O\"",
    );
    let output = curl(&server, &["-i", "--tls-max", "1.2", "https://localhost:@PORT@/a.txt"]).succeeded().out;
    assert!(output.to_lowercase().contains("strict-transport-security: max-age=600"), "{output}");
    until("the request is logged", || server.site.read("tls.log").ends_with('\n'));
    let line = server.site.read("tls.log");
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[..2], ["TLSv1.2", "ECDHE-ECDSA-AES256-GCM-SHA384"], "{line}");
    assert_eq!(words[2..4], ["-", "200"]);
    let sent: usize = words[4].parse().expect("a number");
    assert!(sent > output.len(), "what TLS adds is counted: {sent} of {}", output.len());
}

#[test]
fn a_plain_http_request_is_referred_to_https() {
    let server = serve("");
    let mut connection = server.connect();
    let response = connection.ask(Request::get("/a.txt")).is(400);
    assert!(response.text().contains("https"), "{response:?}");
    connection.is_closed();
}

#[test]
fn ssl_require_ssl_refuses_plain_http() {
    let other = crate::support::Site::new();
    let server = site().file("htdocs/private/a.txt", "secret\n").serve(&format!(
        "Listen 127.0.0.1:{}\n<Directory \"@DIR@/htdocs/private\">\nSSLRequireSSL\n</Directory>\n\
         <VirtualHost *:@PORT@>\n{TLS}</VirtualHost>",
        other.port
    ));
    assert_eq!(curl(&server, &["https://localhost:@PORT@/private/a.txt"]).succeeded().out, "secret\n");
    let plain = curl(&server, &["-w", "%{http_code}", &format!("http://localhost:{}/private/a.txt", other.port)]);
    assert!(plain.out.ends_with("403"), "{plain:?}");
    let open = curl(&server, &[&format!("http://localhost:{}/a.txt", other.port)]);
    assert_eq!(open.out, "hello\n");
}

#[test]
fn large_bodies_pass_in_both_directions() {
    let app = r#"sub { my $e = shift; my $n = 0; while (my $r = $e->{'psgi.input'}->read(my $b, 65536)) { $n += $r }
        [200, [], [$n, ' ', 'x' x 5_000_000]] }"#;
    let server = site().file("app.psgi", app).serve(&format!("{TLS}<Location />\nPsgiApp app.psgi\n</Location>"));
    server.site.write_bytes("body", &vec![b'y'; 3_000_000]);
    let output = curl(&server, &["--data-binary", "@@DIR@/body", URL]).succeeded().out;
    assert_eq!(output.len(), "3000000 ".len() + 5_000_000);
    assert!(output.starts_with("3000000 x"));
}

#[test]
fn a_single_process_speaks_tls_too() {
    let site = site().file("app.psgi", "sub { [200, [], [\"@{$_[0]}{qw(psgi.url_scheme SERVER_PROTOCOL)} $$\"]] }");
    site.configure(&format!("{TLS}Protocols h2 http/1.1\n<Location />\nPsgiApp app.psgi\n</Location>"));
    let mut command = site.serve_command();
    command.arg("-X");
    let mut server = Server::start(site, command);
    for (option, version) in [("--http2", "HTTP/2.0"), ("--http1.1", "HTTP/1.1")] {
        let output = curl(&server, &[option, URL]).succeeded().out;
        assert_eq!(output, format!("https {version} {}", server.pid()));
    }
    server.connect().ask(Request::get("/")).is(400);
    server.signal(Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
}
