//! Access rules: mod/mod_authz_core.html, mod/mod_allowmethods.html, mod/mod_authn_file.html

use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::support::{Finished, Request, Server, Site, serve_echo_script as serve, until};

fn get_as(server: &Server, target: &str, user: &str) -> u16 {
    let value = format!("Basic {}", STANDARD.encode(format!("{user}:secret")));
    server.send(Request::get(target).header("Authorization", &value)).status
}

/// A site with the users ana, ben and carl, all with the password `secret`, and a place /in for ana alone. `conf` is
/// appended.
fn closed(conf: &str) -> Server {
    let server = serve(&format!(
        "<Location /in>\nAuthType Basic\nAuthName x\nAuthUserFile \"@DIR@/users\"\nAuthGroupFile \"@DIR@/groups\"\n\
         Require user ana\n</Location>\n{conf}"
    ));
    // SHA-1 of "secret".
    let hash = "{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=";
    server.site.write("users", &format!("ana:{hash}\nben:{hash}\ncarl:{hash}\n"));
    server.site.write("groups", "staff: ana ben\n");
    for name in ["in/a.txt", "in/both/a.txt", "in/either/a.txt", "in/anew/a.txt", "in/forbids/a.txt"] {
        server.site.write(&format!("htdocs/{name}"), "inside");
    }
    server
}

/// mod_authz_core.html#authmerging: "And: the authorization logic of each section must be satisfied", "Or", and the
/// default Off.
#[test]
fn an_inner_section_adds_to_what_is_required_or_replaces_it() {
    let server = closed(
        "<Location /in/both>\nAuthMerging And\nRequire group staff\n</Location>\n\
         <Location /in/either>\nAuthMerging Or\nRequire user carl\n</Location>\n\
         <Location /in/anew>\nRequire user ben\n</Location>",
    );
    let statuses = |place: &str| ["ana", "ben", "carl"].map(|user| get_as(&server, &format!("/in/{place}a.txt"), user));
    assert_eq!(statuses(""), [200, 401, 401]);
    assert_eq!(statuses("both/"), [200, 401, 401]);
    assert_eq!(statuses("either/"), [200, 401, 200]);
    assert_eq!(statuses("anew/"), [401, 200, 401]);
}

/// With AuthMerging And, an address that one section requires does not replace the user that the other requires.
#[test]
fn requirements_of_both_sections_must_be_met_together() {
    let server = closed(
        "<Location /in/both>\nAuthMerging And\n<RequireAny>\nRequire ip 192.0.2.1\nRequire user ben\n</RequireAny>\n</Location>\n\
         <Location /in/either>\nAuthMerging And\nRequire ip 127.0.0.1\n</Location>",
    );
    assert_eq!(["ana", "ben"].map(|user| get_as(&server, "/in/both/a.txt", user)), [401, 401]);
    assert_eq!(["ana", "ben"].map(|user| get_as(&server, "/in/either/a.txt", user)), [200, 401]);
}

/// mod_authz_core.html#authzsendforbiddenonfailure: "403 FORBIDDEN instead of 401 if authentication succeeds but
/// authorization fails".
#[test]
fn authz_send_forbidden_on_failure_answers_403_to_users_without_access() {
    let server = closed("<Location /in/forbids>\nAuthzSendForbiddenOnFailure On\n</Location>");
    assert_eq!(get_as(&server, "/in/forbids/a.txt", "ben"), 403);
    assert_eq!(get_as(&server, "/in/forbids/a.txt", "ana"), 200);
    server.get("/in/forbids/a.txt").is(401);
    assert_eq!(get_as(&server, "/in/a.txt", "ben"), 401);
}

/// mod_allowmethods.html#allowmethods: "GET and HEAD are treated as equivalent"; `reset`; others get 405.
#[test]
fn only_allowed_methods_are_answered() {
    let server = serve(
        "<Location /cgi-bin>\nAllowMethods GET\n</Location>\n\
         <Location /cgi-bin/tell.cgi/open>\nAllowMethods reset\n</Location>",
    );
    server.get("/cgi-bin/tell.cgi").is(200);
    server.send(Request::new("HEAD", "/cgi-bin/tell.cgi")).is(200);
    let refused = server.post("/cgi-bin/tell.cgi", "a=b").is(405);
    assert_eq!(refused.header("allow").as_deref(), Some("GET"));
    server.post("/cgi-bin/tell.cgi/open", "a=b").is(200);
    server.logged("AllowMethods");
}

