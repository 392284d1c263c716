//! Places where FastCGI programs decide about access are closed where the programs cannot be asked, or do not finish.

use super::guards::{GOOD, serve, with};
use super::variable;
use crate::support::Site;

const GUARDED: &str = "<Directory \"@DIR@/htdocs/a\">\nFcgidAccessChecker @DIR@/guard.fcgi\n</Directory>\n";

#[test]
fn a_place_that_perl_code_leads_to_is_closed() {
    let server = serve(&format!(
        "PerlGeneration 2\nPerlModule My\n{GUARDED}<Location /pl>\nSetHandler perl-script\nPerlResponseHandler My\n</Location>"
    ));
    assert_eq!(server.text("/a/"), "a page");
    let redirected = server.get("/pl?redirect:/a/index.html").is(500).text();
    assert!(!redirected.contains("a page"), "{redirected}");
    let file = server.site.filled("@DIR@/htdocs/a/index.html");
    for target in ["/pl?uri:/a/index.html".to_owned(), format!("/pl?file:{file}")] {
        let part = server.text(&target);
        assert!(part.starts_with("status 500\n") && !part.contains("a page"), "{target}: {part}");
    }
    assert!(server.text("/pl?uri:/b/page.html").ends_with("b page"));
    server.logged("FastCGI programs decide about access here, and are not asked");
}

#[test]
fn a_place_that_a_trans_handler_leads_to_is_closed() {
    let server = serve(&format!("PerlGeneration 2\nPerlModule My\nPerlTransHandler My::trans\n{GUARDED}"));
    for path in ["/tr/index.html", "/tr/", "/a/index.html"] {
        let closed = server.get(path).is(500).text();
        assert!(!closed.contains("a page"), "{path}: {closed}");
    }
    assert_eq!(server.text("/b/page.html"), "b page");
}

#[test]
fn a_guarded_file_is_neither_listed_nor_named_as_similar() {
    let server = serve(
        "CheckSpelling On\n<Directory \"@DIR@/htdocs\">\nOptions +Indexes\n</Directory>\n\
         <Files hidden.txt>\nFcgidAuthorizer @DIR@/guard.fcgi\n</Files>\n\
         <Location /whole>\nFcgidAccessChecker @DIR@/guard.fcgi\n</Location>",
    );
    for name in ["list/hidden.txt", "list/open.txt", "whole/inner.txt"] {
        server.site.write(&format!("htdocs/{name}"), "text");
    }
    let list = server.text("/list/");
    assert!(list.contains("open.txt") && !list.contains("hidden.txt"), "{list}");
    assert!(!server.get("/list/hiden.txt").is(404).text().contains("hidden"));
    server.get("/list/opn.txt").is(301);
    assert!(server.text("/whole/").contains("inner.txt"), "the folder's own program has admitted the client");
}

#[test]
fn variables_of_a_look_ahead_hold_for_the_request_that_it_admitted() {
    let server = serve(
        "RewriteEngine On\nRewriteCond %{LA-U:REMOTE_USER} !someone\nRewriteRule . - [E=AHEAD:1]\n\
         <Location />\nFcgidAccessChecker @DIR@/guard.fcgi\n\
         <RequireAll>\nRequire all granted\nRequire env BY_ACCESS_CHECKER\n</RequireAll>\n</Location>",
    );
    let shown = server.text("/cgi/show.cgi");
    assert_eq!((variable(&shown, "AHEAD"), variable(&shown, "BY_ACCESS_CHECKER")), ("1", "AUTHORIZER,1,"));
}

#[test]
fn a_program_that_admits_one_query_is_asked_about_another() {
    let server = serve(
        "RewriteEngine On\nRewriteCond /cgi/show.cgi?fine -U\nRewriteRule . - [E=AHEAD:1]\n\
         <Location />\nFcgidAccessChecker @DIR@/guard.fcgi\n</Location>",
    );
    assert_eq!(variable(&server.text("/cgi/show.cgi"), "AHEAD"), "1");
    server.get("/cgi/show.cgi?noACCESS_CHECKER").is(401);
}

#[test]
fn a_program_that_does_not_finish_its_response_admits_nobody() {
    let server = serve("FcgidBusyTimeout 1\n<Location />\nFcgidAccessChecker @DIR@/guard.fcgi\n</Location>");
    for query in ["late", "linger"] {
        assert!(!server.get(&format!("/a/?{query}")).is(500).text().contains("a page"), "{query}");
    }
    server.logged("the program has not ended its response");
    assert_eq!(server.text("/a/"), "a page");
}

#[test]
fn an_authenticator_is_asked_for_basic_authentication_alone() {
    let place = |kind: &str| {
        format!(
            "<Location />\nAuthType {kind}\nAuthName mine\nFcgidAuthenticator @DIR@/guard.fcgi\nRequire valid-user\n"
        )
    };
    let server = serve(&format!("{}AuthUserFile @DIR@/users\n</Location>", place("Digest")));
    server.send(with("/a/", GOOD)).is(401);
    let site = Site::new().script("guard.fcgi", "#!/bin/sh\n");
    site.configure(&format!("{}</Location>", place("Basic")));
    let checked = site.cameleer(["check", "-f", "site.conf"]);
    assert!(!checked.err.contains("without an AuthUserFile"), "{checked:?}");
}
