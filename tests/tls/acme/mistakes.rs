//! What `cameleer check` says about managed domains.

use crate::support::Site;

const DOMAIN: &str = "MDCertificateAgreement accepted\nMDomain www.one.test\n\
    <VirtualHost *:8443>\nServerName www.one.test\nSSLEngine On\n</VirtualHost>\n";

#[track_caller]
fn check(conf: &str) -> String {
    let site = Site::new();
    site.configure(conf);
    let output = site.cameleer(["check", "-f", &site.filled("@DIR@/site.conf")]);
    output.out + &output.err
}

#[test]
fn a_domain_that_no_challenge_reaches_is_an_error() {
    let output = check(&format!("\nListen 127.0.0.1:8443\n{DOMAIN}"));
    assert!(output.contains("site.conf:4: MDomain www.one.test: no certificate can be got: http-01 needs"), "{output}");
    assert!(output.contains("MDPortMap"), "{output}");
    let output = check(&format!("Listen 127.0.0.1:8443\nMDPortMap http:- https:8443\n{DOMAIN}"));
    assert!(output.contains("Syntax OK"), "{output}");
    let output = check(&format!("Listen 127.0.0.1:8443\nMDPortMap https:8443\nMDCAChallenges http-01\n{DOMAIN}"));
    assert!(output.contains("http-01 needs a plain listener for port 80") && output.contains("Syntax OK"), "{output}");
}

#[test]
fn terms_that_nobody_has_accepted_are_an_error() {
    let conf = DOMAIN.replace("MDCertificateAgreement accepted\n", "");
    let output = check(&format!("Listen 127.0.0.1:8443\nMDPortMap https:8443\n{conf}"));
    assert!(output.contains("write `MDCertificateAgreement accepted` if you accept the terms"), "{output}");
}

#[test]
fn wrong_names_and_words_are_named() {
    let cases = [
        ("MDomain *.one.test", "authorities sign names with * only for dns-01, which is not supported"),
        ("MDomain 192.0.2.1", "expected a name, got an address"),
        ("MDomain ../../etc", "expected a name of DNS, such as www.example.org"),
        ("MDomain one.test\nMDomain two.test one.test", "site.conf:3: MDomain: one.test is in another managed domain"),
        ("MDCAChallenges dns-01", "dns-01 is not supported; add http-01 or tls-alpn-01"),
        ("MDChallengeDns01 /bin/true", "only http-01 and tls-alpn-01 are supported"),
        ("MDCertificateAuthority http://ca.test/", "a URL with https://"),
        ("MDRenewWindow 150%", "expected a part like 33% or a time like 21d or 12h"),
        ("MDPrivateKeys rsa 512", "expected 2048 to 8192 bits"),
        ("MDRequireHttps yes", "expected off, temporary or permanent"),
        ("<MDomainSet one.test>\nMDStoreDir md\n</MDomainSet>", "is not allowed in <MDomainSet>"),
        ("<MDomainSet one.test>\nMDRenewMode never\n</MDomainSet>", "expected auto, always or manual"),
    ];
    for (conf, expected) in cases {
        let output = check(conf);
        assert!(output.contains(expected), "{conf}: {output}");
    }
}

#[test]
fn settings_of_a_set_precede_those_outside_and_a_host_has_one_domain() {
    let hosts = "Listen 127.0.0.1:8443\nMDPortMap https:8443\n\
        <VirtualHost *:8443>\nServerName www.one.test\nServerAlias www.two.test\nSSLEngine On\n</VirtualHost>\n";
    let sets = "<MDomainSet www.one.test>\nMDCertificateAgreement accepted\n</MDomainSet>\n";
    let output = check(&format!("{hosts}{sets}"));
    assert!(output.contains("Syntax OK"), "{output}");
    let output = check(&format!("{hosts}{sets}MDomain www.two.test\n"));
    assert!(output.contains("has names of this domain and of www.one.test"), "{output}");
}
