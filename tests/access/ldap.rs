//! Users and groups of a directory: AuthBasicProvider ldap, Require ldap-…, against slapd.

use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::thread::{scope, spawn};

use super::get_as;
use crate::support::{Directory, Request, Server, Site, until};

/// ann is in the group staff, which is in the group all; ben is in none. The third name has characters of filters.
const ENTRIES: &str = "dn: uid=ann,ou=people,dc=example,dc=org\nobjectClass: inetOrgPerson\nuid: ann\ncn: Ann Lee\nsn: Lee\n\
    mail: ann@example.org\nmail: lee@example.org\nemployeeType: staff\nuserPassword: secret\n\n\
    dn: uid=ben,ou=people,dc=example,dc=org\nobjectClass: inetOrgPerson\nuid: ben\ncn: Ben Ray\nsn: Ray\nuserPassword: word\n\n\
    dn: cn=odd,ou=people,dc=example,dc=org\nobjectClass: inetOrgPerson\nuid: par(en)*\\\ncn: odd\nsn: odd\nuserPassword: star\n\n\
    dn: cn=staff,ou=groups,dc=example,dc=org\nobjectClass: groupOfNames\ncn: staff\n\
    member: uid=ann,ou=people,dc=example,dc=org\n\n\
    dn: cn=all,ou=groups,dc=example,dc=org\nobjectClass: groupOfNames\ncn: all\n\
    member: cn=staff,ou=groups,dc=example,dc=org\n\n\
    dn: cn=unix,ou=groups,dc=example,dc=org\nobjectClass: posixGroup\ncn: unix\ngidNumber: 7\nmemberUid: ann\n\n";

const MODULE: &str = "package My;\nuse strict;\nuse Apache::Constants qw(:common);\n\
    sub handler { my $r = shift; $r->send_http_header('text/plain');\n\
    $r->print(join ' ', map { $_ // '-' } @ENV{qw(REMOTE_USER AUTHENTICATE_CN AUTHENTICATE_MAIL AUTHENTICATE_SN)}); OK }\n\
    sub pass { DECLINED }\n1;\n";

/// The directives of a place whose directory listens on `port`.
fn place(name: &str, port: u16, rules: &str) -> String {
    format!(
        "<Location /{name}>\nAuthType Basic\nAuthName x\nAuthBasicProvider ldap\n\
         AuthLDAPURL \"ldap://127.0.0.1:{port}/ou=people,dc=example,dc=org?uid,cn,mail?sub?(objectClass=inetOrgPerson)\"\n\
         AuthLDAPBindDN cn=reader,dc=example,dc=org\nAuthLDAPBindPassword readerpw\n{rules}\n</Location>\n"
    )
}

fn site() -> Site {
    let places =
        ["user", "only", "dn", "group", "deep", "unix", "attribute", "filter", "search", "not", "open", "file"];
    let site = places.iter().fold(Site::new(), |site, name| site.file(&format!("htdocs/{name}/a.txt"), "inside"));
    // SHA-1 of "secret".
    site.file("lib/My.pm", MODULE).file("users", "eve:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n")
}

fn status(server: &Server, place: &str, user: &str, password: &str) -> u16 {
    server.send(get_as(&format!("/{place}/a.txt"), user, password)).status
}

