//! `<Limit>` and `<LimitExcept>`.

use super::{basic, conf, site};
use crate::support::Request;

#[test]
fn rules_hold_for_the_methods_of_their_section() {
    let limit = "<Limit POST PUT>\nOrder Deny,Allow\nDeny from 127.0.0.2\n</Limit>";
    let except = "<LimitExcept GET>\nOrder Deny,Allow\nDeny from all\n</LimitExcept>";
    // (rules, method, client, whether access is granted)
    let cases = [
        (limit, "GET", "127.0.0.2", true),
        (limit, "HEAD", "127.0.0.2", true),
        (limit, "POST", "127.0.0.2", false),
        (limit, "PUT", "127.0.0.2", false),
        (limit, "DELETE", "127.0.0.2", true),
        (limit, "POST", "127.0.0.1", true),
        (except, "GET", "127.0.0.2", true),
        (except, "HEAD", "127.0.0.2", true),
        (except, "POST", "127.0.0.2", false),
        (except, "BREW", "127.0.0.2", false),
    ];
    for rules in [limit, except] {
        let server = site().serve(&conf(rules));
        for (_, method, client, welcome) in cases.iter().filter(|case| case.0 == rules) {
            let status = server.send_as(client, Request::new(method, "/perl/x")).status;
            assert_eq!(status, if *welcome { 200 } else { 403 }, "{rules}\n{method} {client}");
        }
    }
}

#[test]
fn require_in_limit_protects_the_listed_methods() {
    let rules = "AuthType Basic\nAuthName x\nAuthUserFile users\n<Limit POST>\nRequire valid-user\n</Limit>";
    let server = site().file("users", "ana:{SHA}EfatjsUqKYSrqv18O1FlA3hcIHI=").serve(&conf(rules));
    server.get("/perl/x").is(200);
    server.post("/perl/x", "a=b").is(401);
    // Credentials of a GET are not checked here, so the user in them is not authenticated.
    let shown = |method| Request::new(method, "/perl/x").header("Authorization", &basic("ana", "wrong"));
    assert!(server.send(shown("GET")).is(200).text().starts_with("user=- "));
    server.send(shown("POST")).is(401);
    let right = Request::post("/perl/x", "a=b").header("Authorization", &basic("ana", "x"));
    assert!(server.send(right).is(200).text().starts_with("user=ana "));
}
