//! Listings of folders: mod/mod_autoindex.html. tests/beside_httpd/mod_autoindex.txt has the pages of httpd.

use std::os::unix::fs::symlink;

use crate::support::serve_env_handler as serve;

/// mod_autoindex.html#indexoptions: without a sign options replace the inherited ones, "+" and "-" change them.
#[test]
fn a_table_has_icons_and_descriptions_of_its_entries() {
    let server = serve(
        "Options +Indexes\nIndexOptions FancyIndexing Charset=UTF-8\nAddIcon (TXT,/i/text.png) .txt\n\
         AddIconByType /i/page.png text/html\nDefaultIcon /i/other.png\nAddDescription \"a <b>page</b>\" *.html\n\
         <Location /list>\nIndexOptions +HTMLTable +ScanHTMLTitles -SuppressSize\nIndexIgnore *.bak\n</Location>\n\
         <Location /list/all>\nIndexIgnoreReset On\n</Location>",
    );
    server.site.write("htdocs/list/a.txt", "a");
    server.site.write("htdocs/list/b.html", "b");
    server.site.write("htdocs/list/c.bak", "c");
    server.site.write("htdocs/list/all/d.bak", "d");
    server.site.write("htdocs/list/all/titled.htm", "<title>The <i>title</title>");
    let page = server.get("/list/").is(200);
    assert_eq!(page.header("content-type").as_deref(), Some("text/html;charset=UTF-8"));
    let text = page.text();
    for part in [
        "<tr><td valign=\"top\"><img src=\"/i/text.png\" alt=\"[TXT]\"></td><td><a href=\"a.txt\">a.txt</a>",
        "<img src=\"/i/page.png\" alt=\"[   ]\"></td><td><a href=\"b.html\">",
        "<img src=\"/i/other.png\" alt=\"[DIR]\"></td><td><a href=\"all/\">",
        "<td>a <b>page</b></td>",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("c.bak"), "{text}");
    let text = server.text("/list/all/");
    assert!(text.contains("d.bak") && text.contains("<td>The &lt;i&gt;title</td>"), "{text}");
}

