//! The first certificate of a domain.

use super::{Managed, host, mode};
use crate::support::{Request, eventually, until};

#[test]
fn a_certificate_is_got_by_http_01_and_used_without_a_reload() {
    let user = if nix::unistd::geteuid().is_root() { "User nobody\nGroup nogroup\n" } else { "" };
    let running = Managed::started().serve(&format!("{user}MDCAChallenges http-01"));
    running.until_trusted("www.one.test");
    let server = &running.server;
    server.logged("MDomain www.one.test: a new certificate for www.one.test is used");
    assert_eq!(server.status()["generation"], 1, "nothing was reloaded");
    let site = &server.site;
    assert_eq!(mode(site, "md/domains/www.one.test/privkey.secp256r1.pem"), 0o600);
    assert_eq!(mode(site, "md/domains/www.one.test/pubcert.secp256r1.pem"), 0o600);
    assert_eq!((mode(site, "md"), mode(site, "md/domains"), mode(site, "md/accounts")), (0o700, 0o700, 0o700));
    let accounts = std::fs::read_dir(site.path("md/accounts")).expect("a folder").flatten();
    let names: Vec<String> = accounts.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(names, [format!("127.0.0.1-{}-dir.json", running.pebble.port)]);
    assert_eq!(mode(site, &format!("md/accounts/{}", names[0])), 0o600);
    until("the process that got it has ended", || {
        !crate::support::children(server.pid()).iter().any(|pid| crate::support::name(*pid).contains("acme"))
    });
}

#[test]
fn a_certificate_is_got_by_tls_alpn_01_without_a_plain_listener() {
    let managed = Managed::started();
    let running = managed.serve("MDCAChallenges tls-alpn-01");
    running.until_trusted("www.one.test");
    running.server.logged("it was a certificate authority that has read the answer to its challenge");
}

#[test]
fn tls_alpn_01_is_tried_first_and_the_other_one_after_a_failure() {
    let managed = Managed::started();
    // The authority connects to the port of plain HTTP for both, so that tls-alpn-01 fails.
    let conf = managed.site.read("pebble.json");
    let (port, tls) = (managed.site.port, managed.tls);
    managed.site.write("pebble.json", &conf.replace(&format!("\"tlsPort\": {tls}"), &format!("\"tlsPort\": {port}")));
    let managed = Managed { pebble: managed.pebble.restarted(), ..managed };
    managed.pebble.root(&managed.site);
    let running = managed.serve("");
    running.server.logged("www.one.test could not be verified by tls-alpn-01");
    running.until_trusted("www.one.test");
}

#[test]
fn the_answer_to_http_01_precedes_redirects_rules_and_access() {
    let managed = Managed::started();
    let running = managed.serve(
        "MDCAChallenges http-01\nRedirect / https://elsewhere.test/\nRewriteEngine On\nRewriteRule ^ - [F]\n\
         <Location />\nRequire all denied\n</Location>\n<Directory />\nRequire all denied\n</Directory>",
    );
    running.server.logged("MDomain www.one.test: a new certificate");
    assert_eq!(running.server.get("/.well-known/acme-challenge/unknown").status, 403, "as any other path");
}

#[test]
fn before_there_is_a_certificate_tls_answers_503_and_other_hosts_are_served() {
    let managed = Managed::new();
    let running = managed.serve("");
    running.server.logged("MDomain www.one.test: no new certificate: https://127.0.0.1:");
    let output = running.curl("www.one.test", &["-k", "-i"]);
    assert!(
        output.out.starts_with("HTTP/1.1 503") && output.out.to_lowercase().contains("\nretry-after: 30"),
        "{output:?}"
    );
    assert_ne!(running.curl("www.one.test", &[]).code, 0, "nobody trusts it");
    assert_eq!(running.server.text("/a.txt"), "hello\n");
}

#[test]
fn two_domains_have_their_own_certificates_with_all_names_of_their_hosts() {
    let managed = Managed::started();
    let two = host("www.two.test").replace("SSLEngine", "ServerAlias two.test *.two.test\nSSLEngine");
    let running = managed.serve(&format!("MDomain www.two.test\n{two}"));
    for name in ["www.one.test", "www.two.test", "two.test"] {
        running.until_trusted(name);
    }
    assert_ne!(running.stored("www.one.test"), running.stored("www.two.test"));
    running
        .server
        .logged("ServerAlias *.two.test is not in the certificate of www.two.test: names with wildcards need dns-01");
    let certificates = running.server.status()["certificates"].clone();
    assert_eq!(certificates[1]["host"], "www.two.test");
    assert_eq!(certificates[1]["names"][1], "two.test");
    assert!(certificates[1]["expires_s"].as_u64() > certificates[1]["renews_s"].as_u64(), "{certificates}");
}