#[test]
fn users_of_a_directory_have_access_by_their_entries() {
    let site = site();
    let directory = Directory::start(&site, ENTRIES);
    let place = |name: &str, rules: &str| place(name, directory.port, rules);
    let group = |name: &str| format!("ldap-group cn={name},ou=groups,dc=example,dc=org");
    let conf = [
        "PerlLib lib\nPerlModule My\nLDAPCacheTTL 0\nLDAPOpCacheTTL 0\n".to_owned(),
        place("user", "Require valid-user"),
        place("only", "Require ldap-user nobody ann"),
        place("dn", "Require ldap-dn \"UID=ann, OU=people, DC=example, DC=org\""),
        place("group", &format!("Require {}", group("staff"))),
        place("deep", &format!("AuthLDAPMaxSubGroupDepth 1\nRequire {}", group("all"))),
        place("flat", &format!("Require {}", group("all"))),
        place(
            "unix",
            &format!("AuthLDAPGroupAttribute memberUid\nAuthLDAPGroupAttributeIsDN off\nRequire {}", group("unix")),
        ),
        place("attribute", "Require ldap-attribute employeeType=none \"cn=Ann Lee\""),
        place("filter", "Require ldap-filter \"(&(employeeType=%{req:X-Type})(cn=*))\""),
        place("search", "Require ldap-search (&(uid=%{req:X-User})(employeeType=staff))"),
        place("not", &format!("<RequireAll>\nRequire valid-user\nRequire not {}\n</RequireAll>", group("staff"))),
        place("perl", "SetHandler perl-script\nPerlHandler My\nRequire valid-user"),
        place(
            "renamed",
            "SetHandler perl-script\nPerlHandler My\nAuthLDAPRemoteUserAttribute mail\nRequire valid-user",
        ),
        place(
            "worker",
            &format!("SetHandler perl-script\nPerlHandler My\nPerlAuthzHandler My::pass\nRequire {}", group("staff")),
        ),
        place("both", "AuthBasicProvider ldap file\nAuthUserFile users\nRequire valid-user"),
    ];
    let server = site.serve(&conf.concat());
    let both = |place: &str| [status(&server, place, "ann", "secret"), status(&server, place, "ben", "word")];

    assert_eq!(both("user"), [200, 200]);
    // A directory takes a bind without a password as anonymous and successful.
    for (user, password) in
        [("ann", ""), ("ann", "wrong"), ("", "secret"), ("", ""), ("nobody", "secret"), ("*", "secret")]
    {
        assert_eq!(status(&server, "user", user, password), 401, "{user}:{password}");
    }
    for user in ["ann)(uid=*", "a*", "ann)(|(uid=ann", "*)(uid=ann", "ann\0", "ANN)"] {
        assert_eq!(status(&server, "user", user, "secret"), 401, "{user}");
    }
    assert_eq!(status(&server, "user", "par(en)*\\", "star"), 200);
    assert_eq!(server.get("/user/a.txt").status, 401);
    for name in ["only", "dn", "group", "deep", "unix", "attribute"] {
        assert_eq!(both(name), [200, 401], "{name}");
    }
    assert_eq!((both("flat"), both("not")), ([401, 401], [401, 200]));

    let typed = |kind: &str| server.send(get_as("/filter/a.txt", "ann", "secret").header("X-Type", kind)).status;
    assert_eq!(["staff", "*", "staff)(cn=*", "none"].map(typed), [200, 401, 401, 401]);
    let found = |user: &str| server.send(Request::get("/search/a.txt").header("X-User", user)).status;
    assert_eq!(["ann", "ben", "*", "x)(|(uid=ann"].map(found), [200, 403, 403, 403]);

    let body_of = |target: &str| server.send(get_as(target, "ann", "secret")).is(200).text();
    assert_eq!(body_of("/perl/x"), "ann Ann Lee ann@example.org; lee@example.org -");
    assert_eq!(body_of("/renamed/x"), "ann@example.org; lee@example.org Ann Lee ann@example.org; lee@example.org -");
    assert_eq!(body_of("/worker/x"), "ann Ann Lee ann@example.org; lee@example.org -");
    server.send(get_as("/worker/x", "ben", "word")).is(401);
    server.send(get_as("/worker/x", "ann", "")).is(401);

    assert_eq!(server.send(get_as("/both/x", "eve", "secret")).status, 404);
    assert_eq!(server.send(get_as("/both/x", "ann", "wrong")).status, 401);
}