/// AllowMethods also applies to a place that a program redirects to inside its worker.
#[test]
fn a_method_that_is_not_allowed_is_not_answered_behind_perl_phases() {
    let server = serve(
        "<Perl>\nsub My::trans { my $r = shift; $r->uri('/shut/x') if $r->uri eq '/led'; -1 }\n\
         sub My::answer { my $r = shift; $r->send_http_header('text/plain'); $r->print('in'); 0 }\n</Perl>\n\
         PerlTransHandler My::trans\n\
         <Location /shut>\nSetHandler perl-script\nPerlHandler My::answer\nAllowMethods GET\n</Location>",
    );
    assert_eq!(server.text("/led"), "in");
    server.post("/led", "a=b").is(405);
}

/// mod_authn_file.html#authuserfile; RFC 9110, 15.5.2: a request without credentials gets a 401. With credentials it is
/// a 500, because no file lists the users.
#[test]
fn a_place_with_users_and_without_a_file_answers_401_first() {
    let server = serve("<Location /page.html>\nAuthType Basic\nAuthName x\nRequire valid-user\n</Location>");
    let response = server.get("/page.html").is(401);
    assert!(
        response.header("www-authenticate").is_some_and(|question| question.contains("Basic realm=\"x\"")),
        "{response:?}"
    );
    assert_eq!(get_as(&server, "/page.html", "ana"), 500);
    server.logged("AuthUserFile");
}

/// `Require expr` in locations that the front checks, and in locations where a handler's phase leaves the check to a
/// worker.
#[test]
fn require_expr_grants_access_when_the_expression_holds() {
    let rules = [
        ("agent", "Require expr %{HTTP_USER_AGENT} =~ /camel/i"),
        ("query", "Require expr \"%{QUERY_STRING} == 'a b' || %{QUERY_STRING} == 'hump'\""),
        (
            "named",
            "SetEnvIf X-Name . named=$0\n<RequireAll>\nRequire all granted\nRequire not expr -n %{reqenv:named}\n</RequireAll>",
        ),
        ("either", "<RequireAny>\nRequire expr false\nRequire expr %{REQUEST_URI} -strmatch '*/in*'\n</RequireAny>"),
    ];
    let place = |(name, rule): &(&str, &str)| {
        format!(
            "<Location /{name}>\n{rule}\n</Location>\n<Location /perl/{name}>\nPerlAccessHandler My\n\
             PerlAuthzHandler My\n{rule}\n</Location>\n"
        )
    };
    let site = Site::new().file("lib/My.pm", "package My; sub handler { -1 } 1;");
    for folder in ["htdocs", "htdocs/perl"] {
        rules.iter().for_each(|(name, _)| {
            site.write(&format!("{folder}/{name}/in"), "in");
            site.write(&format!("{folder}/{name}/out"), "out");
        });
    }
    let places: String = rules.iter().map(place).collect();
    let server = site.serve(&format!("PerlSwitches -Ilib\nPerlModule My\n{places}"));
    for front in ["", "/perl"] {
        let status = |target: &str, name: &str, value: &str| {
            server.send(Request::get(&format!("{front}{target}")).header(name, value)).status
        };
        assert_eq!(
            (status("/agent/in", "User-Agent", "Camel/1"), status("/agent/in", "User-Agent", "Llama")),
            (200, 403)
        );
        assert_eq!((status("/query/in?hump", "A", "b"), status("/query/in", "A", "b")), (200, 403));
        assert_eq!((status("/named/in", "A", "b"), status("/named/in", "X-Name", "ana")), (200, 403));
        assert_eq!((status("/either/in", "A", "b"), status("/either/out", "A", "b")), (200, 403));
    }
}

