//! Places that a request reaches inside a worker: access rules hold there as for a direct request.

use super::{basic, site};
use crate::support::{Request, Server};

/// Users `ana` and `ben`; the SHA-1 hash is that of `x`.
const USERS: &str = "ana:{SHA}EfatjsUqKYSrqv18O1FlA3hcIHI=\nben:{SHA}EfatjsUqKYSrqv18O1FlA3hcIHI=\n";
const CODE: &str = r#"package Way; use strict; use Apache::Constants qw(:common DONE);
sub trans { my $r = shift; return DECLINED unless $r->uri eq '/trans'; $r->uri(scalar $r->args); DECLINED }
sub file { my $r = shift; return DECLINED unless $r->uri eq '/file'; $r->filename('@DIR@/htdocs' . $r->args); OK }
sub redirect { my $r = shift; $r->internal_redirect(scalar $r->args); OK }
sub uri { my $r = shift; part($r, $r->lookup_uri(scalar $r->args)) }
sub path { my $r = shift; part($r, $r->lookup_file('@DIR@/htdocs' . $r->args)) }
sub part { my ($r, $s) = @_; $r->send_http_header('text/plain'); my $said = $s->run; $r->print($said || $s->status); OK }
sub error { my $r = shift; $r->custom_response(404, scalar $r->args); NOT_FOUND }
sub shrug { DECLINED }
sub yes { OK }
sub who { my $r = shift; $r->user eq 'ana' ? OK : FORBIDDEN }
sub never { die "asked\n" }
1;
"#;
/// Methods that lead to another place and produce the whole response; [`PARTS`] produce a part of it.
const WHOLE: [&str; 3] = ["/trans", "/file", "/redirect"];
const PARTS: [&str; 2] = ["/uri", "/path"];

fn serve() -> Server {
    let mut site = site().file("users", USERS).file("lib/Way.pm", CODE);
    for (name, text) in [
        ("shut/a.txt", "secret"),
        ("login/a.txt", "secret"),
        ("free/a.txt", "welcome"),
        (".htaccess", "# secret"),
        ("own/.htaccess", "Deny from all\n<Files open.txt>\nAllow from all\n</Files>\n"),
        ("own/a.txt", "secret"),
        ("own/open.txt", "welcome"),
        ("free/secret.txt", "secret"),
    ] {
        site = site.file(&format!("htdocs/{name}"), text);
    }
    let handlers = ["redirect", "uri", "path", "error"]
        .map(|way| format!("<Location /{way}>\nSetHandler perl-script\nPerlHandler Way::{way}\n</Location>\n"));
    let site_conf = "PerlLib lib\nPerlModule My Way\nPerlTransHandler Way::trans Way::file\n\
        <Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n\
        <Directory @DIR@/htdocs/shut>\nDeny from all\n</Directory>\n\
        <Directory @DIR@/htdocs/login>\nAuthType Basic\nAuthName x\nAuthUserFile users\nRequire user ana\n</Directory>\n\
        SetEnvIf User-Agent evil evil\n\
        <Directory @DIR@/htdocs/free>\nOrder allow,deny\nAllow from all\nDeny from env=evil\n</Directory>\n\
        <Files secret.txt>\nDeny from all\n</Files>\n";
    site.serve(&format!("{site_conf}{}", handlers.concat()))
}

#[test]
fn an_address_that_is_shut_out_stays_out() {
    let server = serve();
    for place in
        ["/shut/a.txt", "/own/a.txt", "/.htaccess", "/own/.htaccess", "/free/secret.txt", "/free/../shut/a.txt"]
    {
        for way in WHOLE {
            server.get(&format!("{way}?{place}")).is(403);
        }
        for way in PARTS {
            assert_eq!(server.text(&format!("{way}?{place}")), "403", "{way} {place}");
        }
    }
    server.logged("client denied by server configuration");
}

#[test]
fn an_allowed_client_gets_the_page() {
    let server = serve();
    for place in ["/free/a.txt", "/own/open.txt"] {
        for way in WHOLE {
            assert_eq!(server.text(&format!("{way}?{place}")), "welcome", "{way} {place}");
        }
        for way in PARTS {
            assert_eq!(server.text(&format!("{way}?{place}")), "welcome200", "{way} {place}");
        }
    }
}

