//! Directives of the classes FileInfo and Indexes in a `.htaccess` file.

use crate::support::{Request, serve_env_handler as serve};

#[test]
fn directives_of_class_file_info_apply_to_their_folder() {
    let server = serve("<Directory \"@DIR@/htdocs\">\nAllowOverride FileInfo Indexes\n</Directory>");
    for (name, text) in [
        ("page.html", "<p>page</p>\n"),
        ("packed.html.gz", "x"),
        (
            ".htaccess",
            "Redirect gone /own/old\nErrorDocument 404 /page.html\nHeader set X-Own yes env=robot\nBrowserMatch ^Robot robot\n\
             AddEncoding x-gzip .gz\nExpiresActive On\nExpiresDefault A60\n",
        ),
    ] {
        server.site.write(&format!("htdocs/own/{name}"), text);
    }
    let page = server.send(Request::get("/own/page.html").header("User-Agent", "Robot")).is(200);
    assert_eq!(page.header("x-own").as_deref(), Some("yes"));
    assert_eq!(page.header("cache-control").as_deref(), Some("max-age=60"));
    assert_eq!(server.get("/own/packed.html.gz").is(200).header("content-encoding").as_deref(), Some("x-gzip"));
    assert_eq!(server.get("/own/none").is(404).text(), "<p>page</p>\n");
    server.get("/own/old").is(410);
    assert_eq!(server.get("/page.html").is(200).header("cache-control"), None);
}

#[test]
fn an_extension_can_be_made_a_program_where_scripts_may_run() {
    let server = crate::support::Site::new()
        .script(
            "htdocs/own/a.cgi",
            "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\nran as $ENV{SCRIPT_NAME}\";",
        )
        .file("htdocs/own/.htaccess", "AddHandler cgi-script .cgi\n")
        .serve("<Directory \"@DIR@/htdocs\">\nAllowOverride FileInfo\nOptions +ExecCGI\n</Directory>");
    assert_eq!(server.text("/own/a.cgi"), "ran as /own/a.cgi");
}
