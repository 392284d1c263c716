//! `SSLCARevocationCheck`, and lists that change while the server runs.

use super::{ASKING, KINDS, TLS, fails, is, people, site};
use crate::support::{Authority, Server, Site, until};
use crate::tls::{GET, s_client};

const CHECKED: &str = "SSLCARevocationFile crl.pem\nSSLCARevocationCheck";
const PLACE: &str = "<Location /private>\nSSLVerifyClient require\n</Location>";

fn serve(site: Site, conf: &str) -> Server {
    site.serve(&format!("{TLS}{ASKING}{conf}"))
}

#[test]
fn a_revoked_certificate_is_refused_by_hosts_and_places() {
    for check in ["leaf", "chain"] {
        let (site, authority) = people();
        let site = site.file("crl.pem", &authority.list([2].into_iter(), 4000));
        let server = serve(site, &format!("SSLVerifyClient require\n{CHECKED} {check}"));
        for kind in KINDS {
            is(&server, Some("ana"), "/a.txt", kind, "200");
            fails(&server, Some("eva"), kind);
        }
    }
    let (site, authority) = people();
    let server =
        serve(site.file("crl.pem", &authority.list([2].into_iter(), 4000)), &format!("{CHECKED} leaf\n{PLACE}"));
    for kind in KINDS {
        is(&server, Some("ana"), "/private/a.txt", kind, "200");
        is(&server, Some("eva"), "/private/a.txt", kind, "403");
        is(&server, Some("eva"), "/a.txt", kind, "200");
    }
    server.logged("the client's certificate is refused: certificate revoked");
}

#[test]
fn a_certificate_without_a_current_list_is_refused_unless_that_is_allowed() {
    let other = Authority::new("Other");
    for (check, list, status) in [
        ("leaf", other.list([].into_iter(), 4000), "403"),
        ("leaf no_crl_for_cert_ok", other.list([].into_iter(), 4000), "200"),
    ] {
        let server = serve(people().0.file("crl.pem", &list), &format!("{CHECKED} {check}\n{PLACE}"));
        is(&server, Some("ana"), "/private/a.txt", &[], status);
    }
    let (site, authority) = people();
    let server =
        serve(site.file("crl.pem", &authority.list([].into_iter(), 2001)), &format!("{CHECKED} leaf\n{PLACE}"));
    is(&server, Some("ana"), "/private/a.txt", &[], "403");
    server.logged("crl.pem contains a list that expired on 2001-01-01");
    server.logged("the client's certificate is refused: CRL has expired");
}

#[test]
fn leaf_and_chain_differ_in_intermediate_authorities() {
    let root = Authority::new("Root");
    let below = root.below("Middle");
    let ana = below.sign("Ana", |_| {});
    for (check, status) in [("leaf", "200"), ("chain", "403")] {
        let lists = root.list([1].into_iter(), 4000) + &below.list([].into_iter(), 4000);
        let site = site().file("ca.crt", &root.pem()).file("htdocs/private/a.txt", "secret\n").client("ana", &ana);
        let server = serve(site.file("crl.pem", &lists), &format!("SSLVerifyDepth 2\n{CHECKED} {check}\n{PLACE}"));
        is(&server, Some("ana"), "/private/a.txt", &[], status);
    }
}

#[test]
fn a_list_that_is_not_checked_is_a_warning() {
    let (site, authority) = people();
    let list = authority.list([1].into_iter(), 4000);
    let server = serve(site.file("crl.pem", &list), "SSLVerifyClient require\nSSLCARevocationFile crl.pem");
    is(&server, Some("ana"), "/a.txt", &[], "200");
    server.logged("site.conf:9: SSLCARevocationFile: is not used without SSLCARevocationCheck");
}

