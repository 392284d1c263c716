//! Lines of public projects' configurations that httpd takes, although its manual does not mention their form.

use crate::support::{Request, Site};

const PROGRAM: &str = "#!/bin/sh\necho 'Content-Type: text/plain'; echo; echo ran\n";

/// SHA-1 of "secret".
const USERS: &str = "eve:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n";

#[test]
fn a_type_of_programs_makes_programs() {
    let places = ["forced", "forced.in", "added.pl", "magic.in", "text.txt"];
    let site = places.iter().fold(Site::new(), |site, name| site.script(&format!("htdocs/{name}"), PROGRAM));
    let server = site.serve(
        "<Directory @DIR@/htdocs>\nOptions ExecCGI\nAddType cgi-script .pl\nAddType application/x-httpd-cgi .in\n\
         <Files forced>\nForceType cgi-script\n</Files>\n<Files text.txt>\nForceType text/x-own\n</Files>\n</Directory>\n",
    );
    for name in &places[..4] {
        assert_eq!(server.text(&format!("/{name}")), "ran\n", "{name}");
    }
    assert_eq!(server.get("/text.txt").is(200).header("Content-Type").as_deref(), Some("text/x-own"));
    let site = Site::new();
    site.configure("ForceType default-handler");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "ForceType: expected a MIME type like text/html, or None");
}

#[test]
fn an_inner_type_replaces_a_type_of_programs() {
    let folders = ["up", "force", "add", "own", "all/text", "programs"];
    let site = folders.iter().fold(Site::new(), |site, folder| site.script(&format!("htdocs/{folder}/a.cgi"), PROGRAM));
    let place = |name: &str, line: &str| format!("<Directory @DIR@/htdocs/{name}>\n{line}\n</Directory>\n");
    let server = site.file("htdocs/own/.htaccess", "RemoveType .cgi\n").serve(
        &[
            place("", "Options ExecCGI\nAddType application/x-httpd-cgi .cgi"),
            place("up", "RemoveType .cgi"),
            place("force", "ForceType text/plain"),
            place("add", "AddType text/plain .cgi"),
            place("own", "AllowOverride FileInfo"),
            place("all", "ForceType cgi-script"),
            place("all/text", "ForceType text/plain"),
        ]
        .concat(),
    );
    for folder in &folders[..5] {
        assert_eq!(server.text(&format!("/{folder}/a.cgi")), PROGRAM, "{folder}");
    }
    assert_eq!(server.text("/programs/a.cgi"), "ran\n");
}

#[test]
fn directives_of_access_within_requirements_apply_to_the_place_around_them() {
    let server = Site::new().file("users", USERS).file("htdocs/a/a.txt", "inside").serve(
        "<Directory @DIR@/htdocs/a>\n<RequireAll>\nRequire all granted\nAuthName \"The place\"\nAuthType Basic\n\
         AuthUserFile @DIR@/users\nRequire valid-user\n</RequireAll>\n</Directory>\n",
    );
    let challenge = server.get("/a/a.txt").is(401).header("WWW-Authenticate");
    assert_eq!(challenge.as_deref(), Some("Basic realm=\"The place\""));
    for (credentials, status) in [("ZXZlOnNlY3JldA==", 200), ("ZXZlOndyb25n", 401)] {
        server.send(Request::get("/a/a.txt").header("Authorization", &format!("Basic {credentials}"))).is(status);
    }
    for line in ["Options None", "SetEnv X y", "Order deny,allow", "<Files a>\n</Files>", "AuthName"] {
        let site = Site::new();
        site.configure(&format!(
            "<Location /a>\n<RequireAll>\nRequire all granted\n{line}\n</RequireAll>\n</Location>"
        ));
        site.cameleer(["check", "-f", "site.conf"]).failed(78, "expected");
    }
}

#[test]
fn a_comment_behind_on_and_behind_flags_is_ignored_with_a_warning() {
    let site = Site::new().file("htdocs/a.txt", "a");
    site.configure("KeepAlive on # for browsers");
    let checked = site.cameleer(["check", "-f", "site.conf"]).succeeded();
    let warning = "KeepAlive: ignores \"# for browsers\", as httpd does; comments stand on lines of their own";
    assert!(checked.err.contains(warning), "{checked:?}");
    site.configure("KeepAlive on off");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "KeepAlive: ");
    site.configure("RewriteCond %{REQUEST_URI} ^/a # no flags");
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "RewriteCond: ");
    let server = site.serve(
        "RewriteEngine On\nRewriteCond %{REQUEST_URI} ^/A [NC] # any case\nRewriteRule ^ - [F] # closed\n\
         RewriteRule ^/go$ /there [L,R=temporary]\n",
    );
    server.get("/a.txt").is(403);
    let location = server.get("/go").is(302).header("Location").unwrap_or_default();
    assert!(location.ends_with("/there"), "{location}");
}

#[test]
fn a_network_is_the_name_of_no_host() {
    let site = Site::new().file("htdocs/a/a.txt", "a").file("htdocs/b/a.txt", "b");
    site.configure("<Location /a>\nRequire host 127.0.0.0/8\n</Location>\n");
    let checked = site.cameleer(["check", "-f", "site.conf"]).succeeded();
    let warning = "Require: no host has the name 127.0.0.0/8, as in httpd: for addresses write Require ip";
    assert!(checked.err.contains(warning), "{checked:?}");
    let server = site.serve(
        "<Location /a>\nRequire host 127.0.0.0/8\n</Location>\n\
         <Location /b>\nRequire host 127.0.0.0/8\nRequire ip 127.0.0.0/8\n</Location>\n",
    );
    server.get("/a/a.txt").is(403);
    assert_eq!(server.text("/b/a.txt"), "b");
    let site = Site::new();
    site.configure(
        "<Location /a>\n<RequireAll>\nRequire all granted\nRequire not host 127.0.0.0/8\n</RequireAll>\n</Location>",
    );
    site.cameleer(["check", "-f", "site.conf"]).failed(78, "Require: ");
}

#[test]
fn directives_that_httpd_2_4_dropped_are_harmless_when_they_are_on() {
    for name in ["AuthzLDAPAuthoritative", "AuthzGroupFileAuthoritative", "AuthDefaultAuthoritative"] {
        let site = Site::new();
        site.configure(&format!("<Location /a>\n{name} on\n</Location>\n"));
        site.cameleer(["check", "-f", "site.conf"]).succeeded();
        site.configure(&format!("<Location /a>\n{name} off\n</Location>\n"));
        site.cameleer(["check", "-f", "site.conf"]).failed(78, &format!("{name}: is not supported"));
    }
}