#[test]
fn a_place_with_require_is_answered_401() {
    let server = serve();
    let ask = |way: &str, user: Option<(&str, &str)>| {
        let request = Request::get(&format!("{way}?/login/a.txt"));
        server.send(match user {
            Some((name, password)) => request.header("Authorization", &basic(name, password)),
            None => request,
        })
    };
    let strangers = [None, Some(("ana", "y")), Some(("ben", "x")), Some(("eve", "x"))];
    for way in WHOLE {
        for user in strangers {
            let response = ask(way, user).is(401);
            assert_eq!(response.header("www-authenticate").as_deref(), Some("Basic realm=\"x\""), "{way}");
        }
        assert_eq!(ask(way, Some(("ana", "x"))).is(200).text(), "secret");
    }
    for way in PARTS {
        for user in strangers {
            assert_eq!(ask(way, user).is(200).text(), "401", "{way}");
        }
        assert_eq!(ask(way, Some(("ana", "x"))).text(), "secret200");
    }
}

#[test]
fn facts_of_the_front_about_a_client_hold_after_every_redirect() {
    let server = serve();
    let ask = |way: &str| server.send(Request::get(&format!("{way}?/free/a.txt")).header("User-Agent", "evil"));
    for way in WHOLE {
        ask(way).is(403);
    }
    for way in PARTS {
        assert_eq!(ask(way).is(200).text(), "403", "{way}");
    }
}

#[test]
fn a_page_for_an_error_that_nobody_may_see_is_a_plain_one() {
    let server = serve();
    for place in ["/shut/a.txt", "/own/a.txt", "/.htaccess", "/login/a.txt"] {
        let page = server.get(&format!("/error?{place}")).is(404);
        assert!(!page.text().contains("secret"), "{place}");
    }
    assert_eq!(server.get("/error?/free/a.txt").is(404).text(), "welcome");
}

#[test]
fn more_of_a_path_behind_a_file_hides_no_rules() {
    let server = serve();
    for place in ["/.htaccess/more", "/free/secret.txt/more"] {
        for way in PARTS {
            assert_eq!(server.text(&format!("{way}?{place}")), "403", "{way} {place}");
        }
    }
}

/// A Perl place with a login and further rules. `expected` has the statuses for no user, ana, ana with a wrong
/// password, and ben.
fn login(rules: &str, expected: [u16; 4]) {
    let server = site().file("users", USERS).file("lib/Way.pm", CODE).serve(&format!(
        "PerlLib lib\nPerlModule My Way\n<Location /perl>\nSetHandler perl-script\nPerlHandler My\n\
         AuthType Basic\nAuthName x\n{rules}\n</Location>"
    ));
    let of = |name, password| super::get_as("/perl", name, password);
    let requests = [Request::get("/perl"), of("ana", "x"), of("ana", "y"), of("ben", "x")];
    let status = requests.map(|request| server.send(request).status);
    assert_eq!(status, expected, "{rules}");
}

#[test]
fn perl_and_password_files_share_the_work() {
    let file = "AuthUserFile users\nRequire user ana";
    login(&format!("{file}\nPerlAuthenHandler Way::shrug"), [401, 200, 401, 401]);
    login(&format!("{file}\nPerlAuthenHandler Way::shrug\nPerlAuthzHandler Way::shrug"), [401, 200, 401, 401]);
    login("AuthUserFile users\nRequire valid-user\nPerlAuthzHandler Way::who", [401, 200, 401, 403]);
    login("Require valid-user\nPerlAuthenHandler Way::yes", [200; 4]);
    login("Require valid-user\nPerlAuthenHandler Way::shrug", [401; 4]);
    login("Require valid-user\nPerlAuthzHandler Way::yes", [401, 500, 500, 500]);
}

#[test]
fn an_address_may_be_enough() {
    let rules = "Satisfy Any\nAuthUserFile users\nRequire user ana\nOrder deny,allow\nDeny from all";
    login(&format!("{rules}\nAllow from 127.0.0.1\nPerlAuthenHandler Way::never"), [200; 4]);
    login(&format!("{rules}\nPerlAuthenHandler Way::shrug"), [401, 200, 401, 401]);
    login("Satisfy Any\nDeny from all\nPerlAuthenHandler Way::yes", [403; 4]);
}