#[test]
fn lists_and_authorities_are_read_again_when_they_change_and_at_a_reload() {
    let (site, authority) = people();
    let server =
        serve(site.file("crl.pem", &authority.list([].into_iter(), 4000)), &format!("{CHECKED} leaf\n{PLACE}"));
    is(&server, Some("ana"), "/private/a.txt", &[], "200");
    is(&server, Some("zoe"), "/private/a.txt", &[], "403");
    let status = |client: &str| super::ask(&server, Some(client), "/private/a.txt", &[]).out;
    server.site.write("crl.pem", &authority.list([1].into_iter(), 4000));
    until("the revoked certificate is refused", || status("ana").ends_with("403"));
    is(&server, Some("eva"), "/private/a.txt", &[], "200");
    let other = Authority::new("Later");
    let bo = other.sign("Bo", |_| {});
    server.site.write("bo.crt", &bo.chain);
    server.site.write("bo.key", &bo.key.serialize_pem());
    server.site.write("ca.crt", &other.pem());
    server.site.write("crl.pem", &other.list([].into_iter(), 4000));
    server.reload().succeeded();
    until("the new authority counts", || status("bo").ends_with("200"));
    is(&server, Some("eva"), "/private/a.txt", &[], "403");
}

#[test]
fn a_resumed_session_keeps_its_certificate_and_is_checked_again() {
    const PRIVATE: &str = "GET /private/a.txt HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n";
    for (version, tickets) in [("-tls1_3", "On"), ("-tls1_2", "On"), ("-tls1_3", "Off"), ("-tls1_2", "Off")] {
        let (site, authority) = people();
        let site = site.file("crl.pem", &authority.list([].into_iter(), 4000));
        let server = serve(site, &format!("SSLSessionTickets {tickets}\n{CHECKED} leaf\n{PLACE}"));
        let ana = "-cert @DIR@/ana.crt -key @DIR@/ana.key -servername localhost";
        let first = s_client(&server, &[version, ana, "-sess_out @DIR@/session"], PRIVATE);
        assert!(first.contains("200 OK"), "{version} {tickets}: {first}");
        // Without a certificate of its own: the session has it.
        let resume = [version, "-servername localhost -sess_in @DIR@/session"];
        let again = s_client(&server, &resume, PRIVATE);
        assert!(again.contains("Reused, TLSv1") && again.contains("200 OK"), "{version} {tickets}: {again}");
        server.site.write("crl.pem", &authority.list([1].into_iter(), 4000));
        until("the list is read", || s_client(&server, &resume, PRIVATE).contains("403 Forbidden"));
        assert!(s_client(&server, &resume, GET).contains("hello"));
    }
}

#[test]
fn the_newest_list_of_an_authority_counts() {
    for newest_first in [true, false] {
        let (site, authority) = people();
        let mut lists = [
            authority.list_made(2010, [2].into_iter(), 4000),
            authority.list_made(2005, [1].into_iter(), 4000),
            authority.list([].into_iter(), 4000),
        ];
        if !newest_first {
            lists.reverse();
        }
        let server = serve(site.file("crl.pem", &lists.concat()), &format!("{CHECKED} leaf\n{PLACE}"));
        is(&server, Some("eva"), "/private/a.txt", &[], "403");
        is(&server, Some("ana"), "/private/a.txt", &[], "200");
    }
}

#[test]
fn an_authority_as_a_client_needs_a_current_list_too() {
    for (untils, status) in [(&[2001][..], "403"), (&[2001, 4000], "200"), (&[4000], "200")] {
        let (site, authority) = people();
        let lists: String = untils.iter().map(|until| authority.list([7].into_iter(), *until)).collect();
        let site = site.file("crl.pem", &lists).file("root.crt", &authority.pem()).file("root.key", &authority.key());
        let server = serve(site, &format!("{CHECKED} leaf no_crl_for_cert_ok\n{PLACE}"));
        is(&server, Some("root"), "/private/a.txt", &[], status);
        if status == "403" {
            server.logged("the client's certificate is refused: CRL has expired");
        }
    }
}
