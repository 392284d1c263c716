//! Order, Allow, Deny and `Require ip`, with clients of several addresses.

use super::{PLACES, conf, site};
use crate::support::Request;

/// (rules, client, status)
const CASES: &[(&str, &str, u16)] = &[
    ("", "127.0.0.9", 200),
    ("Deny from all", "127.0.0.1", 403),
    ("Order Deny,Allow\nDeny from all\nAllow from 127.0.0.2", "127.0.0.2", 200),
    ("Order Deny,Allow\nDeny from all\nAllow from 127.0.0.2", "127.0.0.3", 403),
    ("Order Deny,Allow\nDeny from 127.0.0.2\nAllow from 127.0.0.2", "127.0.0.2", 200),
    ("Order Allow,Deny\nDeny from 127.0.0.2\nAllow from 127.0.0.2", "127.0.0.2", 403),
    ("Order Allow,Deny\nAllow from 127.0", "127.0.3.4", 200),
    ("Order Allow,Deny\nAllow from 127.0", "127.1.3.4", 403),
    ("Order Allow,Deny\nAllow from 127.0.4.0/255.255.255.0", "127.0.4.9", 200),
    ("Order Allow,Deny\nAllow from 127.0.4.0/255.255.255.0", "127.0.5.9", 403),
    ("Order Allow,Deny\nAllow from 127.0.4.0/23", "127.0.5.9", 200),
    ("Order Allow,Deny\nAllow from 127.0.4.0/23", "127.0.6.9", 403),
    ("Order Mutual-failure\nAllow from 127.0.0\nDeny from 127.0.0.7", "127.0.0.6", 200),
    ("Order Mutual-failure\nAllow from 127.0.0\nDeny from 127.0.0.7", "127.0.0.7", 403),
    ("Order Mutual-failure\nAllow from 127.0.0\nDeny from 127.0.0.7", "127.0.1.7", 403),
    ("order allow,deny\nallow from 10.0.0.0/8 127.0.0.2 192.0.2.1", "127.0.0.2", 200),
    ("Require all denied", "127.0.0.1", 403),
    ("Require all granted", "127.0.0.1", 200),
    ("Require ip 127.0.0.2 127.0.4.0/23", "127.0.5.1", 200),
    ("Require ip 127.0.0.2 127.0.4.0/23", "127.0.6.1", 403),
    ("Require local", "127.0.0.200", 200),
    ("<RequireAll>\nRequire all granted\nRequire not ip 127.0.0.8\n</RequireAll>", "127.0.0.7", 200),
    ("<RequireAll>\nRequire all granted\nRequire not ip 127.0.0.8\n</RequireAll>", "127.0.0.8", 403),
];

#[test]
fn addresses_have_access_as_in_the_table() {
    let rules = |(at, (rules, ..)): (usize, &(&str, &str, u16))| {
        conf(rules).replace("/place", &format!("/place{at}")).replace("/perl>", &format!("/perl{at}>"))
    };
    let site = (0..CASES.len()).fold(site(), |site, at| site.file(&format!("htdocs/place{at}/index.html"), "inside"));
    let server = site.serve(&CASES.iter().enumerate().map(rules).collect::<String>());
    let mut wrong = Vec::new();
    for (at, (rules, client, status)) in CASES.iter().enumerate() {
        for target in [format!("/place{at}/"), format!("/perl{at}/x")] {
            let statuses = server.send_as(client, Request::get(&target)).status;
            if statuses != *status {
                wrong.push(format!("{rules}\n    {client} {target} is {statuses}, not {status}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_inner_order_allow_or_deny_replaces_all_three() {
    let server = site().serve(
        "<Directory @DIR@/htdocs/place>\nOrder Allow,Deny\nDeny from 127.0.0.2\nAllow from all\n</Directory>\n\
         <Directory @DIR@/htdocs/place/deep>\nAllow from 127.0.0.3\n</Directory>",
    );
    let status = |client, target| server.send_as(client, Request::get(target)).status;
    assert_eq!(status("127.0.0.2", "/place/"), 403);
    // The inner section's Order is Deny,Allow again, without a Deny.
    assert_eq!(status("127.0.0.2", "/place/deep/a.txt"), 200);
    assert_eq!(status("127.0.0.3", "/place/"), 200);
}

#[test]
fn a_refused_client_learns_no_reason_and_the_log_has_it() {
    let server = site().serve(&conf("Deny from all"));
    for place in PLACES.iter().chain(&["/place", "/place/none", "/place/index.html/more"]) {
        let refused = server.get(place).is(403);
        assert!(!refused.text().contains("inside"), "{place}");
    }
    assert!(server.logged("client denied by server configuration").contains("[client 127.0.0.1:"));
}

#[test]
fn a_variable_of_the_request_may_open_the_door() {
    let rules = "SetEnvIf User-Agent ^Trusted TRUSTED\nOrder Deny,Allow\nDeny from all\nAllow from env=TRUSTED";
    let server = site().serve(&conf(rules));
    for place in PLACES {
        let status = |agent| server.send(Request::get(place).header("User-Agent", agent)).status;
        assert_eq!((status("Trusted/1"), status("Other/1")), (200, 403), "{place}");
    }
    let server = site().serve(&conf(
        "SetEnvIf Request_Method POST WRITES\n<RequireAll>\nRequire all granted\nRequire not env WRITES\n</RequireAll>",
    ));
    server.get("/perl/x").is(200);
    server.post("/perl/x", "a=b").is(403);
}
