//! The requests that a measurement sends, and their hosts.

use std::collections::BTreeSet;

use super::{FEW, report, site_of, tune};
use crate::support::Site;

/// An application that records the method, host and URI of each request.
const NOTES: &str = "sub { my $env = shift; open my $f, '>>', '@DIR@/asked' or die;
    syswrite $f, \"$env->{REQUEST_METHOD} $env->{HTTP_HOST}$env->{REQUEST_URI}\\n\"; close $f; [200, [], ['ok']] }";

fn requests_of(site: &Site) -> BTreeSet<String> {
    site.read("asked").lines().map(str::to_owned).collect()
}

fn set<const N: usize>(lines: [&str; N]) -> BTreeSet<String> {
    lines.map(str::to_owned).into()
}

fn line(request: &str) -> String {
    format!("::1 - - [10/Oct/2000:13:55:36 -0700] \"{request} HTTP/1.1\" 200 5\n")
}

#[test]
fn paths_are_requested_with_the_sites_server_name() {
    let site = site_of(NOTES);
    let found = report(&site, &format!("/a /b?c=d {FEW}"));
    assert_eq!(requests_of(&site), set(["GET localhost/a", "GET localhost/b?c=d"]));
    assert_eq!(found["urls"], 2);
}

#[test]
fn a_log_is_replayed_without_unsafe_requests() {
    let log = [line("GET /a"), line("POST /form"), line("HEAD /b"), "nonsense\n".to_owned()].concat();
    let site = site_of(NOTES).file("access.log", &log);
    let found = report(&site, &format!("--log access.log {FEW}"));
    assert_eq!(requests_of(&site), set(["GET localhost/a", "HEAD localhost/b"]));
    assert!(found["notes"].to_string().contains("2 other lines are omitted"), "{found}");
}

#[test]
fn a_log_is_replayed_completely_with_the_option_unsafe() {
    let log = [line("GET /a"), line("POST /form"), line("DELETE /it")].concat();
    let site = site_of(NOTES).file("access.log", &log);
    report(&site, &format!("--log access.log --unsafe {FEW}"));
    assert_eq!(requests_of(&site), set(["GET localhost/a", "POST localhost/form", "DELETE localhost/it"]));
}

#[test]
fn a_url_selects_its_virtual_host_by_port_and_name() {
    let host = |port: &str, name: &str, file: &str| {
        format!(
            "<VirtualHost *:{port}>\nServerName {name}\n<Location />\nPsgiApp {file}\n</Location>\n</VirtualHost>\n"
        )
    };
    let site = Site::new().file("notes.psgi", NOTES).file("dies.psgi", "sub { die 'not this one' }");
    let hosts = [host("1", "a.test", "dies.psgi"), host("2", "a.test", "dies.psgi"), host("2", "b.test", "notes.psgi")];
    site.configure(&format!("Listen 127.0.0.1:1\nListen 127.0.0.1:2\n{}", hosts.concat()));
    report(&site, &format!("http://b.test:2/x {FEW}"));
    assert_eq!(requests_of(&site), set(["GET b.test:2/x"]));
}

#[test]
fn the_running_site_is_not_touched() {
    let conf = "CustomLog access.log common\n<Location />\nPsgiApp app.psgi\n</Location>\n";
    let server = Site::new().file("app.psgi", "sub { [200, [], [$$]] }").serve(conf);
    let (pid_file, errors) = (server.site.read("cameleer.pid"), server.site.read("error.log"));
    let before = server.status();
    report(&server.site, FEW);
    let after = server.status();
    assert_eq!((server.site.read("cameleer.pid"), server.site.read("error.log")), (pid_file, errors));
    for same in ["pid", "generation", "listen", "max_clients"] {
        assert_eq!(before[same], after[same], "{same}");
    }
    assert_eq!((server.site.read("access.log").as_str(), &after["front"]["worker_requests"]), ("", &0.into()));
}

#[test]
fn a_dry_run_starts_nothing() {
    let site = site_of("die 'it was loaded'");
    let output = tune(&site, "--dry-run /a /b").succeeded().out;
    assert!(output.contains("2 different requests") && output.contains("MaxClients"), "{output}");
}
