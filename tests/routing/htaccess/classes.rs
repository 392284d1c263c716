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

const CLASSES: [&str; 6] = ["FileInfo", "Indexes", "Limit", "AuthConfig", "Options", "All"];

#[test]
fn each_allow_override_class_allows_only_its_directives() {
    let mut site = Site::new();
    let mut places = String::new();
    for (number, (line, _)) in LINES.iter().enumerate() {
        for allowed in CLASSES {
            let folder = format!("htdocs/{allowed}/{number}");
            site = site
                .file(&format!("{folder}/.htaccess"), line)
                .file(&format!("{folder}/index.html"), "x")
                .file(&format!("{folder}/start.html"), "x");
            places += &format!("<Directory @DIR@/{folder}>\nAllowOverride {allowed}\n</Directory>\n");
        }
    }
    let server = serve_allowing("None", site, &places);
    for (number, (line, word)) in LINES.iter().enumerate() {
        for allowed in CLASSES {
            let class = word.split('=').next().unwrap_or(word);
            let expected = if [class, "All"].contains(&allowed) { 200 } else { 500 };
            let status = server.get(&format!("/{allowed}/{number}/page")).status;
            assert_eq!(status == 500, expected == 500, "{line} with AllowOverride {allowed}: {status}");
            if expected == 500 {
                let name = line.split(' ').next().unwrap_or(line);
                server.logged(&format!(
                    "htdocs/{allowed}/{number}/.htaccess:1: {name}: is not allowed here: its <Directory> needs AllowOverride {class}"
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