/// A list must not name what its client may not open, nor show the title of such a file.
#[test]
fn a_list_hides_what_the_client_may_not_open() {
    let server = serve(
        "Options +Indexes\nIndexOptions FancyIndexing ScanHTMLTitles DescriptionWidth=*\n\
         <Files \"closed*\">\nRequire all denied\n</Files>\n<Directory @DIR@/htdocs/list/inner>\nRequire all denied\n</Directory>\n\
         <Location /forbidden>\nIndexOptions +ShowForbidden\n</Location>\n<Directory @DIR@/htdocs/links>\nOptions -FollowSymLinks\n</Directory>",
    );
    for folder in ["list", "forbidden"] {
        server.site.write(&format!("htdocs/{folder}/closed.html"), "<title>secret title</title>");
        server.site.write(&format!("htdocs/{folder}/open.html"), "<title>open title</title>");
        server.site.write(&format!("htdocs/{folder}/.htpasswd"), "x");
        server.site.write(&format!("htdocs/{folder}/inner/x"), "x");
    }
    let text = server.text("/list/");
    assert!(text.contains("open title"), "{text}");
    for hidden in ["closed", "secret title", "inner", "htpasswd"] {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
    let text = server.text("/forbidden/");
    assert!(text.contains("closed.html") && text.contains("inner/"), "{text}");
    assert!(!text.contains("secret title") && !text.contains("htpasswd"), "{text}");
    server.site.write("htdocs/links/a.html", "<title>a title</title>");
    server.site.write("secret.html", "<title>secret title</title>");
    let link = server.site.path("htdocs/links/link.html");
    symlink(server.site.path("secret.html"), link).expect("a link");
    let text = server.text("/links/");
    assert!(text.contains("a title") && !text.contains("link.html") && !text.contains("secret title"), "{text}");
}

/// mod_autoindex.html#headername, #readmename: text/html as it is, other text "in a <pre> block". The source of a
/// program, and a file that the client may not open, are never shown.
#[test]
fn texts_stand_above_and_below_a_list() {
    let server = serve(
        "Options +Indexes +Includes\nHeaderName above.html\nReadmeName /below.txt\nAddOutputFilter INCLUDES .shtml\nAddType text/html .shtml\n\
         <Location /closed>\nHeaderName secret.html\nReadmeName /missing.html\n</Location>\n\
         <Files secret.html>\nRequire all denied\n</Files>\n\
         <Location /page>\nHeaderName page.shtml\nReadmeName /cgi-bin/env\n</Location>",
    );
    for folder in ["list", "closed", "page"] {
        server.site.write(&format!("htdocs/{folder}/above.html"), "<p>above</p>\n");
        server.site.write(&format!("htdocs/{folder}/secret.html"), "secret text\n");
        server.site.write(&format!("htdocs/{folder}/page.shtml"), "<!--#exec cmd=\"secret\" -->\n");
    }
    server.site.write("htdocs/below.txt", "a < b\n");
    let text = server.text("/list/");
    assert!(text.contains("<body>\n<p>above</p>\n<ul>") && !text.contains("<h1>"), "{text}");
    assert!(text.contains("</ul>\n<pre>\na &lt; b\n</pre>\n</body></html>"), "{text}");
    let text = server.text("/closed/");
    assert!(text.contains("<h1>Index of /closed</h1>") && !text.contains("secret text"), "{text}");
    let text = server.text("/page/");
    assert!(text.contains("<h1>Index of /page</h1>") && !text.contains("exec cmd"), "{text}");
}

/// mod_autoindex.html#query. A pattern of a client costs no more than a bounded number of comparisons.
#[test]
fn a_query_chooses_order_format_and_names() {
    let server = serve(
        "Options +Indexes\nIndexOptions FancyIndexing\n<Location /fixed>\nIndexOptions +IgnoreClient\n</Location>",
    );
    for folder in ["list", "fixed"] {
        for name in ["a9", "a10", "b"] {
            server.site.write(&format!("htdocs/{folder}/{name}"), name);
        }
    }
    let names = |path: &str| {
        let text = server.text(path);
        let mut places: Vec<_> = ["a9", "a10", "b"]
            .into_iter()
            .filter_map(|name| Some((text.find(&format!("<a href=\"{name}\""))?, name)))
            .collect();
        places.sort_unstable();
        places.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names("/list/"), "a10 a9 b");
    assert_eq!(names("/list/?V=1"), "a9 a10 b");
    assert_eq!(names("/list/?C=N;O=D"), "b a9 a10");
    assert_eq!(names("/list/?P=a*"), "a10 a9");
    assert_eq!(names("/fixed/?P=a*&C=N;O=D"), "a10 a9 b");
    assert!(server.text("/list/?F=2").contains("<table>") && server.text("/list/?F=0").contains("<ul>"));
    let text = server.text("/list/?P=%22%3E%3Cscript%3E*");
    assert!(!text.contains("<script>"), "{text}");
    let stars = "*a".repeat(1000);
    server.get(&format!("/list/?P={stars}b")).is(200);
}

/// `.htaccess` files can name many patterns, each with many wildcards.
#[test]
fn a_list_whose_patterns_cost_too_much_is_cut() {
    let patterns = format!(" *{}b*", "a".repeat(100)).repeat(600);
    let server = serve("Options +Indexes\n<Directory @DIR@/htdocs>\nAllowOverride Indexes\n</Directory>");
    server.site.write("htdocs/list/.htaccess", &format!("IndexIgnore{patterns}\n"));
    for number in 0..60 {
        server.site.write(&format!("htdocs/list/{}{number}", "a".repeat(240)), "");
    }
    let text = server.text("/list/");
    assert!(text.contains("This list ends after"));
    server.site.write("htdocs/short/a", "");
    assert!(server.text("/short/").contains("href=\"a\""));
}

/// mod_autoindex.html: what a request of a file would refuse has no place in a list.
#[test]
fn a_list_names_no_file_that_a_condition_may_close_and_shows_no_title_that_a_rule_may_close() {
    let server = serve(
        "Options +Indexes\nIndexOptions FancyIndexing ScanHTMLTitles\n\
         <Files draft.html>\n<If \"%{REMOTE_ADDR} != '10.0.0.1'\">\nRequire all denied\n</If>\n</Files>\n\
         <Directory @DIR@/htdocs/ruled>\nRewriteEngine On\nRewriteRule ^page - [F]\n</Directory>\n",
    );
    server.site.write("htdocs/list/draft.html", "<title>draft</title>");
    server.site.write("htdocs/list/page.html", "<title>a page</title>");
    server.site.write("htdocs/ruled/page.html", "<title>a page</title>");
    let text = server.text("/list/");
    assert!(text.contains("a page") && !text.contains("draft"), "{text}");
    let text = server.text("/ruled/");
    assert!(text.contains("page.html") && !text.contains("a page"), "{text}");
}
