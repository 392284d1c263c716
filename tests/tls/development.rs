//! `cameleer run --tls`

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::{curl, openssl};
use crate::support::{Finished, Server, Site};

const CERTIFICATE: &str = "config/cameleer/development/certificate.pem";
const KEY: &str = "config/cameleer/development/key.pem";

fn site() -> Site {
    Site::new().file("app.psgi", "sub { [200, [], [\"$_[0]{'psgi.url_scheme'} $_[0]{SERVER_PROTOCOL}\"]] }")
}

fn command(site: &Site, more: &[&str]) -> Command {
    let mut command = site.command(["run", "--tls", "--workers", "1"]);
    command.args(more.iter().map(|argument| site.filled(argument))).arg("app.psgi");
    command.env("XDG_CONFIG_HOME", site.path("config"));
    command
}

/// Creates the certificate without serving; returns the messages about it.
#[track_caller]
fn make(site: &Site, more: &[&str]) -> String {
    Finished::of(command(site, more).arg("--show-config")).succeeded().err
}

#[test]
fn run_tls_serves_with_a_certificate_of_its_own_making() {
    let site = site();
    let command = command(&site, &["--listen", "127.0.0.1:@PORT@"]);
    let server = Server::start(site, command);
    let log = server.log();
    let path = server.site.path(CERTIFICATE);
    assert!(log.contains(&format!("because there was no certificate: {}, for localhost, ", path.display())), "{log}");
    assert!(log.contains(&format!("curl --cacert {}", path.display())), "{log}");
    let trust = ["--cacert", path.to_str().expect("a name"), "--http2"];
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a name").trim().to_owned();
    for name in ["localhost", "127.0.0.1", &machine] {
        let (resolve, url) = (format!("{name}:@PORT@:127.0.0.1"), format!("https://{name}:@PORT@/"));
        let output = curl(&server, &[&trust[..], &["--resolve", &resolve, &url]].concat()).succeeded().out;
        assert_eq!(output, "https HTTP/2.0", "{name}");
    }
    let key = std::fs::metadata(server.site.path(KEY)).expect("a key");
    assert_eq!(key.permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_usable_certificate_is_not_replaced() {
    let site = site();
    make(&site, &[]);
    let first = site.read(CERTIFICATE) + &site.read(KEY);
    assert_eq!(make(&site, &[]), "");
    assert_eq!(site.read(CERTIFICATE) + &site.read(KEY), first);
    let text = openssl(&site, &format!("x509 -in {CERTIFICATE} -noout -checkend {}", 365 * 24 * 3600));
    assert!(text.contains("will not expire"), "{text}");
}

#[test]
fn a_certificate_for_other_names_is_replaced() {
    let site = site();
    make(&site, &[]);
    let first = site.read(CERTIFICATE);
    let output = make(&site, &["-l", "Dev.Example.org:8443", "-l", "127.0.0.2:8443", "-l", "[::2]:8443"]);
    assert!(output.contains("is for other names"), "{output}");
    assert_ne!(site.read(CERTIFICATE), first);
    let text = openssl(&site, &format!("x509 -in {CERTIFICATE} -noout -ext subjectAltName"));
    for name in [
        "DNS:localhost",
        "IP Address:127.0.0.1,",
        "IP Address:0:0:0:0:0:0:0:1",
        "DNS:dev.example.org",
        "IP Address:127.0.0.2",
        "IP Address:0:0:0:0:0:0:0:2",
    ] {
        assert!(text.contains(name), "{name}: {text}");
    }
    assert_eq!(make(&site, &["-l", "dev.example.org:8443"]), "", "it serves those, too");
}

#[test]
fn a_certificate_that_expires_soon_or_cannot_be_read_is_replaced() {
    let site = site();
    make(&site, &[]);
    let names = openssl(&site, &format!("x509 -in {CERTIFICATE} -noout -ext subjectAltName"));
    let names = names.lines().last().expect("names").replace("IP Address", "IP").replace(' ', "");
    let request = |days: u32| {
        let options =
            format!("req -x509 -key {KEY} -out {CERTIFICATE} -subj /CN=x -addext subjectAltName={names} -days {days}");
        openssl(&site, &options);
    };
    request(31);
    assert_eq!(make(&site, &[]), "");
    request(29);
    let output = make(&site, &[]);
    assert!(output.contains("is about to expire"), "{output}");
    assert_eq!(make(&site, &[]), "");
    for broken in [CERTIFICATE, KEY] {
        site.write(broken, "nonsense");
        let output = make(&site, &[]);
        assert!(output.contains("could not be read"), "{output}");
    }
    openssl(&site, &format!("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out {KEY}"));
    assert!(make(&site, &[]).contains("could not be read"), "a key of another certificate");
    assert_eq!(make(&site, &[]), "");
}