#[test]
fn an_expression_of_an_htaccess_file_counts_and_its_errors_close_the_folder() {
    let site = Site::new().file("htdocs/a/in", "in").file("htdocs/b/in", "in");
    site.write("htdocs/a/.htaccess", "Require expr %{QUERY_STRING} == 'x'\n");
    site.write("htdocs/b/.htaccess", "Require expr nonsense\n");
    let server = site.serve("<Directory @DIR@/htdocs>\nAllowOverride AuthConfig\n</Directory>");
    assert_eq!((server.get("/a/in?x").status, server.get("/a/in?y").status), (200, 403));
    server.get("/b/in").is(500);
    server.logged(".htaccess:1: Require: ");
}

/// mod_authz_host.html, `Require forward-dns`: the client has an address of the name. mod_authz_owner.html: the user
/// owns the file, or is in its group. mod_authz_core.html#require: names may be expressions.
#[test]
fn names_of_clients_files_and_expressions_are_required() {
    let place = |name: &str, rules: &str| format!("<Location /in/{name}>\n{rules}\n</Location>\n");
    let conf = [
        place("forward", "Require forward-dns nothing.invalid localhost"),
        place("elsewhere", "Require forward-dns nothing.invalid"),
        place("owner", "Require file-owner"),
        place("group", "Require file-group"),
        place("computed", "Require user nobody %{req:X-User}"),
        place("groups", "Require group %{req:X-Group}"),
        place("unread", "AuthGroupFile nothing\nRequire group staff\nRequire user ana"),
        place(
            "never",
            "AuthGroupFile nothing\n<RequireAll>\nRequire valid-user\nRequire not group staff\n</RequireAll>",
        ),
    ];
    let server = closed(&conf.concat());
    let owner = Finished::of(Command::new("id").arg("-un")).succeeded().out.trim().to_owned();
    let group = Finished::of(Command::new("id").arg("-gn")).succeeded().out.trim().to_owned();
    let hash = "{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=";
    server.site.write("users", &format!("ana:{hash}\nben:{hash}\ncarl:{hash}\n{owner}:{hash}\n"));
    server.site.write("groups", &format!("staff: ana ben\n{group}: ben\n"));
    for name in ["forward", "elsewhere", "owner", "group", "computed", "groups", "unread", "never"] {
        server.site.write(&format!("htdocs/in/{name}/a.txt"), "inside");
    }
    assert_eq!(server.get("/in/forward/a.txt").status, 200);
    assert_eq!(server.send_as("127.0.0.2", Request::get("/in/forward/a.txt")).status, 403);
    assert_eq!(server.get("/in/elsewhere/a.txt").status, 403);
    assert_eq!(server.get("/in/owner/a.txt").status, 401);
    until("the new users are known", || get_as(&server, "/in/owner/a.txt", &owner) == 200);
    assert_eq!(get_as(&server, "/in/owner/a.txt", "ben"), 401);
    assert_eq!(get_as(&server, "/in/owner/none.txt", &owner), 401);
    until("the new groups are known", || get_as(&server, "/in/group/a.txt", "ben") == 200);
    assert_eq!(get_as(&server, "/in/group/a.txt", "carl"), 401);
    let named = |place: &str, field: &str, value: &str| {
        let credentials = format!("Basic {}", STANDARD.encode("ana:secret"));
        let request = Request::get(&format!("/in/{place}/a.txt")).header("Authorization", &credentials);
        server.send(request.header(field, value)).status
    };
    assert_eq!(["ana", "ben", "ben ana", ""].map(|name| named("computed", "X-User", name)), [200, 401, 200, 401]);
    assert_eq!(["staff", "none", ""].map(|name| named("groups", "X-Group", name)), [200, 401, 401]);
    assert_eq!(["ana", "ben"].map(|user| get_as(&server, "/in/unread/a.txt", user)), [200, 401]);
    server.logged("is not among the required users and groups (AuthGroupFile: ");
    assert_eq!(["ana", "carl"].map(|user| get_as(&server, "/in/never/a.txt", user)), [401, 401]);
}