#[test]
fn the_directory_is_asked_with_the_rights_of_the_user() {
    let open = "dn: ou=open,dc=example,dc=org\nobjectClass: organizationalUnit\nou: open\n\n\
        dn: uid=eve,ou=open,dc=example,dc=org\nobjectClass: inetOrgPerson\nuid: eve\ncn: Eve\nsn: Oak\nuserPassword: apple\n\n\
        dn: cn=crew,ou=open,dc=example,dc=org\nobjectClass: groupOfNames\ncn: crew\nmember: uid=eve,ou=open,dc=example,dc=org\n\n";
    let site = site();
    let directory = Directory::start(&site, &format!("{ENTRIES}{open}"));
    let place = |name: &str, rules: &str| {
        format!(
            "<Location /{name}>\nAuthType Basic\nAuthName x\nAuthBasicProvider ldap\n\
             AuthLDAPURL ldap://127.0.0.1:{}/ou=open,dc=example,dc=org?uid\n{rules}\n</Location>\n",
            directory.port
        )
    };
    let named = "AuthLDAPInitialBindAsUser on\n\
        AuthLDAPInitialBindPattern (.+) uid=$1,ou=open,dc=example,dc=org\n";
    let (group, filter) = ("Require ldap-group cn=crew,ou=open,dc=example,dc=org", "Require ldap-filter (sn=Oak)");
    let conf = [
        "LDAPCacheTTL 0\nLDAPOpCacheTTL 0\n".to_owned(),
        place("open", "Require valid-user"),
        place("user", &format!("{named}Require valid-user")),
        place("dn", "AuthLDAPInitialBindAsUser on\nRequire valid-user"),
        place("group", &format!("{named}{group}")),
        place("deep", &format!("{named}AuthLDAPCompareAsUser on\n{group}")),
        place("filter", &format!("{named}{filter}")),
        place("search", &format!("{named}AuthLDAPSearchAsUser on\n{filter}")),
        place("not", &format!("{named}AuthLDAPSearchAsUser on\nRequire ldap-filter (sn=Ash)")),
        place(
            "file",
            &format!(
                "{named}AuthLDAPSearchAsUser on\nAuthLDAPCompareAsUser on\n<RequireAll>\n{group}\n{filter}\n</RequireAll>"
            ),
        ),
    ];
    let server = site.serve(&conf.concat());
    for (place, expected) in [
        ("user", 200),
        // Without a pattern, the name that the client sent is no name of an entry.
        ("dn", 401),
        // As the server, which has no name here, nobody may look.
        ("group", 500),
        ("deep", 200),
        ("filter", 500),
        ("search", 200),
        ("not", 401),
        ("file", 200),
    ] {
        assert_eq!(status(&server, place, "eve", "apple"), expected, "{place}");
        assert_eq!(status(&server, place, "eve", "wrong"), 401, "{place}");
        assert_eq!(status(&server, place, "eve", ""), 401, "{place}");
    }
    assert_eq!(status(&server, "open", "eve", "apple"), 500);
    for user in ["ann", "eve,ou=open", "*", "eve)(uid=*"] {
        assert_eq!(status(&server, "user", user, "apple"), 401, "{user}");
    }
}

#[test]
fn an_unreachable_directory_refuses_all_until_it_answers_again() {
    let site = site();
    let mut directory = Directory::start(&site, ENTRIES);
    let conf = format!("LDAPCacheTTL 0\n{}", place("user", directory.port, "Require valid-user"));
    let server = site.serve(&conf);
    assert_eq!(status(&server, "user", "ann", "secret"), 200);
    directory.stop();
    assert_eq!(status(&server, "user", "ann", "secret"), 500);
    assert_eq!(server.get("/open/a.txt").status, 200);
    let line = server.logged(&format!("directory 127.0.0.1:{}: Connection refused", directory.port));
    assert!(!line.contains("readerpw"));
    directory.restart();
    until("the directory is asked again", || status(&server, "user", "ann", "secret") == 200);
}

#[test]
fn a_right_password_is_known_for_a_time_without_the_directory() {
    let site = site();
    let mut directory = Directory::start(&site, ENTRIES);
    let server = site.serve(&format!("FrontThreads 1\n{}", place("group", directory.port, "Require ldap-user ann")));
    assert_eq!(status(&server, "group", "ann", "secret"), 200);
    directory.stop();
    assert_eq!(status(&server, "group", "ann", "secret"), 200);
    assert_eq!(status(&server, "group", "ann", "wrong"), 500);
}

#[test]
fn a_reload_forgets_what_a_directory_has_answered() {
    let site = site();
    let mut directory = Directory::start(&site, ENTRIES);
    let server = site.serve(&place("group", directory.port, "Require ldap-user ann"));
    assert_eq!(status(&server, "group", "ann", "secret"), 200);
    directory.stop();
    server.reload().succeeded();
    until("the answer is forgotten", || status(&server, "group", "ann", "secret") == 500);
    directory.restart();
    until("the directory is asked again", || status(&server, "group", "ann", "secret") == 200);
}

