//! Renewals, while the server runs.

use rcgen::{CertificateParams, KeyPair};

use super::Managed;
use crate::support::{Load, Request, until};

/// Stores a certificate that has run for `before` days and runs for `after` more.
fn store(managed: &Managed, names: &[&str], before: i64, after: i64) -> String {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).expect("names");
    let now = chrono::Utc::now();
    let date = |days: i64| {
        use chrono::Datelike;
        let date = now + chrono::Duration::days(days);
        rcgen::date_time_ymd(date.year(), date.month() as u8, date.day() as u8)
    };
    (params.not_before, params.not_after) = (date(-before), date(after));
    let key = KeyPair::generate().expect("a key");
    let chain = params.self_signed(&key).expect("a certificate").pem();
    managed.site.write("md/domains/www.one.test/pubcert.secp256r1.pem", &chain);
    managed.site.write("md/domains/www.one.test/privkey.secp256r1.pem", &key.serialize_pem());
    chain
}

#[test]
fn a_certificate_is_renewed_in_its_window_while_requests_run() {
    let managed = Managed::new();
    let old = store(&managed, &["www.one.test"], 70, 20);
    managed.site.write("before.crt", &old);
    let mut running = managed.serve("");
    running.server.logged("the present one is good for 19 days");
    let trusts_old = |running: &super::Running| {
        running.curl("www.one.test", &["--cacert", &running.server.site.filled("@DIR@/before.crt")]).out == "hello\n"
    };
    assert!(trusts_old(&running), "it is used meanwhile");
    let load = Load::start(&running.server, 2, "/a.txt", |response| response.status == 200);
    load.until_answered(20);
    running.pebble.start();
    running.pebble.root(&running.server.site);
    until("each handshake gets the old certificate or the new one", || {
        let (new, old) = (running.is_trusted("www.one.test"), trusts_old(&running));
        assert!(new || old || running.is_trusted("www.one.test"));
        new
    });
    load.until_answered(20);
    assert_eq!(load.failures(), Vec::<String>::new());
    assert_eq!(running.server.status()["generation"], 1, "nothing was reloaded");
    assert_eq!(running.server.site.read("md/archive/www.one.test/pubcert.secp256r1.pem"), old);
}

#[test]
fn a_certificate_with_a_third_of_its_life_left_is_not_renewed() {
    let managed = Managed::started();
    let old = store(&managed, &["www.one.test"], 45, 45);
    let running = managed.serve("");
    assert_eq!(running.server.text("/a.txt"), "hello\n");
    let status = running.server.status()["certificates"][0].clone();
    let renews = status["expires_s"].as_u64().zip(status["renews_s"].as_u64()).map(|(end, renews)| end - renews);
    let days = renews.expect("both") / (24 * 60 * 60);
    assert!((29..=32).contains(&days), "{status}");
    let table = running.server.control(["status"]).succeeded().out;
    assert!(table.contains("certificate www.one.test  good for 4"), "{table}");
    assert_eq!(running.stored("www.one.test"), old);
    assert!(!running.server.log().contains("acme pid="));
}

#[test]
fn a_further_name_needs_a_new_certificate() {
    let managed = Managed::started();
    store(&managed, &["www.one.test"], 1, 89);
    let running = managed.serve("");
    assert!(!running.server.log().contains("acme pid="));
    let conf = running.server.site.read("site.conf");
    let conf = conf.replace("ServerName www.one.test", "ServerName www.one.test\nServerAlias one.test");
    running.server.site.write("site.conf", &conf);
    running.server.reload().succeeded();
    running.until_trusted("one.test");
    running.until_trusted("www.one.test");
}

#[test]
fn certificates_of_manual_domains_are_used_and_never_renewed() {
    let managed = Managed::started();
    let old = store(&managed, &["www.one.test"], 70, 20);
    managed.site.write("root.crt", &old);
    let running = managed.serve("MDRenewMode manual");
    running.until_trusted("www.one.test");
    assert_eq!(running.server.status()["certificates"], serde_json::Value::Null);
    assert!(!running.server.log().contains("acme pid="));
}

#[test]
fn a_stored_certificate_that_cannot_be_used_is_replaced() {
    let managed = Managed::started();
    store(&managed, &["www.one.test"], 1, 89);
    managed.site.write("md/domains/www.one.test/privkey.secp256r1.pem", "broken");
    let running = managed.serve("");
    running.server.logged("cannot be used, and a new certificate is requested");
    running.until_trusted("www.one.test");
}

