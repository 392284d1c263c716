//! A mistake in a `.htaccess` file affects the requests below its folder, and adds one line to the log.

use super::{serve, serve_allowing, soon, soon_status};
use crate::support::Site;

#[test]
fn a_mistake_in_a_htaccess_file_is_a_500_below_its_folder_until_mended() {
    let site = Site::new().file("htdocs/a/.htaccess", "PerlSetVar X 1\nNonsense here\n").file("htdocs/b/page", "");
    let server = serve(site, "");
    for _ in 0..3 {
        server.get("/a/page").is(500);
        server.get("/a/other").is(500);
        server.get("/a/deeper/page").is(500);
    }
    assert_eq!(server.text("/b/page"), "conf");
    let line = server.logged("htdocs/a/.htaccess:2: Nonsense: ");
    assert_eq!(server.log().matches("Nonsense").count(), 1, "{line}");
    server.site.write("htdocs/a/.htaccess", "PerlSetVar X 2");
    soon(&server, "/a/page", "2");
    server.site.write("htdocs/a/.htaccess", "<Files x>");
    soon_status(&server, "/a/page", 500);
    server.logged("htdocs/a/.htaccess:1: <Files>: this section is never closed");
}

#[test]
fn files_below_a_mistake_are_read_when_it_is_mended() {
    let site = Site::new().file("htdocs/a/.htaccess", "Outer here\n").file("htdocs/a/b/.htaccess", "Inner here\n");
    let server = serve(site, "");
    server.get("/a/b/page").is(500);
    server.logged("htdocs/a/.htaccess:1: Outer: ");
    server.site.write("htdocs/a/.htaccess", "PerlSetVar X 1");
    soon(&server, "/a/page", "1");
    assert!(!server.log().contains("Inner"), "{}", server.log());
    server.get("/a/b/page").is(500);
    server.logged("htdocs/a/b/.htaccess:1: Inner: ");
    server.site.write("htdocs/a/b/.htaccess", "PerlSetVar X 2");
    soon(&server, "/a/b/page", "2");
}

#[test]
fn directives_of_the_main_configuration_are_refused() {
    for (line, message) in [
        ("Include /etc/hostname", "Include: is not allowed in .htaccess files"),
        ("IncludeOptional /etc/hostname", "IncludeOptional: is not allowed in .htaccess files"),
        ("Listen 80", "Listen: is not allowed in .htaccess files"),
        ("<Directory />\n</Directory>", "<Directory>: is not allowed in .htaccess files"),
        ("<Location />\n</Location>", "<Location>: is not allowed in .htaccess files"),
        ("AllowOverride All", "AllowOverride: is not allowed in .htaccess files"),
        ("DocumentRoot /", "DocumentRoot: is not allowed in .htaccess files"),
        ("PerlHtaccess On", "PerlHtaccess: is not allowed in .htaccess files"),
        ("<Files x>\nListen 80\n</Files>", "Listen: is not allowed in .htaccess files"),
        ("Require user ${HOME}", "${HOME} has no value"),
    ] {
        let server = serve(Site::new().file("htdocs/.htaccess", line), "");
        server.get("/page").is(500);
        server.logged(message);
    }
}

/// The environment of the server is not for the authors of .htaccess files.
#[test]
fn a_name_of_the_environment_stays_as_it_is() {
    let server = serve(Site::new().file("htdocs/.htaccess", "Header set X ${HOME}"), "");
    assert_eq!(server.get("/page").header("x").as_deref(), Some("${HOME}"));
}

#[test]
fn a_binary_or_too_long_file_is_refused() {
    let site = Site::new();
    site.write_bytes("htdocs/binary/.htaccess", b"PerlSetVar X \0");
    site.write_bytes("htdocs/long/.htaccess", &b"# a comment\n".repeat(6000));
    let server = serve(site, "");
    server.get("/binary/page").is(500);
    server.logged("binary/.htaccess: cannot be read; requests below its folder are refused: the file contains a NUL byte: expected UTF-8 text");
    server.get("/long/page").is(500);
    server.logged("long/.htaccess: cannot be read; requests below its folder are refused: the file is longer than 64K");
    assert_eq!(server.text("/page"), "conf");
}

#[test]
fn a_nonfatal_error_costs_only_a_line_of_the_log() {
    let forbidden = ("Deny from all", "Deny: is not allowed here: its <Directory> needs AllowOverride Limit");
    let option = ("Options ExecCGI", "Options: contains an option that AllowOverride Options=… does not list");
    let unknown = ("Nonsense here", "Nonsense: is not a directive");
    let foreign = ("CharsetDefault utf-8", "CharsetDefault: is not supported");
    for (words, passed, fatal) in [
        ("Nonfatal=Override", &[forbidden, option][..], &[unknown, foreign][..]),
        ("nonfatal=unknown", &[unknown, foreign], &[forbidden, option]),
        ("Nonfatal=All", &[forbidden, option, unknown, foreign], &[]),
    ] {
        let words = format!("FileInfo AuthConfig Options=Indexes {words}");
        let lines: Vec<&str> = passed.iter().map(|(line, _)| *line).collect();
        let text = format!("{}\nPerlSetVar X read\n", lines.join("\n"));
        let server = serve_allowing(&words, Site::new().file("htdocs/.htaccess", &text), "");
        assert_eq!(server.text("/page"), "read", "{words}");
        for (number, (_, message)) in (1..).zip(passed) {
            let line = server.logged(&format!("htdocs/.htaccess:{number}: {message}"));
            assert!(line.ends_with("(this line is ignored)"), "{line}");
        }
        for (line, message) in fatal {
            let server = serve_allowing(&words, Site::new().file("htdocs/.htaccess", line), "");
            server.get("/page").is(500);
            server.logged(message);
        }
    }
}