#[test]
fn a_restart_uses_the_stored_certificate_without_an_authority() {
    let running = Managed::started().serve("");
    running.until_trusted("www.one.test");
    let before = running.stored("www.one.test");
    let super::Running { mut server, pebble, tls } = running;
    drop(pebble);
    server.signal(nix::sys::signal::Signal::SIGTERM);
    assert_eq!(server.wait(), 0);
    server.restart();
    let resolve = format!("www.one.test:{tls}:127.0.0.1");
    let (root, url) = (server.site.filled("@DIR@/root.crt"), format!("https://www.one.test:{tls}/a.txt"));
    let arguments = ["-sS", "--noproxy", "*", "--resolve", &resolve, "--cacert", &root, &url];
    let output = crate::support::Finished::of(std::process::Command::new("curl").args(arguments)).succeeded();
    assert_eq!(output.out, "hello\n");
    assert_eq!(server.site.read("md/domains/www.one.test/pubcert.secp256r1.pem"), before);
    assert!(!server.log().contains("no new certificate"), "{}", server.log());
}

#[test]
fn keys_may_be_of_several_types() {
    let running = Managed::started().serve("MDPrivateKeys RSA secp384r1");
    running.until_trusted("www.one.test");
    let site = &running.server.site;
    for file in ["pubcert.pem", "privkey.pem", "pubcert.secp384r1.pem", "privkey.secp384r1.pem"] {
        assert!(site.has(&format!("md/domains/www.one.test/{file}")), "{file}");
    }
    let kind = |arguments: &str| {
        let connect = format!("-connect 127.0.0.1:{} -servername www.one.test {arguments}", running.tls);
        let command = format!("openssl s_client {connect} </dev/null 2>/dev/null | openssl x509 -noout -text");
        crate::support::Finished::of(std::process::Command::new("sh").args(["-c", &command])).out
    };
    assert!(kind("").contains("rsaEncryption"), "the first is RSA");
    assert!(kind("-sigalgs ecdsa_secp384r1_sha384").contains("secp384r1"));
}

#[test]
fn an_account_of_the_authority_can_be_used() {
    let mut managed = Managed::new();
    managed.pebble.require_binding(&managed.site);
    managed.pebble.start();
    managed.pebble.root(&managed.site);
    let hmac = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W";
    managed.site.write("account.json", &format!("{{\"kid\": \"kid-1\", \"hmac\": \"{hmac}\"}}"));
    let running = managed.serve("");
    running.server.logged("no new certificate: https://127.0.0.1:");
    let conf = running.server.site.read("site.conf");
    running.server.site.write("site.conf", &format!("{conf}\nMDExternalAccountBinding account.json\n"));
    running.server.reload().succeeded();
    running.until_trusted("www.one.test");
}

#[test]
fn plain_http_is_redirected_once_there_is_a_certificate() {
    let managed = Managed::started();
    let plain = "MDRequireHttps permanent\n<VirtualHost *:@PORT@>\nServerName www.one.test\n</VirtualHost>";
    let running = managed.serve(plain);
    running.until_trusted("www.one.test");
    let ask = |method: &str| {
        let request = Request::new(method, "/a.txt?x=1").header("Host", "www.one.test");
        running.server.send(request)
    };
    let response = eventually("it is redirected", || Some(ask("GET")).filter(|response| response.status == 301));
    assert_eq!(response.header("location").as_deref(), Some("https://www.one.test/a.txt?x=1"));
    assert_eq!(ask("POST").status, 308);
    let root = running.server.site.filled("@DIR@/root.crt");
    let output = running.curl("www.one.test", &["--cacert", &root, "-i"]);
    assert!(output.out.to_lowercase().contains("strict-transport-security: max-age=15768000"), "{output:?}");
}

#[test]
fn the_metrics_show_when_certificates_end() {
    let managed = Managed::started();
    let running = managed.serve("AdminListen @DIR@/admin.sock");
    running.until_trusted("www.one.test");
    let socket = running.server.site.filled("@DIR@/admin.sock");
    let metrics = || {
        let arguments = ["-sS", "--unix-socket", &socket, "http://localhost/metrics"];
        crate::support::Finished::of(std::process::Command::new("curl").args(arguments)).out
    };
    until("the metrics show it", || {
        metrics().contains("cameleer_managed_certificate_expiry_timestamp_seconds{host=\"www.one.test\"} ")
    });
    assert!(metrics().contains("cameleer_managed_certificate_failures{host=\"www.one.test\"} 0"));
}
