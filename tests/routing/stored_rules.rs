//! Results of rewrite rules, which are stored with a route where they depend on path and query alone.

use crate::support::{Request, Site};

const SCRIPT: &str = "#!/usr/bin/perl\nprint \"Content-Type: text/plain\\n\\n$ENV{QUERY_STRING}\";\n";

const CONF: &str = "<Directory @DIR@/htdocs>\nAllowOverride All\nOptions +ExecCGI\n</Directory>\nAddHandler cgi-script .pl\n\
    RewriteEngine On\nRewriteRule ^/x$ /index.pl?host [QSA]\n\
    RewriteCond %{HTTP:X-There} yes\nRewriteRule ^/y$ /there.txt\nRewriteRule ^/y$ /index.pl?else";

#[test]
fn rules_of_a_path_give_each_request_its_own_result() {
    let server = Site::new()
        .script("htdocs/index.pl", SCRIPT)
        .script("htdocs/wiki/index.pl", SCRIPT)
        .file("htdocs/there.txt", "there")
        .file("htdocs/wiki/.htaccess", "RewriteEngine On\nRewriteRule ^go$ index.pl?folder [QSA]")
        .serve(CONF);
    for query in ["q=1", "q=2", "q=1"] {
        assert_eq!(server.text(&format!("/x?{query}")), format!("host&{query}"));
        assert_eq!(server.text(&format!("/wiki/go?{query}")), format!("folder&{query}"));
    }
    for (there, expected) in [("no", "else"), ("yes", "there"), ("no", "else")] {
        let answer = server.send(Request::get("/y").header("X-There", there));
        assert_eq!(answer.is(200).text(), expected, "a condition about a header: {there}");
    }
    server.site.write("htdocs/wiki/go", "a file");
    assert_eq!(server.text("/wiki/go?q=3"), "folder&q=3", "also for a file that is there now");
}

#[test]
fn the_rules_of_a_changed_file_replace_stored_results() {
    let server = Site::new()
        .file("htdocs/one.txt", "one")
        .file("htdocs/two.txt", "two")
        .file("htdocs/.htaccess", "RewriteEngine On\nRewriteRule ^go$ one.txt")
        .serve("<Directory @DIR@/htdocs>\nAllowOverride All\n</Directory>");
    assert_eq!((server.text("/go"), server.text("/go")), ("one".to_owned(), "one".to_owned()));
    server.site.write("htdocs/.htaccess", "RewriteEngine On\nRewriteRule ^go$ two.txt");
    crate::support::until("the new rule applies", || server.text("/go") == "two");
}

#[test]
fn stored_results_of_a_folder_follow_what_is_on_disk() {
    let server = Site::new()
        .script("htdocs/index.pl", SCRIPT)
        .file("htdocs/one.txt", "one")
        .file("htdocs/d/other.txt", "other")
        .file("htdocs/d/folder/a.txt", "a")
        .serve(
            "<Directory @DIR@/htdocs>\nOptions +ExecCGI\n</Directory>\nAddHandler cgi-script .pl\n\
             <Directory @DIR@/htdocs/d>\nRewriteEngine On\nRewriteRule ^go$ /one.txt [L]\n\
             RewriteRule ^info /index.pl?%{PATH_INFO} [L]\nRewriteRule ^chain index\nRewriteRule ^(.*)/x$ /index.pl?$1 [L]\n</Directory>",
        );
    let twice = |path: &str| {
        let (first, second) = (server.text(path), server.text(path));
        assert_eq!(first, second, "{path}");
        first
    };
    assert_eq!([twice("/d/go"), twice("/d/other.txt")], ["one", "other"]);
    // The first missing name is that of the file, and what follows is PATH_INFO.
    assert_eq!([twice("/d/info/x"), twice("/d/chain/x")], ["/x", "index"]);
    for name in ["go", "info", "chain"] {
        std::fs::create_dir(server.site.path(&format!("htdocs/d/{name}"))).expect("our own folder");
    }
    server.get("/d/go").is(301);
    assert_eq!(twice("/d/info/x"), "");
    server.get("/d/chain/x").is(404);
}
