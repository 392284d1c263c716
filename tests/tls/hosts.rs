//! Which host answers, and with which certificate.

use super::{curl, s_client, site};
use crate::support::{Server, Site};

fn two_hosts() -> Site {
    let site = site().certificate("one", &["one.example"]).certificate("two", &["two.example"]);
    site.file("one/a.txt", "one\n").file("two/a.txt", "two\n")
}

#[track_caller]
fn serve() -> Server {
    let host = |name: &str| {
        format!(
            "<VirtualHost *:@PORT@>\nServerName {name}.example\nDocumentRoot {name}\nSSLEngine On\n\
             SSLCertificateFile {name}.crt\nSSLCertificateKeyFile {name}.key\n</VirtualHost>\n"
        )
    };
    two_hosts().serve(&(host("one") + &host("two")))
}

fn ask(server: &Server, name: &str, more: &[&str]) -> String {
    let (resolve, trust) = (format!("{name}.example:@PORT@:127.0.0.1"), format!("@DIR@/{name}.crt"));
    let url = format!("https://{name}.example:@PORT@/a.txt");
    curl(server, &[&["--resolve", &resolve, "--cacert", &trust, &url], more].concat()).succeeded().out
}

#[test]
fn each_host_has_its_own_certificate() {
    let server = serve();
    assert_eq!(ask(&server, "one", &[]), "one\n");
    assert_eq!(ask(&server, "two", &[]), "two\n");
}

#[test]
fn who_names_no_host_or_an_unknown_one_gets_the_first() {
    let server = serve();
    for name in ["-noservername", "-servername nobody.example"] {
        let said = s_client(&server, &[name], super::GET);
        assert!(said.contains("one\n"), "{name}: {said}");
    }
}

#[test]
fn a_request_for_another_host_than_the_connections_is_misdirected() {
    let server = serve();
    let other = ask(&server, "one", &["-w", "%{http_code}", "-H", "Host: two.example"]);
    assert!(other.ends_with("421"), "{other}");
    let same = ask(&server, "two", &["-w", "%{http_code}", "-H", "Host: TWO.example:4711"]);
    assert!(same.ends_with("200"), "{same}");
}

#[test]
fn a_host_without_a_certificate_shares_the_first_of_its_address() {
    let server = two_hosts().serve(
        "<VirtualHost *:@PORT@>\nServerName one.example\nDocumentRoot one\nSSLEngine On\nSSLCertificateFile one.crt\n\
         SSLCertificateKeyFile one.key\n</VirtualHost>\n<VirtualHost *:@PORT@>\nServerName two.example\nDocumentRoot two\n</VirtualHost>",
    );
    assert_eq!(ask(&server, "two", &["-k"]), "two\n");
}

#[test]
fn an_ocsp_response_is_stapled_where_given() {
    let site = site();
    let run = |command: &str| {
        let filled = site.filled(command);
        let mut shell = std::process::Command::new("sh");
        crate::support::Finished::of(shell.args(["-c", &filled])).succeeded();
    };
    run(
        "cd @DIR@ && openssl req -batch -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=CA -days 30 && \
         openssl req -batch -newkey rsa:2048 -nodes -keyout ocsp.key -out ocsp.csr -subj /CN=localhost && \
         printf subjectAltName=DNS:localhost > names && \
         openssl x509 -req -extfile names -in ocsp.csr -CA ca.crt -CAkey ca.key -set_serial 7 -out ocsp.crt -days 30 && \
         printf 'V\\t391231235959Z\\t\\t07\\tunknown\\t/CN=localhost\\n' > index.txt && \
         openssl ocsp -issuer ca.crt -cert ocsp.crt -reqout ask.der -no_nonce && \
         openssl ocsp -index index.txt -rsigner ca.crt -rkey ca.key -CA ca.crt -reqin ask.der -respout staple.der -ndays 7",
    );
    let server = site.serve(
        "SSLEngine On\nSSLCertificateFile ocsp.crt\nSSLCertificateKeyFile ocsp.key\nSSLStaplingFile staple.der\nSSLUseStapling On",
    );
    let said = s_client(&server, &["-status"], super::GET);
    assert!(said.contains("OCSP Response Status: successful"), "{said}");
    assert!(said.contains("Cert Status: good"), "{said}");
}
