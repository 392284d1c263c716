//! The choice of the virtual host and of its certificate.

use super::{curl, openssl, s_client, site};
use crate::support::{Server, Site, until};

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
fn status_lists_the_end_of_each_certificate() {
    let server = serve();
    server.site.certify("one", &["one.example"], 2020);
    server.reload();
    let status = server.control(["status"]).succeeded().out;
    let lines: Vec<&str> = status.lines().filter(|line| line.starts_with("certificate ")).collect();
    assert!(
        matches!(lines[..], ["certificate one.example  expired", two] if two.starts_with("certificate two.example  good for ")),
        "{status}"
    );
}

#[test]
fn a_client_without_a_known_host_name_gets_the_first_host() {
    let server = serve();
    for name in ["-noservername", "-servername nobody.example"] {
        let output = s_client(&server, &[name], super::GET);
        assert!(output.contains("one\n"), "{name}: {output}");
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

/// A site with a certificate of an authority, and `staple.der`, an OCSP response that is valid for a week.
fn stapled() -> Site {
    let site = site();
    openssl(&site, "req -batch -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=CA -days 30");
    openssl(&site, "req -batch -newkey rsa:2048 -nodes -keyout ocsp.key -out ocsp.csr -subj /CN=localhost");
    site.write("names", "subjectAltName=DNS:localhost");
    openssl(
        &site,
        "x509 -req -extfile names -in ocsp.csr -CA ca.crt -CAkey ca.key -set_serial 7 -out ocsp.crt -days 30",
    );
    site.write("index.txt", "V\t391231235959Z\t\t07\tunknown\t/CN=localhost\n");
    openssl(&site, "ocsp -issuer ca.crt -cert ocsp.crt -reqout ask.der -no_nonce");
    answer(&site);
    site
}

fn answer(site: &Site) {
    let sign = "ocsp -index index.txt -rsigner ca.crt -rkey ca.key -CA ca.crt -reqin ask.der -ndays 7 -respout new.der";
    openssl(site, &format!("{sign} && mv new.der staple.der"));
}

/// Sets the third time in the OCSP response, nextUpdate, to the past. The server does not verify the signature.
fn expire(site: &Site) {
    let mut bytes = std::fs::read(site.path("staple.der")).expect("a response");
    let is_time = |at: &[u8]| at.starts_with(&[0x18, 0x0f]) && at[2..16].iter().all(u8::is_ascii_digit);
    let place = (0..bytes.len() - 17).filter(|n| is_time(&bytes[*n..])).nth(2).expect("three times");
    bytes[place + 2..place + 17].copy_from_slice(b"20010101000000Z");
    site.write_bytes("staple.der", &bytes);
}

const STAPLE: &str = "SSLEngine On\nSSLCertificateFile ocsp.crt\nSSLCertificateKeyFile ocsp.key\nSSLStaplingFile staple.der\nSSLUseStapling On";

#[test]
fn an_ocsp_response_is_stapled_where_given() {
    let server = stapled().serve(STAPLE);
    let output = s_client(&server, &["-status"], super::GET);
    assert!(output.contains("OCSP Response Status: successful"), "{output}");
    assert!(output.contains("Cert Status: good"), "{output}");
}

#[test]
fn an_ocsp_response_that_has_expired_is_not_sent_any_more() {
    let site = stapled();
    expire(&site);
    let warning = "site.conf:5: warning: SSLStaplingFile: @DIR@/staple.der has expired, and is not sent; get a new one";
    site.configure(STAPLE);
    let output = site.cameleer(["check", "-f", &site.filled("@DIR@/site.conf")]).succeeded();
    assert!(output.err.contains(&site.filled(warning)), "{output:?}");
    let server = site.serve(STAPLE);
    let ask = || s_client(&server, &["-status"], super::GET);
    let response = ask();
    assert!(response.contains("OCSP response: no response sent") && response.contains("hello"), "{response}");
    answer(&server.site);
    until("the new one is sent", || ask().contains("Cert Status: good"));
    server.site.write("staple.der", "nonsense");
    until("nonsense is not", || ask().contains("OCSP response: no response sent"));
    server.logged("staple.der contains no valid OCSP response, and is not sent");
}
