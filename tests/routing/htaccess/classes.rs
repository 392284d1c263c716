//! `AllowOverride`, class by class.

use super::serve_allowing;
use crate::support::Site;

/// A line of a `.htaccess` file, and the class that allows it.
const LINES: &[(&str, &str)] = &[
    ("DefaultType text/x-y", "FileInfo"),
    ("SetHandler default-handler", "FileInfo"),
    ("SetEnv A b", "FileInfo"),
    ("DirectoryIndex start.html", "Indexes"),
    ("Options +ExecCGI", "Options"),
    ("Options +ExecCGI", "Options=ExecCGI,Indexes"),
];

#[test]
fn each_allow_override_class_allows_only_its_directives() {
    for (line, word) in LINES {
        for allowed in ["FileInfo", "Indexes", "Limit", "AuthConfig", "Options", "All"] {
            let site = Site::new()
                .file("htdocs/.htaccess", line)
                .file("htdocs/index.html", "x")
                .file("htdocs/start.html", "x");
            let server = serve_allowing(allowed, site, "");
            let class = word.split('=').next().unwrap_or(word);
            let expected = if [class, "All"].contains(&allowed) { 200 } else { 500 };
            assert_eq!(server.get("/page").status == 500, expected == 500, "{line} with AllowOverride {allowed}");
            if expected == 500 {
                let name = line.split(' ').next().unwrap_or(line);
                server.logged(&format!(
                    "htdocs/.htaccess:1: {name}: is not allowed here: its <Directory> needs AllowOverride {class}"
                ));
            }
        }
    }
}

#[test]
fn options_may_be_limited_to_some() {
    let site = Site::new()
        .file("htdocs/a/.htaccess", "Options +ExecCGI")
        .file("htdocs/b/.htaccess", "Options +FollowSymLinks");
    let server = serve_allowing("FileInfo Options=ExecCGI", site, "");
    server.get("/a/page").is(200);
    server.get("/b/page").is(500);
    server.logged("htdocs/b/.htaccess:1: Options: contains an option that AllowOverride Options=… does not list");
}

#[test]
fn with_none_a_file_is_not_even_opened() {
    let site = Site::new().file("htdocs/.htaccess", "Nonsense");
    let server = serve_allowing("None", site, "");
    assert_eq!(server.text("/page"), "conf");
    assert_eq!(server.log().matches("Nonsense").count(), 0);
}
