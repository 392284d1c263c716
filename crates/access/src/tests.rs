//! Tables of rules, clients and expected results.

use std::path::Path;

use super::*;
use config::{Config, Facts as ConfigFacts, parse};

/// Parses the rules of a place with these lines.
fn rules(lines: &str) -> AccessRules {
    let source = parse::ParserSource::disk("/srv", &|_| None);
    let text = format!("Listen 80\n<Location />\n{lines}\n</Location>");
    let tree = parse::text(&text, "test", &source).expect("lines that can be read");
    let facts = ConfigFacts { server_root: Path::new("/srv").into(), ..Default::default() };
    let config = Config::build(&tree, &facts).unwrap_or_else(|errors| panic!("{errors:?}"));
    config.settings(&config.sections(0, "/", Path::new("/srv/htdocs/")), false).access
}

#[derive(Default)]
struct Asking<'a> {
    method: &'a str,
    client: &'a str,
    /// Empty: not looked up. `-`: no name.
    name: &'a str,
    user: Option<User>,
}

impl Asking<'_> {
    fn of(&self, rules: &AccessRules) -> AccessVerdict {
        let facts = RequestFacts {
            methods: Methods::of(self.method),
            client: self.client.parse().expect("an address"),
            local: "192.0.2.80".parse().expect("an address"),
            name: match self.name {
                "" => ClientName::NotAsked,
                "-" => ClientName::Nameless,
                name => ClientName::Is(name),
            },
            user: self.user.as_ref(),
            env: &|name| name == "SET",
            // The only variable of these tests is the client's address.
            expr: &|expr| expr.as_str().contains(self.client),
            groups: &|_| None,
            text: &|text| text.as_str().to_owned(),
            learned: &|_| Some(false),
            provider: &|_| RequirementAnswer::Denied,
        };
        judge(rules, &facts)
    }
}

fn user(name: &str, groups: &[&str]) -> Option<User> {
    let groups = groups.iter().map(|group| (*group).to_owned()).collect();
    Some(User { groups, ..User::of(name.to_owned()) })
}

use AccessVerdict::{Allowed, Forbidden, NeedsName, NeedsUser, WrongUser};

#[test]
fn order_allow_and_deny() {
    let table: &[(&str, &str, AccessVerdict)] = &[
        ("", "10.0.0.1", Allowed),
        // Order Deny,Allow is the default.
        ("Deny from all", "10.0.0.1", Forbidden),
        ("Deny from all\nAllow from 10", "10.0.0.1", Allowed),
        ("Deny from all\nAllow from 10", "11.0.0.1", Forbidden),
        ("Allow from 10", "11.0.0.1", Allowed),
        ("Deny from 10.0.0.1\nAllow from all", "10.0.0.1", Allowed),
        ("Order Deny,Allow\nDeny from 10.0.0.0/24 192.0.2.1", "192.0.2.1", Forbidden),
        ("Order Deny,Allow\nDeny from 10.0.0.0/24 192.0.2.1", "10.0.1.1", Allowed),
        ("Order Allow,Deny", "10.0.0.1", Forbidden),
        ("Order Allow,Deny\nAllow from all", "10.0.0.1", Allowed),
        ("Order Allow,Deny\nAllow from all\nDeny from 10.0.0.0/255.255.255.0", "10.0.0.1", Forbidden),
        ("Order Allow,Deny\nAllow from all\nDeny from 10.0.0.0/255.255.255.0", "10.0.1.1", Allowed),
        ("Order Mutual-failure\nAllow from 10\nDeny from 10.1", "10.0.0.1", Allowed),
        ("Order Mutual-failure\nAllow from 10\nDeny from 10.1", "10.1.0.1", Forbidden),
        ("Order Mutual-failure\nAllow from 10\nDeny from 10.1", "11.0.0.1", Forbidden),
        ("order allow,deny\nallow from 2001:db8::/32", "2001:db8::9", Allowed),
        ("order allow,deny\nallow from 2001:db8::/32", "10.0.0.1", Forbidden),
        // Variables.
        ("Order Allow,Deny\nAllow from env=SET", "10.0.0.1", Allowed),
        ("Order Allow,Deny\nAllow from env=OTHER", "10.0.0.1", Forbidden),
        ("Order Allow,Deny\nAllow from env=!OTHER", "10.0.0.1", Allowed),
        // A name is needed only if the result depends on it.
        ("Order Allow,Deny\nAllow from example.com", "10.0.0.1", NeedsName),
        ("Order Allow,Deny\nAllow from example.com 10.0.0.1", "10.0.0.1", Allowed),
        ("Order Allow,Deny\nAllow from example.com\nDeny from 10", "10.0.0.1", Forbidden),
        ("Deny from example.com\nAllow from 10", "10.0.0.1", Allowed),
        ("Deny from example.com", "10.0.0.1", NeedsName),
    ];
    for (lines, client, expected) in table {
        let asking = Asking { method: "GET", client, ..Default::default() };
        assert_eq!(asking.of(&rules(lines)), *expected, "{lines}\n{client}");
    }
}

