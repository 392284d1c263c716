//! Symbolic links, and other paths out of a site's folders.

use std::os::unix::fs::{chown, symlink};

use crate::support::{Request, Server, Site, until};

/// A site with links to a file and a folder outside of it.
fn site() -> Site {
    let site = Site::new()
        .file("htdocs/page.html", "page")
        .file("htdocs/sub/page.html", "sub")
        .file("outside/secret.html", "secret")
        .file("outside/index.html", "secret index")
        .script("outside/secret.pl", "print \"Content-Type: text/plain\\n\\nsecret\";\n")
        .script("scripts/plain.pl", "print \"Content-Type: text/plain\\n\\nplain\";\n");
    for (target, link) in [
        ("outside/secret.html", "htdocs/file.html"),
        ("outside", "htdocs/folder"),
        ("outside/secret.pl", "scripts/link.pl"),
        ("outside", "scripts/folder"),
    ] {
        symlink(site.path(target), site.path(link)).expect("linked");
    }
    site
}

const BEHIND_LINKS: [&str; 5] =
    ["/file.html", "/folder/secret.html", "/folder/", "/folder/none.html", "/folder/none/deeper"];

#[track_caller]
fn statuses(server: &Server, targets: &[&str]) -> Vec<u16> {
    targets.iter().map(|target| server.get(target).status).collect()
}

#[test]
fn files_behind_links_are_404_without_follow_sym_links() {
    let server = site().serve("Options None");
    assert_eq!(statuses(&server, &BEHIND_LINKS), [403; 5]);
    assert_eq!(server.text("/page.html"), "page");
    assert_eq!(server.text("/sub/page.html"), "sub");
    server.get("/none.html").is(404);
}

#[test]
fn links_are_followed_with_follow_sym_links() {
    let server = site().serve("Options FollowSymLinks");
    assert_eq!(statuses(&server, &BEHIND_LINKS), [200, 200, 200, 404, 404]);
}

#[test]
fn links_are_followed_to_files_of_their_owner_with_sym_links_if_owner_match() {
    let site = site();
    let stranger = site.path("outside/secret.html");
    let server = site.serve("Options SymLinksIfOwnerMatch");
    assert_eq!(statuses(&server, &BEHIND_LINKS), [200, 200, 200, 404, 404]);
    // Only root can change a file's owner.
    if chown(&stranger, Some(12345), None).is_ok() {
        until("the other owner is noticed", || server.get("/file.html").status == 403);
        assert_eq!(server.get("/folder/secret.html").status, 200, "the link to the folder has the folder's owner");
    }
}

#[test]
fn a_script_behind_a_forbidden_link_does_not_run() {
    let conf = |options: &str| {
        format!(
            "Alias /perl/ @DIR@/scripts/\n<Directory @DIR@/scripts>\nOptions {options}\n</Directory>\n\
             <Location /perl>\nSetHandler perl-script\nPerlHandler Apache::Registry\nPerlSendHeader On\n</Location>"
        )
    };
    let behind = ["/perl/link.pl", "/perl/link.pl/info", "/perl/folder/secret.pl", "/perl/plain.pl"];
    let server = site().serve(&conf("ExecCGI"));
    assert_eq!(statuses(&server, &behind), [403, 403, 403, 200]);
    drop(server);
    let server = site().serve(&conf("ExecCGI FollowSymLinks"));
    assert_eq!(statuses(&server, &behind), [200; 4]);
}

#[test]
fn options_of_the_files_folder_decide_whether_links_are_followed() {
    let server = site().serve(
        "Options FollowSymLinks\n<Directory @DIR@/htdocs/folder>\nOptions None\n</Directory>\n\
         <Files file.html>\nOptions None\n</Files>",
    );
    assert_eq!(statuses(&server, &BEHIND_LINKS), [403; 5]);
}

#[test]
fn a_htaccess_file_may_set_the_option() {
    let site = site().file("htdocs/.htaccess", "Options -FollowSymLinks\n");
    let server = site.serve("<Directory @DIR@/htdocs>\nAllowOverride Options\n</Directory>");
    assert_eq!(statuses(&server, &BEHIND_LINKS), [403; 5]);
    server.site.write("htdocs/.htaccess", "");
    until("the change is seen", || server.get("/file.html").status == 200);
}

#[test]
fn a_document_root_that_is_a_link_is_the_administrators() {
    let site = Site::new().file("releases/1/page.html", "one").file("releases/1/sub/page.html", "sub");
    symlink(site.path("releases/1"), site.path("current")).expect("linked");
    let server = site.serve("DocumentRoot current\nOptions None");
    assert_eq!(server.text("/page.html"), "one");
    assert_eq!(server.text("/sub/page.html"), "sub");
}

#[test]
fn no_spelling_of_a_path_leads_out() {
    let server = site()
        .file("secret", "secret")
        .serve("Options None\nAlias /docs/ @DIR@/htdocs/sub/\nAliasMatch ^/m(.*) @DIR@/htdocs/$1");
    for path in [
        "/../secret",
        "/%2e%2e/secret",
        "/..%2fsecret",
        "/%2e%2e%2fsecret",
        "/%252e%252e/secret",
        "/.%00./secret",
        "/sub/../../secret",
        "/sub/%2e%2e/%2e%2e/secret",
        "/docs/../../secret",
        "/docs/..%2f..%2fsecret",
        "/docs../secret",
        "/..\\secret",
        "/%5c..%5csecret",
        "/..;/secret",
        "//secret",
        "/m../secret",
        "/m%2e%2e/secret",
        "/m..//secret",
        "/./../secret",
        "/folder/../../secret",
        "/..%c0%afsecret",
        "/%c0%ae%c0%ae/secret",
        "/file.html/",
        "/file.html%00",
        "/sub/..%2f..%2foutside/secret.html",
    ] {
        let response = server.send(Request::get(path));
        assert!(response.status >= 400 && !response.text().contains("secret"), "{path}: {response:?}");
    }
}

#[test]
fn an_index_that_a_htaccess_file_names_lies_in_its_folder() {
    let site = site().file("secret", "secret");
    let names = ["../../secret", "/etc/passwd", "@DIR@/secret", "./../../secret"];
    for (number, name) in names.iter().enumerate() {
        site.write(&format!("htdocs/{number}/.htaccess"), &format!("DirectoryIndex {name} page.html"));
        site.write(&format!("htdocs/{number}/page.html"), "page");
    }
    let server = site.serve("<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>");
    for (number, name) in names.iter().enumerate() {
        assert_eq!(server.text(&format!("/{number}/")), "page", "{name}");
    }
}

#[test]
fn link_options_in_a_location_are_ignored() {
    let conf = |outer: &str, inner: &str| {
        format!("<Directory />\nOptions {outer}\n</Directory>\n<Location /file.html>\nOptions {inner}\n</Location>")
    };
    let followed = site().serve(&conf("FollowSymLinks", "None"));
    assert_eq!(followed.text("/file.html"), "secret");
    let refused = site().serve(&conf("None", "FollowSymLinks"));
    refused.get("/file.html").is(403);
}
