//! What `htaccess.patch` must never do: let visitors in, change a file twice, or leave a file with errors.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::{has_rows, serve};
use crate::support::{Finished, Site};

const CONF: &str = "ServerName localhost\nErrorLog @DIR@/error.log\nListen 127.0.0.1:@PORT@\nDocumentRoot @DIR@/htdocs\n\
    User nobody\nGroup nogroup\n";
const FORM: &str = "AuthType Basic\nAuthName x\nAuthFormProvider file\n";
const UNTIL_CHANGED: &str = "requests below are answered 500 until it is changed";

/// A site with these lines in its configuration, and a folder with this `.htaccess` file.
fn site(lines: &str, htaccess: &str) -> Site {
    let site = Site::new().file("old/httpd.conf", &format!("{CONF}{lines}"));
    site.file("htdocs/a/.htaccess", htaccess).file("htdocs/a/page.txt", "page\n").file("htdocs/a/sub/page.txt", "sub\n")
}

fn allowing(classes: &str) -> String {
    format!("<Directory @DIR@/htdocs>\nAllowOverride {classes}\n</Directory>\n")
}

/// Makes the new site and applies its patch.
#[track_caller]
fn patched(site: &Site) -> String {
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    let patch = site.path("new/htaccess.patch");
    Finished::of(Command::new("patch").args(["--batch", "-d", "/", "-p1", "-i"]).arg(patch)).succeeded();
    site.read("htdocs/a/.htaccess")
}

#[test]
fn a_requirement_that_nobody_may_meet_stays_one() {
    let none = "<RequireNone>\nRequire shibboleth-blocked x\n</RequireNone>";
    for (htaccess, instead) in [
        (format!("<RequireAll>\nRequire all granted\n{none}\n</RequireAll>\n"), "granted"),
        (format!("<RequireAll>\nRequire all granted\n{none}\n</RequireAll>\nAuthName x\nFoo y\n"), "granted"),
        ("<RequireAny>\nRequire shibboleth-blocked x\n</RequireAny>\n".to_owned(), "denied"),
    ] {
        let site = site(&allowing("All"), &htaccess);
        let changed = patched(&site);
        assert!(changed.contains(&format!("\n# Require shibboleth-blocked x\nRequire all {instead}\n")), "{changed}");
        serve(site, "new/httpd.conf").get("/a/page.txt").is(403);
    }
}

#[test]
fn a_rule_whose_condition_cannot_stay_refuses_what_it_matched() {
    let rules = "RewriteEngine On\nRewriteCond expr \"%{SSL_CLIENT_S_DN_CN} in PeerExtList('1.2.3.4')\"\n\
                 RewriteRule . - [L]\nRewriteRule . - [F]\n";
    let site = site(&allowing("FileInfo"), rules);
    let changed = patched(&site);
    assert!(changed.contains("\n# RewriteRule . - [L]\nRewriteRule . - [F]\nRewriteRule . - [F]\n"), "{changed}");
    assert!(changed.contains("\n# RewriteCond expr "), "{changed}");
    serve(site, "new/httpd.conf").get("/a/page.txt").is(403);
}

#[test]
fn a_file_that_links_name_has_one_change() {
    let site = site(&allowing("All"), "php_value x 1\n").file("htdocs/b/page.txt", "page\n");
    symlink("../a/.htaccess", site.path("htdocs/b/.htaccess")).expect("a link in TMPDIR");
    assert!(patched(&site).contains("\n# php_value x 1\n"));
    assert_eq!(site.read("new/htaccess.patch").matches("\n+++ ").count(), 1);
    for folder in ["a", "b"] {
        let row = format!(
            "@DIR@/htdocs/{folder}/.htaccess:1: php_value: is not supported: PHP is not run here; pass these paths with \
             ProxyPass to a server that runs it; {UNTIL_CHANGED}: htaccess.patch does it"
        );
        has_rows(&site, "new/report.txt", "To be decided", &[&row]);
    }
}

#[test]
fn a_file_that_needs_different_changes_is_in_no_patch() {
    let host = |name: &str, classes: &str| {
        format!(
            "<VirtualHost *:@PORT@>\nServerName {name}\nDocumentRoot @DIR@/htdocs\n{}</VirtualHost>\n",
            allowing(classes)
        )
    };
    let lines = format!("{}{}", host("one.example", "All"), host("two.example", "AuthConfig"));
    let site = site(&lines, &format!("{FORM}Require all granted\n"));
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    assert!(!site.has("new/htaccess.patch"));
    let error = format!(
        "@DIR@/htdocs/a/.htaccess:3: AuthFormProvider: is not supported; check users with AuthUserFile, or in a Perl \
         handler; {UNTIL_CHANGED}"
    );
    let different = "@DIR@/htdocs/a/.htaccess: is read for several places that need different changes, so htaccess.patch \
                     does not change it; give each place a file of its own";
    has_rows(&site, "new/report.txt", "To be decided", &[&error, different]);
}

#[test]
fn a_folder_without_file_info_is_closed_by_its_requirements() {
    let lines = "Require all granted\n<Files page.txt>\nRequire valid-user\n</Files>\n";
    let site = site(&allowing("AuthConfig"), &format!("{FORM}{lines}"));
    let changed = patched(&site);
    assert!(!changed.contains("RedirectMatch"), "{changed}");
    let server = serve(site, "new/httpd.conf");
    server.get("/a/page.txt").is(403);
    server.get("/a/sub/page.txt").is(403);
}

#[test]
fn a_file_that_a_patch_would_leave_with_errors_is_a_decision() {
    for (classes, htaccess, row) in [
        ("AuthConfig", format!("{FORM}Satisfy Any\nRequire all granted\n"), ":3: AuthFormProvider: is not supported"),
        ("All", "php_value x 1\nRedirectMatch 403 \"(\"\n".to_owned(), ":1: php_value: is not supported"),
        ("All", "php_value x 1\n<Directory />\n</Directory>\n".to_owned(), ":1: php_value: is not supported"),
    ] {
        let site = site(&allowing(classes), &htaccess);
        site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
        assert!(!site.has("new/htaccess.patch"), "{}", site.read("new/htaccess.patch"));
        let report = site.read("new/report.txt");
        assert!(report.contains(row) && report.contains(UNTIL_CHANGED), "{report}");
        assert!(!report.contains("htaccess.patch does it"), "{report}");
    }
}

#[test]
fn copies_of_files_with_secrets_are_for_the_same_readers() {
    let site = site(&format!("Include secret.conf\n{}", allowing("All")), "SetEnv PASSWORD camel\nphp_value x 1\n");
    site.write("old/secret.conf", "SetEnv PASSWORD camel\n");
    fs::set_permissions(site.path("old/secret.conf"), fs::Permissions::from_mode(0o640)).expect("our own file");
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    let mode = |name: &str| fs::metadata(site.path(name)).expect("a new file").permissions().mode() & 0o777;
    assert_eq!((mode("new/secret.conf"), mode("new/htaccess.patch")), (0o640, 0o600));
    assert_eq!(mode("new/httpd.conf"), mode("old/httpd.conf"));
}