#[test]
fn names_match_whole_labels() {
    let table: &[(&str, &str, AccessVerdict)] = &[
        ("example.com", "example.com", Allowed),
        ("example.com", "www.EXAMPLE.com.", Allowed),
        ("example.com", "badexample.com", Forbidden),
        (".example.com", "www.example.com", Allowed),
        (".example.com", "example.com", Forbidden),
        ("example.com", "example.com.evil.org", Forbidden),
        ("example.com", "-", Forbidden),
    ];
    for (domain, name, expected) in table {
        let asking = Asking { method: "GET", client: "10.0.0.1", name, ..Default::default() };
        assert_eq!(asking.of(&rules(&format!("Order Allow,Deny\nAllow from {domain}"))), *expected, "{domain} {name}");
        assert_eq!(asking.of(&rules(&format!("Require host {domain}"))), *expected, "{domain} {name}");
    }
}

#[test]
fn satisfy_combines_users_and_addresses() {
    let table: &[(&str, &str, Option<User>, AccessVerdict)] = &[
        ("Require valid-user", "10.0.0.1", None, NeedsUser),
        ("Require valid-user", "10.0.0.1", user("ana", &[]), Allowed),
        ("Require user ben \"eve adams\"", "10.0.0.1", user("ana", &[]), WrongUser),
        ("Require user ben \"eve adams\"", "10.0.0.1", user("eve adams", &[]), Allowed),
        ("Require group staff", "10.0.0.1", user("ana", &["staff"]), Allowed),
        ("Require group staff", "10.0.0.1", user("ana", &["others"]), WrongUser),
        ("Require user ben\nRequire group staff", "10.0.0.1", user("ana", &["staff"]), Allowed),
        ("Require valid-user\nDeny from 10", "10.0.0.1", None, Forbidden),
        ("Require valid-user\nDeny from 10", "10.0.0.1", user("ana", &[]), Forbidden),
        ("Require valid-user\nDeny from 10", "11.0.0.1", None, NeedsUser),
        ("Satisfy Any\nRequire valid-user\nDeny from all\nAllow from 10", "10.0.0.1", None, Allowed),
        ("Satisfy Any\nRequire valid-user\nDeny from all\nAllow from 10", "11.0.0.1", None, NeedsUser),
        ("Satisfy Any\nRequire valid-user\nDeny from all\nAllow from 10", "11.0.0.1", user("ana", &[]), Allowed),
        ("Satisfy Any\nRequire user ben\nDeny from all", "11.0.0.1", user("ana", &[]), WrongUser),
        ("Satisfy Any\nDeny from all", "11.0.0.1", None, Forbidden),
        ("Satisfy Any\nRequire valid-user", "11.0.0.1", None, Allowed),
        ("Satisfy Any\nRequire valid-user\nDeny from evil.example", "11.0.0.1", None, NeedsName),
        ("Satisfy All\nRequire valid-user\nDeny from evil.example", "11.0.0.1", None, NeedsName),
    ];
    for (lines, client, user, expected) in table {
        let asking = Asking { method: "GET", client, user: user.clone(), ..Default::default() };
        assert_eq!(asking.of(&rules(lines)), *expected, "{lines}\n{client} {user:?}");
    }
}