/// The authority's certificates live so many seconds.
fn live(managed: Managed, seconds: u64) -> Managed {
    let conf = managed.site.read("pebble.json");
    let profile = format!(
        "\"profiles\": {{\"default\": {{\"description\": \"short\", \"validityPeriod\": {seconds}}}}}, \"httpPort\""
    );
    managed.site.write("pebble.json", &conf.replace("\"httpPort\"", &profile));
    let managed = Managed { pebble: managed.pebble.restarted(), ..managed };
    managed.pebble.root(&managed.site);
    managed
}

#[test]
fn a_window_that_is_longer_than_the_life_of_a_certificate_is_half_of_its_life() {
    const DAY: u64 = 24 * 60 * 60;
    let running = live(Managed::new(), 5 * DAY).serve("MDRenewWindow 30d");
    running.until_trusted("www.one.test");
    let status = running.server.status()["certificates"][0].clone();
    let renews = status["expires_s"].as_u64().zip(status["renews_s"].as_u64()).map(|(end, renews)| end - renews);
    assert!(renews.is_some_and(|window| (2 * DAY..3 * DAY).contains(&window)), "{status}");
    assert_eq!(status["failures"], 0);
    let log = running.server.log();
    assert_eq!(log.lines().filter(|line| line.contains("acme pid=")).count(), 1, "{log}");
}

#[test]
fn a_certificate_that_has_ended_already_is_a_failure_and_the_present_one_is_kept() {
    let managed = live(Managed::new(), 1);
    let old = store(&managed, &["www.one.test"], 70, 20);
    let running = managed.serve("");
    let line = running.server.logged("no new certificate: the authority sent a certificate that");
    assert!(line.contains("has expired") || line.contains("does not end later"), "{line}");
    assert!(line.contains("the next attempt is in 60.0 s") || line.contains("the next attempt is in 59."), "{line}");
    assert_eq!(running.stored("www.one.test"), old);
    assert_eq!(running.server.status()["certificates"][0]["failures"], 1);
}

#[test]
fn an_expired_certificate_stays_in_use_and_redirects_are_temporary() {
    let managed = Managed::new();
    store(&managed, &["www.one.test"], 90, -2);
    let plain = "MDRequireHttps permanent\n<VirtualHost *:@PORT@>\nServerName www.one.test\n</VirtualHost>";
    let running = managed.serve(plain);
    let line = running.server.logged("no new certificate");
    assert!(line.contains("the present one has expired and stays in use"), "{line}");
    let output = running.curl("www.one.test", &["-k", "-i"]);
    assert!(output.out.starts_with("HTTP/1.1 200"), "{output:?}");
    assert!(!output.out.to_lowercase().contains("strict-transport-security"), "{output:?}");
    let ask = |method: &str| running.server.send(Request::new(method, "/a.txt").header("Host", "www.one.test"));
    assert_eq!((ask("GET").status, ask("POST").status), (302, 307));
}

#[test]
fn only_requests_for_names_of_the_domain_are_redirected_and_well_known_paths_are_not() {
    let managed = Managed::new();
    store(&managed, &["www.one.test"], 1, 89);
    managed.site.write("htdocs/.well-known/acme-challenge/other", "another client\n");
    let plain = "MDRequireHttps permanent\n<VirtualHost *:@PORT@>\nServerName www.one.test\n\
                 ServerAlias *.one.test\nDocumentRoot htdocs\n</VirtualHost>";
    let running = managed.serve(plain);
    let ask = |host: &str, path: &str| running.server.send(Request::new("GET", path).header("Host", host));
    assert_eq!(ask("www.one.test", "/a.txt").status, 301);
    assert_eq!(ask("WWW.one.test", "/a.txt").status, 301);
    assert_eq!(ask("shop.one.test", "/a.txt").text(), "hello\n");
    assert_eq!(ask("www.one.test", "/.well-known/acme-challenge/other").text(), "another client\n");
    assert_eq!(ask("www.one.test", "/.well-known-not/a.txt").status, 301);
}

#[test]
fn explain_shows_the_redirect_of_require_https() {
    let managed = Managed::new();
    let plain = "MDRequireHttps temporary\n<VirtualHost *:@PORT@>\nServerName www.one.test\n</VirtualHost>";
    let site = &managed.site;
    site.configure(&site.filled(&managed.conf(plain)));
    let explain = |method: &str, path: &str| {
        let url = format!("http://www.one.test:{}{path}", site.port);
        site.cameleer(["explain", "-f", "site.conf", method, &url]).succeeded().out
    };
    let of = |method: &str, path: &str| explain(method, path).lines().any(|line| line.contains("to https, by MD"));
    assert!(explain("GET", "/a.txt").contains("302 to https, by MDRequireHttps"), "{}", explain("GET", "/a.txt"));
    assert!(explain("POST", "/a.txt").contains("307 to https, by MDRequireHttps"));
    assert!(!of("GET", "/.well-known/acme-challenge/x"));
}
