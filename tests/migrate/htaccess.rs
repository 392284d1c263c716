//! `.htaccess` files: never changed in place; `htaccess.patch` has the changes.

use std::process::Command;

use super::{has_rows, serve};
use crate::support::{Finished, Site};

const CONF: &str = "ServerName localhost\nErrorLog @DIR@/error.log\nListen 127.0.0.1:@PORT@\nDocumentRoot @DIR@/htdocs\n\
    User nobody\nGroup nogroup\n<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>\n";
const OPEN: &str = "# The settings of PHP.\nphp_value x 1\n<Files a.txt>\nHeader set X-A b\n</Files>";
const CLOSED: &str = "AuthType Basic\nAuthName x\nAuthFormProvider file\nRequire all granted\n";
const END: &str = "requests below are answered 500 until it is changed: htaccess.patch does it";

fn site() -> Site {
    Site::new()
        .file("old/httpd.conf", CONF)
        .file("htdocs/the open/.htaccess", OPEN)
        .file("htdocs/the open/a.txt", "open\n")
        .file("htdocs/closed/.htaccess", CLOSED)
        .file("htdocs/closed/a.txt", "closed\n")
}

#[test]
fn a_patch_has_the_changes_and_closes_what_was_closed() {
    let site = site();
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    assert_eq!(
        (site.read("htdocs/the open/.htaccess"), site.read("htdocs/closed/.htaccess")),
        (OPEN.into(), CLOSED.into())
    );
    let php = "@DIR@/htdocs/the open/.htaccess:2: php_value: is not supported: PHP is not run here; pass these paths with \
               ProxyPass to a server that runs it";
    let form = "@DIR@/htdocs/closed/.htaccess:3: AuthFormProvider: is not supported; check users with AuthUserFile, or in a \
                Perl handler";
    let run = "2 .htaccess files need changes; read htaccess.patch; when the old server has stopped, run patch -d / -p1 < \
               @DIR@/new/htaccess.patch";
    has_rows(&site, "new/report.txt", "To be decided", &[&format!("{php}; {END}"), &format!("{form}; {END}"), run]);
    assert!(site.read("new/report.html").contains(&site.filled("<td>@DIR@/htdocs/closed/.htaccess:3</td>")));

    Finished::of(Command::new("patch").args(["-d", "/", "-p1", "-i"]).arg(site.path("new/htaccess.patch"))).succeeded();
    let changed = site.read("htdocs/the open/.htaccess");
    assert!(
        changed.starts_with("# The settings of PHP.\n# migrate: php_value: ")
            && changed.contains("\n# php_value x 1\n<Files a")
    );
    let server = serve(site, "new/httpd.conf");
    assert_eq!(server.get("/the%20open/a.txt").is(200).header("X-A").as_deref(), Some("b"));
    server.get("/closed/a.txt").is(403);
}

#[test]
fn files_without_a_safe_change_are_in_no_patch() {
    let site = Site::new()
        .file("old/httpd.conf", CONF)
        .file("htdocs/where/.htaccess", "<Directory />\n</Directory>\n")
        .file("htdocs/open/.htaccess", "<IfModule mod_php.c>\nphp_flag x On\n");
    site.write_bytes("htdocs/latin/.htaccess", b"# \xe9\nphp_value x 1\n");
    site.cameleer(["migrate", "old", "--to", "new"]).succeeded();
    assert!(!site.has("new/htaccess.patch"));
    let row = "@DIR@/htdocs/latin/.htaccess:2: php_value: is not supported: PHP is not run here; pass these paths with \
               ProxyPass to a server that runs it; requests below are answered 500 until it is changed";
    has_rows(&site, "new/report.txt", "To be decided", &[row]);
}