#[test]
fn requirements_of_httpd_2_4() {
    let both = "<RequireAll>\nRequire valid-user\nRequire not user eve\n</RequireAll>";
    let nested = "<RequireAll>\nRequire ip 10\n<RequireAny>\nRequire local\nRequire user ana\n</RequireAny>\n<RequireNone>\nRequire \
                  ip 10.9\n</RequireNone>\n</RequireAll>";
    let table: &[(&str, &str, Option<User>, AccessVerdict)] = &[
        ("Require all granted", "10.0.0.1", None, Allowed),
        ("Require all denied", "10.0.0.1", None, Forbidden),
        ("Require all granted\nDeny from all", "10.0.0.1", None, Forbidden),
        ("Require ip 10.0.0.0/8", "10.0.0.1", None, Allowed),
        ("Require ip 10.0.0.0/8", "11.0.0.1", None, Forbidden),
        ("Require ip 10.0.0.0/8\nRequire valid-user", "11.0.0.1", None, NeedsUser),
        ("Require ip 10.0.0.0/8\nRequire valid-user", "10.0.0.1", None, Allowed),
        ("Require local", "127.0.0.9", None, Allowed),
        ("Require local", "::1", None, Allowed),
        ("Require local", "192.0.2.80", None, Allowed),
        ("Require local", "10.0.0.1", None, Forbidden),
        ("Require env SET", "10.0.0.1", None, Allowed),
        ("Require env OTHER", "10.0.0.1", None, Forbidden),
        ("Require method POST", "10.0.0.1", None, Forbidden),
        ("Require host example.com", "10.0.0.1", None, NeedsName),
        ("Require host example.com\nRequire ip 10", "10.0.0.1", None, Allowed),
        (both, "10.0.0.1", None, NeedsUser),
        (both, "10.0.0.1", user("ana", &[]), Allowed),
        (both, "10.0.0.1", user("eve", &[]), WrongUser),
        (nested, "11.0.0.1", None, Forbidden),
        (nested, "10.0.0.1", None, NeedsUser),
        (nested, "10.0.0.1", user("ana", &[]), Allowed),
        (nested, "10.9.0.1", user("ana", &[]), WrongUser),
    ];
    for (lines, client, user, expected) in table {
        let asking = Asking { method: "GET", client, user: user.clone(), ..Default::default() };
        assert_eq!(asking.of(&rules(lines)), *expected, "{lines}\n{client} {user:?}");
    }
}

#[test]
fn rules_in_a_limit_apply_to_its_methods() {
    let limit = "<Limit POST PUT>\nRequire valid-user\nOrder Deny,Allow\nDeny from 10\n</Limit>";
    let except = "<LimitExcept GET>\nOrder Deny,Allow\nDeny from all\n</LimitExcept>";
    let table: &[(&str, &str, &str, AccessVerdict)] = &[
        (limit, "GET", "10.0.0.1", Allowed),
        (limit, "HEAD", "10.0.0.1", Allowed),
        (limit, "POST", "10.0.0.1", Forbidden),
        (limit, "PUT", "11.0.0.1", NeedsUser),
        (limit, "BREW", "11.0.0.1", Allowed),
        (except, "GET", "10.0.0.1", Allowed),
        (except, "HEAD", "10.0.0.1", Allowed),
        (except, "POST", "10.0.0.1", Forbidden),
        (except, "BREW", "10.0.0.1", Forbidden),
    ];
    for (lines, method, client, expected) in table {
        let asking = Asking { method, client, ..Default::default() };
        assert_eq!(asking.of(&rules(lines)), *expected, "{lines}\n{method} {client}");
    }
}

#[test]
fn the_method_determines_whether_a_user_or_a_name_is_needed() {
    let rules = rules("<Limit POST>\nRequire valid-user\nAllow from example.com\n</Limit>\nRequire ip 10");
    for (method, expected) in [("GET", false), ("POST", true)] {
        let method = Methods::of(method);
        let users = rules.requires.iter().any(|line| line.methods.has(method) && is_about_users(&line.what));
        assert_eq!((users, needs_host_name(&rules, method)), (expected, expected));
    }
}
