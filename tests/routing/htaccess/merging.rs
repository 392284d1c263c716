//! The position of `.htaccess` files in the order in which sections merge.

use super::serve;
use crate::support::Site;

#[test]
fn options_of_inner_folders_are_added_to_those_of_outer_ones() {
    let site = Site::new()
        .file("htdocs/.htaccess", "PerlSetVar X top")
        .file("htdocs/a/b/.htaccess", "PerlSetVar X b")
        .file("htdocs/a/file", "");
    let server = serve(site, "");
    assert_eq!(server.text("/a/file"), "top");
    assert_eq!(server.text("/a/b/file"), "b");
    assert_eq!(server.text("/a/nowhere/deep/down"), "top");
    assert_eq!(server.text("/a/b/"), "b", "a folder's own file counts for the folder");
    assert_eq!(server.text("/a/b"), "b");
}

#[test]
fn a_directory_section_comes_before_the_file_of_its_folder_and_after_those_above() {
    let site = Site::new()
        .file("htdocs/.htaccess", "PerlAddVar X 2")
        .file("htdocs/a/.htaccess", "PerlAddVar X 4")
        .file("htdocs/a/b/c", "");
    let server = serve(
        site,
        "<Directory @DIR@/htdocs/a>\nPerlAddVar X 3\n</Directory>\n\
         <Directory @DIR@/htdocs/*/b>\nPerlAddVar X 5\n</Directory>\n\
         <DirectoryMatch /a/b>\nPerlAddVar X 6\n</DirectoryMatch>\n\
         <Files c>\nPerlAddVar X 7\n</Files>\n\
         <Location />\nPerlAddVar X 8\n</Location>\n",
    );
    assert_eq!(server.text("/a/b/c"), "conf2345678");
}

#[test]
fn files_sections_count_after_all_folders_and_before_locations() {
    let site = Site::new()
        .file("htdocs/.htaccess", "<Files *.x>\nPerlAddVar X f1\n</Files>\nPerlAddVar X 1")
        .file("htdocs/a/.htaccess", "PerlAddVar X 2\n<FilesMatch ^page>\nPerlAddVar X f2\n</FilesMatch>");
    let server = serve(
        site,
        "<Directory @DIR@/htdocs/a>\n<Files page.x>\nPerlAddVar X d\n</Files>\n</Directory>\n\
         <Location /a>\nPerlAddVar X L\n</Location>",
    );
    assert_eq!(server.text("/a/page.x"), "conf12f1df2L");
    assert_eq!(server.text("/a/page.y"), "conf12f2L");
    assert_eq!(server.text("/a/other.y"), "conf12L");
    assert_eq!(server.text("/page.x"), "conf1f1");
}

#[test]
fn directives_allowed_above_can_be_forbidden_below() {
    let site = Site::new()
        .file("htdocs/.htaccess", "PerlSetVar X top")
        .file("htdocs/closed/.htaccess", "This is not even read")
        .file("htdocs/closed/open/.htaccess", "PerlSetVar X open");
    let server = serve(
        site,
        "<Directory @DIR@/htdocs/closed>\nAllowOverride None\n</Directory>\n\
         <Directory @DIR@/htdocs/closed/open>\nAllowOverride FileInfo\n</Directory>",
    );
    assert_eq!(server.text("/closed/x"), "top");
    assert_eq!(server.text("/closed/open/x"), "open");
}

#[test]
fn each_virtual_host_has_its_own_override_and_access_file_name() {
    let site = Site::new().file("htdocs/.htaccess", "PerlSetVar X file").file("htdocs/local", "PerlSetVar X local");
    let server = serve(
        site,
        "<VirtualHost *:@PORT@>\nServerName localhost\n</VirtualHost>\n\
         <VirtualHost *:@PORT@>\nServerName other\nAccessFileName none local\n</VirtualHost>\n\
         <VirtualHost *:@PORT@>\nServerName third\n<Directory @DIR@/htdocs>\nAllowOverride None\n</Directory>\n</VirtualHost>",
    );
    let ask = |host: &str| server.send(crate::support::Request::get("/").header("Host", host)).is(200).text();
    assert_eq!(ask("localhost"), "file");
    assert_eq!(ask("other"), "local");
    assert_eq!(ask("third"), "conf");
    server.send(crate::support::Request::get("/local").header("Host", "other")).is(403);
}

#[test]
fn htaccess_files_apply_to_static_files() {
    let site = Site::new()
        .file("htdocs/.htaccess", "SetHandler default-handler\nDefaultType text/x-top\nDirectoryIndex start.unheardof")
        .file("htdocs/start.unheardof", "the start")
        .file("htdocs/a/.htaccess", "<Files named*>\nDefaultType text/x-named\n</Files>")
        .file("htdocs/a/named", "n");
    let server = serve(site, "");
    assert_eq!(server.text("/"), "the start");
    assert_eq!(server.get("/").header("content-type").as_deref(), Some("text/x-top"));
    assert_eq!(server.get("/a/named").header("content-type").as_deref(), Some("text/x-named"));
    server.get("/.htaccess").is(403);
    server.get("/a/.htaccess").is(403);
    server.get("/a/%2ehtaccess").is(403);
}

#[test]
fn the_names_of_folders_need_not_be_utf_8() {
    let site = Site::new();
    let folder = site.folder().join(std::path::PathBuf::from(std::ffi::OsString::from(
        <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"htdocs/caf\xe9"),
    )));
    std::fs::create_dir_all(&folder).expect("a folder in TMPDIR");
    std::fs::write(folder.join(".htaccess"), "PerlSetVar X latin\n<Files \"*.x\">\nPerlAddVar X 1\n</Files>")
        .expect("written");
    let server = serve(site, "");
    assert_eq!(server.text("/caf%e9/page.x"), "latin1");
}
