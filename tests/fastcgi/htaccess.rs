//! Applications that `.htaccess` files name: those of the configuration alone, so that a tenant reaches no socket that
//! is not meant for it.

use super::Application;
use super::application::output;
use crate::support::Site;

#[test]
fn a_htaccess_file_may_name_the_applications_of_its_place_alone() {
    let ours = Application::new(|_| output(b"X: y\n\nours"));
    let others = Application::new(|_| output(b"X: y\n\nothers"));
    let handler = |application: &Application| format!("SetHandler \"proxy:{}\"\n", application.url(""));
    let server = Site::new()
        .file("htdocs/a/.htaccess", &handler(&ours))
        .file("htdocs/a/x.php", "secret")
        .file("htdocs/b/.htaccess", &handler(&others))
        .file("htdocs/b/x.php", "secret")
        .file("htdocs/c/.htaccess", &format!("RewriteEngine on\nRewriteRule ^ours {}/x [P]\nRewriteRule ^other {}/x [P]\n", ours.url(""), others.url("")))
        .file("htdocs/c/x", "a file")
        .serve(&format!(
            "<Proxy \"{}\">\n</Proxy>\n<Directory @DIR@/htdocs>\nAllowOverride FileInfo\nOptions FollowSymLinks\n</Directory>\n\
             <Directory @DIR@/htdocs/elsewhere>\n{}</Directory>\n",
            ours.url(""),
            handler(&others)
        ));
    assert_eq!(server.text("/a/x.php"), "ours");
    assert_eq!(server.get("/b/x.php").status, 500);
    let line = server.logged("a .htaccess file may not");
    assert!(line.contains(&others.url("")) && line.contains("<Proxy"), "{line}");
    assert_eq!(server.text("/c/ours"), "ours");
    assert_eq!(server.get("/c/other").status, 500);
    assert_eq!(others.connections(), 0);
}