#[test]
fn a_directory_that_hangs_holds_up_its_own_place_alone() {
    let site = site();
    let directory = Directory::start(&site, ENTRIES);
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("an address").port();
    let conf = [
        "FrontThreads 1\nLDAPTimeout 3600\n".to_owned(),
        place("only", port, "Require valid-user"),
        place("user", directory.port, "Require valid-user"),
        "<Location /file>\nAuthType Basic\nAuthName x\nAuthUserFile users\nRequire valid-user\n</Location>\n"
            .to_owned(),
    ];
    let server = site.serve(&conf.concat());
    let (accepted, connections) = channel::<TcpStream>();
    spawn(move || silent.incoming().flatten().try_for_each(|connection| accepted.send(connection)));
    scope(|threads| {
        let waiting: Vec<_> = (0..12).map(|_| threads.spawn(|| status(&server, "only", "ann", "secret"))).collect();
        let held: Vec<_> = (0..4).map(|_| connections.recv().expect("a connection")).collect();
        assert_eq!(status(&server, "user", "ann", "secret"), 200);
        assert_eq!(status(&server, "file", "eve", "secret"), 200);
        assert_eq!(server.get("/open/a.txt").status, 200);
        // The directory ends all connections; those after the first fail at once or are asked and ended, too.
        drop(held);
        spawn(move || connections.into_iter().for_each(drop));
        for one in waiting {
            assert_eq!(one.join().expect("an answer"), 500);
        }
    });
}

#[test]
fn a_directory_is_trusted_by_its_certificate() {
    let conf = |directory: &Directory| {
        let port = directory.port;
        let url = |scheme: &str, host: &str, port: u16, word: &str| {
            format!("AuthLDAPURL \"{scheme}://{host}:{port}/dc=example,dc=org\" {word}\nRequire valid-user")
        };
        place("user", port, &url("ldaps", "localhost", directory.secure_port, ""))
            + &place("only", port, &url("ldap", "localhost", port, "STARTTLS"))
            + &place("file", port, &url("ldaps", "127.0.0.1", directory.secure_port, ""))
    };
    let answers = |trust: &str| {
        let site = site().certificate("ldap", &["localhost"]);
        let directory = Directory::start(&site, ENTRIES);
        let server = site.serve(&format!("{trust}\n{}", conf(&directory)));
        ["user", "only", "file"].map(|place| status(&server, place, "ann", "secret"))
    };
    assert_eq!(answers("LDAPTrustedGlobalCert CA_BASE64 @DIR@/ldap.crt"), [200, 200, 500], "another name");
    assert_eq!(answers(""), [500; 3], "an unknown authority");
    assert_eq!(answers("LDAPVerifyServerCert Off"), [200; 3]);
}

#[test]
fn a_directory_that_asks_for_a_certificate_gets_it() {
    let url = |port: u16| format!("AuthLDAPURL \"ldaps://localhost:{port}/dc=example,dc=org\"\nRequire valid-user");
    let own = "LDAPTrustedClientCert CERT_BASE64 @DIR@/own.crt\nLDAPTrustedClientCert KEY_BASE64 @DIR@/own.key\n";
    let answers = |everywhere: &str, trust: &str| {
        let site = site().certificate("ldap", &["localhost"]).certificate("own", &["client.example"]);
        let directory = Directory::start(&site, ENTRIES);
        let places = place("user", directory.port, &url(directory.secure_port))
            + &place("only", directory.port, &format!("{trust}{}", url(directory.secure_port)));
        let server = site.serve(&format!("LDAPTrustedGlobalCert CA_BASE64 @DIR@/ldap.crt\n{everywhere}{places}"));
        ["user", "only"].map(|place| status(&server, place, "ann", "secret"))
    };
    assert_eq!(answers("", own), [500, 200], "without a certificate, and with one");
    assert_eq!(answers(&own.replace("Client", "Global"), ""), [200; 2]);
    assert_eq!(answers("", &own.replace("own.key", "ldap.key")), [500; 2], "the key of another certificate");
    let (certificate, key) = own.split_once('\n').expect("two lines");
    assert_eq!(answers(&format!("{certificate}\n").replace("Client", "Global"), key), [500, 200], "a key alone");
    assert_eq!(answers("", key), [500; 2], "a key without a certificate");
}

