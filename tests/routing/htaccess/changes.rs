//! Files and folders that are created, changed and removed while the server runs.

use std::fs;
use std::os::unix::fs::symlink;

use super::{serve, soon, soon_status};
use crate::support::Site;

#[test]
fn an_htaccess_file_may_be_created_changed_replaced_and_removed() {
    let server = serve(Site::new().file("htdocs/a/page", ""), "");
    let at = |name: &str| server.site.path(name);
    assert_eq!(server.text("/a/page"), "conf");
    server.site.write("htdocs/a/.htaccess", "PerlSetVar X new");
    soon(&server, "/a/page", "new");
    server.site.write("htdocs/a/.htaccess", "PerlSetVar X edited");
    soon(&server, "/a/page", "edited");
    server.site.write("htdocs/a/next", "PerlSetVar X renamed");
    fs::rename(at("htdocs/a/next"), at("htdocs/a/.htaccess")).expect("renamed");
    soon(&server, "/a/page", "renamed");
    fs::rename(at("htdocs/a/.htaccess"), at("htdocs/a/kept")).expect("renamed");
    soon(&server, "/a/page", "conf");
    fs::hard_link(at("htdocs/a/kept"), at("htdocs/a/.htaccess")).expect("linked");
    soon(&server, "/a/page", "renamed");
    fs::remove_file(at("htdocs/a/.htaccess")).expect("removed");
    soon(&server, "/a/page", "conf");
}

#[test]
fn a_folder_may_be_created_renamed_and_renamed_back() {
    let server = serve(Site::new(), "");
    let at = |name: &str| server.site.path(name);
    assert_eq!(server.text("/later/deep/page"), "conf");
    server.site.write("htdocs/later/deep/.htaccess", "PerlSetVar X deep");
    soon(&server, "/later/deep/page", "deep");
    fs::rename(at("htdocs/later"), at("htdocs/moved")).expect("renamed");
    soon(&server, "/later/deep/page", "conf");
    assert_eq!(server.text("/moved/deep/page"), "deep");
    server.site.write("htdocs/moved/deep/.htaccess", "PerlSetVar X there");
    soon(&server, "/moved/deep/page", "there");
    server.site.write("htdocs/later/.htaccess", "PerlSetVar X again");
    soon(&server, "/later/deep/page", "again");
    fs::remove_dir_all(at("htdocs/moved")).expect("removed");
    soon(&server, "/moved/deep/page", "conf");
}

#[test]
fn the_document_root_itself_may_be_exchanged() {
    let site = Site::new().file("htdocs/.htaccess", "PerlSetVar X old").file("next/.htaccess", "PerlSetVar X next");
    let server = serve(site, "");
    let at = |name: &str| server.site.path(name);
    assert_eq!(server.text("/"), "old");
    fs::rename(at("htdocs"), at("last")).expect("renamed");
    fs::rename(at("next"), at("htdocs")).expect("renamed");
    soon(&server, "/", "next");
    server.site.write("htdocs/.htaccess", "PerlSetVar X edited");
    soon(&server, "/", "edited");
}

#[test]
fn folders_behind_a_link_are_checked_every_second() {
    let site = Site::new()
        .file("releases/1/docs/.htaccess", "PerlSetVar X one")
        .file("releases/2/docs/.htaccess", "PerlSetVar X two");
    symlink(site.path("releases/1"), site.path("current")).expect("linked");
    symlink(site.path("current/docs"), site.path("htdocs/link")).expect("linked");
    let server = serve(site, "Options FollowSymLinks");
    let at = |name: &str| server.site.path(name);
    assert_eq!(server.text("/link/page"), "one");
    symlink(at("releases/2"), at("current.new")).expect("linked");
    fs::rename(at("current.new"), at("current")).expect("renamed");
    // The link is checked once a second; the response takes time, too.
    crate::support::until("the other release answers", || server.text("/link/page") == "two");
    server.site.write("releases/2/docs/.htaccess", "PerlSetVar X edited");
    soon(&server, "/link/page", "edited");
}

#[test]
fn a_file_that_cannot_be_read_closes_its_folder_until_it_can() {
    let server = serve(Site::new().file("htdocs/a/page", ""), "");
    assert_eq!(server.text("/a/page"), "conf");
    fs::create_dir(server.site.path("htdocs/a/.htaccess")).expect("a folder");
    soon_status(&server, "/a/page", 500);
    server.logged("htdocs/a/.htaccess: cannot be read");
    assert_eq!(server.text("/b/page"), "conf");
    fs::remove_dir(server.site.path("htdocs/a/.htaccess")).expect("removed");
    soon(&server, "/a/page", "conf");
}

#[test]
fn more_folders_than_are_kept_are_all_honoured() {
    let site = Site::new();
    for name in 0..4200 {
        site.write(&format!("htdocs/{name}/.htaccess"), &format!("PerlSetVar X {name}"));
    }
    let server = serve(site, "");
    let mut connection = server.connect();
    let mut ask = |name: u32| connection.ask(crate::support::Request::get(&format!("/{name}/page"))).is(200).text();
    for name in 0..4200 {
        assert_eq!(ask(name), name.to_string());
    }
    assert_eq!(ask(0), "0");
    server.site.write("htdocs/0/.htaccess", "PerlSetVar X edited");
    soon(&server, "/0/page", "edited");
}