#[test]
fn a_requirement_of_the_directory_sets_variables_with_a_prefix_of_their_own() {
    let show = "package Show;\nuse strict;\nuse Apache::Constants qw(:common);\n\
        sub handler { my $r = shift; $r->send_http_header('text/plain');\n\
        $r->print(join ' ', map { $_ // '-' } @ENV{qw(AUTHENTICATE_CN AUTHORIZE_CN X_CN)}); OK }\n\
        sub pass { DECLINED }\n1;\n";
    let site = site().file("lib/Show.pm", show);
    let directory = Directory::start(&site, ENTRIES);
    let place = |name: &str, rules: &str| {
        place(name, directory.port, &format!("SetHandler perl-script\nPerlHandler Show\n{rules}"))
    };
    let server = site.serve(&format!(
        "PerlLib lib\nPerlModule Show\n{}{}{}{}",
        place("none", "Require valid-user"),
        place("usual", "Require ldap-attribute sn=Lee"),
        place("own", "AuthLDAPAuthorizePrefix X_\nRequire ldap-attribute sn=Lee"),
        place("worker", "PerlAuthzHandler Show::pass\nRequire ldap-attribute sn=Lee"),
    ));
    let seen = |name: &str| server.send(get_as(&format!("/{name}/x"), "ann", "secret")).is(200).text();
    assert_eq!(seen("none"), "Ann Lee - -");
    assert_eq!(seen("usual"), "Ann Lee Ann Lee -");
    assert_eq!(seen("own"), "Ann Lee - Ann Lee");
    assert_eq!(seen("worker"), "Ann Lee Ann Lee -");
}

#[test]
fn an_incomplete_or_wrong_directory_is_an_error() {
    let check = |rules: &str| {
        let site = Site::new();
        site.configure(&format!("<Location /a>\n{rules}\n</Location>\n"));
        let checked = site.cameleer(["check", "-f", "site.conf"]);
        assert_ne!(checked.code, 0, "{rules}");
        checked.err + &checked.out
    };
    assert!(check("AuthLDAPURL http://localhost/").contains("AuthLDAPURL: expected ldap://"));
    assert!(check("AuthLDAPURL ldap://localhost/o=a???(b").contains("expected a filter"));
    assert!(check("AuthLDAPURL ldap://localhost/ PLAIN").contains("expected NONE, SSL, TLS or STARTTLS"));
    assert!(check("Require ldap-filter (a").contains("expected a filter"));
    assert!(check("Require ldap-attribute staff").contains("expected attribute=value"));
    assert!(check("AuthLDAPBindPassword exec:/bin/pass").contains("no program is run"));
    assert!(check("AuthLDAPAuthorizePrefix \"X Y\"").contains("expected a name of letters and digits"));
    assert!(check("LDAPTrustedClientCert CA_BASE64 a").contains("expected CERT_BASE64 or KEY_BASE64"));
    assert!(check("LDAPTrustedClientCert CERT_BASE64 a word").contains("files with a password are not read"));
    assert!(check("AuthLDAPInitialBindPattern ( $1").contains("AuthLDAPInitialBindPattern: "));

    // A name without a password would be an anonymous bind.
    let site = site();
    let directory = Directory::start(&site, ENTRIES);
    let conf = place("user", directory.port, "AuthLDAPBindPassword \"\"\nRequire valid-user")
        + "<Location /only>\nAuthType Basic\nAuthName x\nAuthBasicProvider ldap\nRequire valid-user\n</Location>\n";
    let server = site.serve(&conf);
    assert_eq!(status(&server, "user", "ann", "secret"), 500);
    assert_eq!(status(&server, "only", "ann", "secret"), 500);
    server.logged("AuthLDAPBindDN needs AuthLDAPBindPassword");
    server.logged("a directory needs AuthLDAPURL here");
}
